import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOT,
  LETTER_E,
  LETTER_U,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  ZERO,
} from './ascii.ts'
/**
 * Byte offsets of an object's member, counted from the first byte of its hit. A member begins after
 * the `{` or `,` before it (`start`) and ends at the `,` or `}` after it (`end`). The offsets of the
 * key, which includes its quotes, and of the value exclude white space.
 */
export const MEMBER = {
  /** Index of the next member of the same object, or of what follows the object. */
  next: 0,
  start: 1,
  key: 2,
  keyEnd: 3,
  value: 4,
  valueEnd: 5,
  end: 6,
} as const

/** How many numbers describe a member. */
export const MEMBER_SIZE = 7

/** Deepest level at which members are recorded: that of the saved object, `_source.<type>`. */
const NOTED_DEPTH = 3

/** Reads and validates hits. It accepts exactly what `JSON.parse` accepts as an object. */
interface HitReader {
  /**
   * Reads the hit whose `{` is at `start`. Returns the offset after its `}`. For invalid JSON, returns
   * `~offset` of the first wrong byte. `bytes` comes from `hitBuffer` and has a NUL after the data. JSON
   * contains no NUL, so the reader needs no other check for the end.
   */
  read(bytes: Uint8Array, start: number): number
  /**
   * The members of the last hit, in the order of their keys. Each has `MEMBER_SIZE` numbers, as described
   * at `MEMBER`. The members of an object follow it. Valid until the next hit.
   */
  members(): Int32Array
}

/** Allocates a buffer for at least this number of bytes and the NUL after them. */
export function hitBuffer(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(Math.ceil((bytes + 1) / 4) * 4)
}

const space = tableOf(' \n\r\t')
const digit = tableOf('0123456789')
const hexDigit = tableOf('0123456789abcdefABCDEF')
/** Bytes that may follow a backslash, except `u`. */
const escapable = tableOf('"\\/bfnrt')
/** Bytes of a string without a special meaning. UTF-8 is not checked here. */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[QUOTE] = 0
plain[BACKSLASH] = 0

/** `true`, `false` and `null`, by their first byte. */
const literals: (Uint8Array | undefined)[] = []
for (const text of ['true', 'false', 'null']) literals[text.charCodeAt(0)] = Buffer.from(text)

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(characters)) table[byte] = 1
  return table
}

/**
 * Most members that are recorded for one hit. They need 28 MB. A large object has a few hundred.
 */
const MAX_MEMBERS = 1_000_000

/**
 * Creates a reader for hits of at most `maxDepth` levels and a million members. The hit is the first
 * level. For any other hit, it throws the error of `refuse`, whose argument completes "the hit …".
 */
export function createHitReader(maxDepth: number, refuse: (state: string) => Error): HitReader {
  const members = createMemberList(refuse)
  let text: Text = { bytes: new Uint8Array(0), words: new Int32Array(0) }
  /** The byte that closes the object or array at each depth. */
  const closers = new Uint8Array(maxDepth + 1)
  /** For each depth, the index of the member that is being read. */
  const current = new Int32Array(NOTED_DEPTH + 1)

  function read(bytes: Uint8Array, start: number): number {
    if (bytes !== text.bytes) text = { bytes, words: wordsOf(bytes) }
    let at = start
    let depth = 0
    members.clear()
    for (;;) {
      const first = bytes[at] as number
      if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        depth += 1
        if (depth > maxDepth) throw refuse(`is nested deeper than ${maxDepth} levels`)
        const closer = first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
        closers[depth] = closer
        const from = at + 1
        at = skipSpace(bytes, from)
        if (bytes[at] !== closer) {
          if (closer === CLOSE_BRACE) at = readKey(start, from, depth)
          if (at < 0) return at
          continue
        }
        at += 1
        depth -= 1
      } else {
        at = skipScalar(text, at)
        if (at < 0) return at
      }
      // A value ends before `at`. Objects and arrays around it may end here too.
      for (;;) {
        if (depth === 0) return at
        const valueEnd = at
        at = skipSpace(bytes, at)
        if (depth <= NOTED_DEPTH && closers[depth] === CLOSE_BRACE) {
          members.end(current[depth] as number, valueEnd - start, at - start)
        }
        const byte = bytes[at] as number
        at += 1
        if (byte === COMMA) break
        if (byte !== closers[depth]) return ~(at - 1)
        depth -= 1
      }
      at = closers[depth] === CLOSE_BRACE ? readKey(start, at, depth) : skipSpace(bytes, at)
      if (at < 0) return at
    }
  }

  /** Reads the key of the member that begins at `from`. Returns the offset of its value. */
  function readKey(start: number, from: number, depth: number): number {
    const { bytes } = text
    const at = skipSpace(bytes, from)
    if (bytes[at] !== QUOTE) return ~at
    const keyEnd = skipString(text, at + 1)
    if (keyEnd < 0) return keyEnd
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return ~colon
    const value = skipSpace(bytes, colon + 1)
    if (depth <= NOTED_DEPTH) {
      current[depth] = members.begin(from - start, at - start, keyEnd - start, value - start)
    }
    return value
  }

  return { read, members: members.all }
}

