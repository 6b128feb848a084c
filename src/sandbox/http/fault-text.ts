import { badFault, checkFault, type Fault, operations } from './faults.ts'

/** Words without a value. */
const flags: readonly (keyof Fault)[] = ['refused', 'hang', 'cut', 'lost']

/** Words with a value, and how the value is parsed. */
const values: Readonly<Record<string, [member: keyof Fault, read: (value: string) => unknown]>> = {
  account: ['account', toNumber],
  after: ['after', toNumber],
  times: ['times', toNumber],
  status: ['status', toNumber],
  body: ['body', toText],
  'retry-after': ['retryAfter', (value) => (/^\d+$/.test(value) ? Number(value) : toText(value))],
  redirect: ['redirectTo', toText],
  delay: ['delayMs', toNumber],
  'at-byte': ['atByte', toNumber],
  trailing: ['trailing', toText],
  'fail-ids': ['failIds', (value) => toText(value).split(',')],
}

/**
 * Parses the short form of a fault on the command line: `<operation>`, `<operation>:<type>` or `*`,
 * then words such as `status=503`, `times=2` or `cut`, separated by spaces. A value with spaces is in
 * double quotes. Throws a `usage` error for an invalid fault.
 */
export function parseFault(text: string): Fault {
  const [target, ...rest] = splitWords(text)
  if (target === undefined) throw badFault('it is empty')
  const fault = parseTarget(target)
  for (const word of rest) {
    const { member, value } = parseWord(word)
    if (fault[member] !== undefined) throw badFault(`'${word}' is given twice`)
    fault[member] = value
  }
  return checkFault(fault)
}

/** Splits at spaces outside double quotes. */
function splitWords(text: string): string[] {
  const word = /\s*((?:[^\s"]|"(?:[^"\\]|\\.)*")+)/y
  const found: string[] = []
  const trimmed = text.trimEnd()
  while (word.lastIndex < trimmed.length) {
    const match = word.exec(trimmed)
    if (match === null) throw badFault('a double quote is not closed')
    found.push(match[1] as string)
  }
  return found
}

function parseTarget(target: string): Record<string, unknown> {
  const [operation, type] = splitOnce(target, ':')
  if (operation !== '*' && !operations.some((known) => known === operation)) {
    throw badFault(`'${operation}' is not one of *, ${operations.join(', ')}`)
  }
  return {
    ...(operation === '*' ? {} : { operation }),
    ...(type === undefined ? {} : { type }),
  }
}

function parseWord(word: string): { member: keyof Fault; value: unknown } {
  const [name, value] = splitOnce(word, '=')
  const flag = flags.find((known) => known === name)
  if (flag !== undefined) {
    if (value !== undefined) throw badFault(`'${name}' takes no value`)
    return { member: flag, value: true }
  }
  const known = Object.hasOwn(values, name) ? values[name] : undefined
  if (known === undefined) {
    throw badFault(`'${name}' is not one of ${[...flags, ...Object.keys(values)].join(', ')}`)
  }
  if (value === undefined || value === '') throw badFault(`'${name}' needs a value: ${name}=…`)
  const [member, read] = known
  return { member, value: read(value) }
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const place = text.indexOf(at)
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)]
}

function toNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw badFault(`'${value}' is not a whole number`)
  return Number(value)
}

/** Removes the quotes. Between them, JSON escapes apply. */
function toText(value: string): string {
  if (!value.startsWith('"')) return value
  try {
    return JSON.parse(value) as string
  } catch {
    throw badFault(`${value} is not a quoted string`)
  }
}
