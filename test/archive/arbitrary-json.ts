import fc from 'fast-check'

/** Space between tokens: none as a rule, and every kind that JSON allows. */
export const space: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 }),
  },
)

const stringPiece = fc.oneof(
  // prettier would hide what matters here: these are pieces of JSON text, not of JavaScript strings
  fc.constantFrom(
    ...['\\"', '\\\\', '\\\\\\"', '\\/', '\\b\\f\\n\\r\\t', '\\u0000', '\\u001F', '\\u0022'],
    ...['\\ud800', '\\uDFFF', '\\ud83d\\ude00', '\u2028', '\u2029', '\ufeff', '\u007f', 'é', '😀'],
    ...['{', '}', '[', ']', ',', ':', "'", '/', ']}', '"hits":['.replaceAll('"', '\\"')],
  ),
  fc.string({ unit: 'binary', maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
)

/** The text of a JSON string, quotes included, with every kind of escape. */
export const stringText: fc.Arbitrary<string> = fc
  .array(stringPiece, { maxLength: 5 })
  .map((pieces) => `"${pieces.join('')}"`)

export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('0', '-0', '-0.0', '1e400', '1E+2', '12e-7', '9007199254740993', '1.10'),
  fc.bigInt().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
)

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    numberText,
    stringText,
    tie('array'),
    tie('object'),
  ),
  array: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 3 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(space, stringText, space, tie('value'), space), { maxLength: 3 })
    .map(
      (members) =>
        `{${members.map(([a, key, b, item, c]) => `${a}${key}${b}:${b}${item}${c}`).join(',')}}`,
    ),
}))

/** The text of any JSON value. */
export const valueText: fc.Arbitrary<string> = value

/** One member of an object, in pieces, so that a test knows where each byte belongs. */
export interface MemberText {
  readonly key: string
  /** Space, key, space, colon, space. */
  readonly head: string
  readonly value: string
  /** Space after the value. */
  readonly tail: string
}

export function memberText(key: fc.Arbitrary<string>, item = valueText): fc.Arbitrary<MemberText> {
  return fc
    .record({ key, value: item, spaces: fc.tuple(space, space, space, space) })
    .map(({ key, value, spaces: [a, b, c, tail] }) => ({
      key,
      head: `${a}${key}${b}:${c}`,
      value,
      tail,
    }))
}

/** Members with different keys. */
export function membersText(member: fc.Arbitrary<MemberText>): fc.Arbitrary<MemberText[]> {
  return fc.uniqueArray(member, {
    maxLength: 5,
    selector: ({ key }) => JSON.parse(key) as string,
  })
}

export function joinMembers(members: readonly MemberText[]): string {
  return `{${members.map(({ head, value, tail }) => head + value + tail).join(',')}}`
}

/** An export document as text, and what a scanner must find in it. */
export interface ExportText {
  readonly text: string
  readonly hits: readonly string[]
  readonly kibanaVersion: string
}

const unknownMember = memberText(
  fc.oneof(
    fc.constantFrom('"hit"', '"Hits"', '"\\"hits\\""', '"hits\\u0000"', '"total"', '"\\u006b"'),
    stringText.map((key) => `"x${key.slice(1)}`),
  ),
  fc.oneof(valueText, fc.constant('{"hits":[{"a":1}],"kibanaVersion":7}')),
)

/** The text of a hit: any object. */
export const hitText: fc.Arbitrary<string> = membersText(memberText(stringText)).map(joinMembers)

/** Documents with members in any order around `hits`. */
export const exportText: fc.Arbitrary<ExportText> = fc
  .record({
    hits: fc.array(hitText, { maxLength: 4 }),
    spaces: fc.infiniteStream(space),
    version: memberText(fc.constant('"kibanaVersion"'), stringText),
    unknown: membersText(unknownMember),
    order: fc.infiniteStream(fc.nat()),
    around: fc.tuple(space, space),
  })
  .map(({ hits, spaces, version, unknown, order, around: [before, after] }) => {
    const next = () => spaces.next().value
    const list = hits.map((hit) => `${next()}${hit}${next()}`).join(',') || next()
    const hitsMember = { key: '"hits"', head: `${next()}"hits"${next()}:`, value: `[${list}]` }
    const members = [version, { ...hitsMember, tail: next() }, ...unknown]
      .map((member) => ({ member, rank: order.next().value }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ member }) => member)
    return {
      text: `${before}${joinMembers(members)}${after}`,
      hits,
      kibanaVersion: JSON.parse(version.value) as string,
    }
  })

/** Cuts bytes at the given places, wherever they fall. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
  const bounds = [0, ...sorted, bytes.length]
  return bounds.slice(1).map((end, index) => bytes.slice(bounds[index], end))
}