/** The members of a hit, as described at `MEMBER`. Offsets count from the first byte of the hit. */
function createMemberList(refuse: (state: string) => Error) {
  let members = new Int32Array(64 * MEMBER_SIZE)
  let filled = 0

  function grow(): void {
    const most = MAX_MEMBERS * MEMBER_SIZE
    if (filled > most) throw refuse(`has more than ${MAX_MEMBERS} members`)
    const larger = new Int32Array(Math.min(members.length * 2, most))
    larger.set(members)
    members = larger
  }

  /** Adds a member whose value begins. Returns its index in the array. */
  function begin(start: number, key: number, keyEnd: number, value: number): number {
    const member = filled
    filled += MEMBER_SIZE
    if (filled > members.length) grow()
    members[member + MEMBER.start] = start
    members[member + MEMBER.key] = key
    members[member + MEMBER.keyEnd] = keyEnd
    members[member + MEMBER.value] = value
    return member
  }

  /** Completes a member once its value has ended. */
  function end(member: number, valueEnd: number, end: number): void {
    members[member + MEMBER.valueEnd] = valueEnd
    members[member + MEMBER.end] = end
    members[member + MEMBER.next] = filled
  }

  return {
    begin,
    end,
    clear() {
      filled = 0
    },
    all: () => members.subarray(0, filled),
  }
}

/** The same bytes as single bytes and as words of four. */
interface Text {
  readonly bytes: Uint8Array
  readonly words: Int32Array
}

function wordsOf({ buffer, byteOffset, length }: Uint8Array): Int32Array {
  if (length % 4 !== 0) throw new RangeError('The bytes are not in whole words')
  return new Int32Array(buffer, byteOffset, length / 4)
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (space[bytes[at] as number] === 1) at += 1
  return at
}

/** Skips a string whose content begins at `from`. Returns the offset after it. */
function skipString({ bytes, words }: Text, from: number): number {
  let at = from
  for (;;) {
    while (plain[bytes[at] as number] === 1) {
      at += 1
      if ((at & 3) === 0) while (isPlain(words[at >> 2] as number)) at += 4
    }
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte !== BACKSLASH) return ~at
    const following = bytes[at + 1] as number
    if (escapable[following] === 1) {
      at += 2
    } else if (following === LETTER_U) {
      const end = at + 6
      for (at += 2; at < end; at += 1) if (hexDigit[bytes[at] as number] === 0) return ~at
    } else return ~(at + 1)
  }
}

/**
 * Whether four bytes are all `plain`. Tests them at once: a byte that is a quote, a backslash or below
 * a space borrows from its highest bit. May return false negatives.
 */
function isPlain(word: number): boolean {
  const quote = (word ^ 0x22222222) - 0x01010101
  const backslash = (word ^ 0x5c5c5c5c) - 0x01010101
  return ((quote | backslash | (word - 0x20202020)) & ~word & 0x80808080) === 0
}

function skipScalar(text: Text, at: number): number {
  const { bytes } = text
  const first = bytes[at] as number
  if (first === QUOTE) return skipString(text, at + 1)
  if (first === MINUS || digit[first] === 1) return skipNumber(bytes, at)
  const literal = literals[first]
  if (literal === undefined) return ~at
  for (let place = 1; place < literal.length; place += 1) {
    if (bytes[at + place] !== literal[place]) return ~(at + place)
  }
  return at + literal.length
}

function skipNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from
  at = bytes[at] === ZERO ? at + 1 : skipDigits(bytes, at)
  if (at >= 0 && bytes[at] === DOT) at = skipDigits(bytes, at + 1)
  // `| 0x20` turns an upper-case letter into a lower-case one.
  if (at >= 0 && ((bytes[at] as number) | 0x20) === LETTER_E) {
    const sign = bytes[at + 1] as number
    at = skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1)
  }
  return at
}

/** Skips digits. At least one is required. */
function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (digit[bytes[at] as number] === 1) at += 1
  return at > from ? at : ~at
}
