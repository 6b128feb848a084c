import type { z } from 'zod'
import { closest } from './closest.ts'
import { isSection, valueAt } from './section.ts'

/** The message of an issue for which the schema has no message of its own. */
export function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'missing' : `expected ${kindOf(issue)}`
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`
    case 'invalid_union':
      return `expected ${oneOf((issue.options as readonly unknown[] | undefined) ?? [])}`
    case 'too_big':
      return `expected at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`
    case 'too_small':
      return `expected at least ${issue.origin === 'array' ? 'one' : issue.minimum}`
    case 'unrecognized_keys':
      return issue.keys.map((key) => `${key}: unknown key${meant(key, keysOf(issue))}`).join('\n')
    default:
      return 'not valid'
  }
}

/** Converts the issues of a document to problems. Of several issues at one place, takes the first. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  sourceOf: (place: string) => string,
): string[] {
  const problems = new Map<string, string[]>()
  for (const issue of issues) {
    const place = issue.path.join('.')
    const key = issue.code === 'unrecognized_keys' ? `${place}.` : place
    if (!problems.has(key)) problems.set(key, describeIssue(issue, { place, sourceOf }))
  }
  return [...problems.values()].flat()
}

function describeIssue(
  issue: z.core.$ZodIssue,
  { place, sourceOf }: { place: string; sourceOf: (place: string) => string },
): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.message.split('\n').map((line) => (place === '' ? line : `${place}.${line}`))
  }
  const discriminator = 'discriminator' in issue ? String(issue.discriminator) : undefined
  const input = discriminator ? valueAt(issue.input, discriminator) : issue.input
  const candidates = candidatesOf(issue)
  const suggestion = typeof input === 'string' ? meant(input, candidates) : ''
  return [`${sourceOf(place)}: ${issue.message}${describeFound(place, input)}${suggestion}`]
}

/** Returns `, found "…"`, or only the kind of the value if it may be a secret. */
function describeFound(place: string, value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return ', found nothing'
  if (Array.isArray(value)) return ', found a list'
  if (isSection(value)) return ', found members'
  const text = String(value)
  if (!/^age1/.test(text) && (secretPlace.test(place) || secretText.test(text))) {
    return typeof value === 'string' ? ', found text that is not shown' : ', found another value'
  }
  return `, found ${typeof value === 'string' ? JSON.stringify(text) : text}`
}

/** Matches places that hold the source of a secret, and sections that contain such places. */
const secretPlace =
  /(^|\.)(token|passphrase|identity)(\.|$)|^notifications\.\d+\.url|^(encryption|(accounts|notifications)(\.\d+)?|management)$/

/** Matches text that may be a token, a private key, or an address with a password, at any place. */
const secretText = /@|:\/\/.*[?#]|AGE-SECRET-KEY|[\da-f]{8}-[\da-f]{4}-|[\w+=-]{24}/i

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  record: 'members',
}

function kindOf(issue: z.core.$ZodRawIssue): string {
  if (issue.expected === 'object') {
    const [first] = keysOf(issue)
    return first === undefined ? 'members' : `members such as ${first}`
  }
  if (issue.expected !== 'string') return kinds[String(issue.expected)] ?? 'something else'
  return /^(number|boolean)$/.test(typeof issue.input) ? 'text, in quotes' : 'text'
}

/** The members that the section of an issue can have. */
function keysOf({ inst }: z.core.$ZodRawIssue): string[] {
  const shape = (inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape
  return Object.keys(shape ?? {})
}

function candidatesOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  if (issue.code === 'custom') return (issue.params?.candidates as string[] | undefined) ?? []
  return 'options' in issue ? (issue.options as unknown[]).map(String) : []
}

function meant(word: string, candidates: readonly string[]): string {
  const found = closest(word, candidates)
  return found === undefined ? '' : `; did you mean ${found}?`
}

function oneOf(values: readonly unknown[]): string {
  return values
    .map(String)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')
}
