import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'
import { furtherMembers, sharingIds } from './settings.ts'

/** The member that `accounts list --json` adds to each entry of the service's list. */
export const mainMark = 'isMain'

const gigabytes = z
  .number('expected GB per day, at least 0')
  .min(0, 'expected GB per day, at least 0')
const days = 'expected a whole number of days, at least 1'
const minutes = 'expected whole minutes, at least 1, or null'
const flag = z.boolean('expected true or false')
const text = z.string('expected text')
const sharingAccount = z.union([z.int(), z.looseObject({ accountId: z.int() })], {
  error: 'expected the id of an account',
})

function utilization(frequencyMinutes: z.ZodType<number | null>) {
  const members = { frequencyMinutes, utilizationEnabled: flag }
  return z.looseObject(members, 'expected frequencyMinutes and utilizationEnabled')
}

/** The settings in a list. A list may contain values that a request can no longer set. */
const listedMembers = {
  accountName: text,
  maxDailyGB: z.number('expected GB per day').nullable(),
  retentionDays: z.number('expected days'),
  searchable: flag,
  accessible: flag,
  sharingObjectsAccounts: z.array(sharingAccount, 'expected a list of account ids'),
  docSizeSetting: flag,
  utilizationSettings: utilization(z.number(minutes).nullable()),
}

/** The values that a request may set, by the specification and by deployed services. */
const members = {
  ...listedMembers,
  accountName: text.regex(/^[\p{L}\p{N} ._-]+$/u, 'expected letters, digits, space and . _ - only'),
  maxDailyGB: gigabytes.nullable(),
  retentionDays: z.int(days).min(1, days),
  utilizationSettings: utilization(z.int(minutes).min(1, minutes).nullable()),
}

/** The body of a create. */
const newAccountSchema = z.object({
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'expected an e-mail address'),
  accountName: members.accountName,
  retentionDays: members.retentionDays,
  maxDailyGB: gigabytes,
})

/**
 * Reads all settings, or an entry of the list, from JSON text. The document must have every member of
 * the specification. Ignores members that only `present`, the listed account, has. Throws a `usage`
 * error for other members: a misspelt setting would be reset. Validates only settings that differ from
 * `present`.
 */
export function parseDocument(text: string, present: SubAccount): Settings {
  const isObject = z.looseObject({}, 'expected one JSON object')
  const document = checked(isObject, parseJson(text), 'the document')
  checked(changedMembers(document, present), document, 'the document')
  const { accountId } = document
  if (accountId !== undefined && accountId !== present.accountId) {
    throw unusable('the document', [
      `accountId: expected ${present.accountId}, found another account`,
    ])
  }
  const writable = [...Object.keys(members), ...furtherMembers]
  const unknown = Object.keys(document).filter((name) => {
    return !writable.includes(name) && name !== mainMark && !Object.hasOwn(present, name)
  })
  if (unknown.length > 0) {
    throw unusable(
      'the document',
      unknown.map((name) => `${name}: unknown setting, which the service does not list`),
    )
  }
  const settings = Object.entries(document).filter(([name]) => writable.includes(name))
  const { sharingObjectsAccounts } = document as Pick<SubAccount, 'sharingObjectsAccounts'>
  const ids = { sharingObjectsAccounts: sharingIds(sharingObjectsAccounts) }
  return { ...Object.fromEntries(settings), ...ids } as unknown as Settings
}

/** Validates the settings that differ from the present ones. Throws a `usage` error. */
export function checkSettings(settings: Settings, present: Settings): void {
  checked(changedMembers(settings, present), settings, 'the settings')
}

/** Reads an entry of a stored list. Throws when it is not an entry of a list. */
export function parseListed(entry: unknown): SubAccount {
  const schema = z.looseObject({ accountId: z.int(), ...listedMembers })
  const { data, error } = schema.safeParse(entry, { reportInput: true })
  if (data !== undefined) return data
  const [problem] = problemsOf(error)
  throw new DashkeepError(`Cannot read the settings of a sub account: ${problem}`)
}

/** The schema of the members that differ from the present ones. */
function changedMembers(wanted: object, present: object): z.ZodType {
  const now = new Map(Object.entries(present))
  const after = new Map(Object.entries(wanted))
  const changed = Object.entries(members).filter(
    ([name]) => !isDeepStrictEqual(after.get(name), now.get(name)),
  )
  return z.looseObject(Object.fromEntries(changed))
}

/** Validates the body of a create. Throws a `usage` error with every problem. */
export function checkNewAccount(account: object): void {
  checked(newAccountSchema, account, 'the new account')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unusable('the document', ['it is not JSON'], error)
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw unusable(what, problemsOf(result.error))
}

/** Characters of a value that a problem shows. */
const MAX_SHOWN = 60

function problemsOf({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message, input }) => {
    const found = `${message}, found ${JSON.stringify(input)?.slice(0, MAX_SHOWN)}`
    const problem = input === undefined ? 'missing' : found
    return path.length === 0 ? problem : `${path.join('.')}: ${problem}`
  })
}

function unusable(what: string, problems: readonly string[], cause?: unknown): DashkeepError {
  return new DashkeepError(`Cannot use ${what}`, {
    kind: 'usage',
    problems,
    hint:
      what === 'the document'
        ? 'the document needs every member that `dashkeep accounts update ID --dry-run` prints'
        : 'nothing was sent; --help explains the options',
    ...(cause !== undefined && { cause }),
  })
}
