import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'
import { furtherMembers, sharingIds } from './settings.ts'

/** The member that `accounts list --json` adds to each entry of the service's list. */
export const mainMark = 'isMain'

const gigabytes = z.number('expected GB per day from 0 on').min(0, 'expected GB per day from 0 on')
const days = 'expected a whole number of days from 1 on'
const minutes = 'expected whole minutes from 1 on, or null'
const flag = z.boolean('expected true or false')
const text = z.string('expected a text')
const sharingAccount = z.union([z.int(), z.looseObject({ accountId: z.int() })], {
  error: 'expected the id of an account',
})

function utilization(frequencyMinutes: z.ZodType<number | null>) {
  const members = { frequencyMinutes, utilizationEnabled: flag }
  return z.looseObject(members, 'expected frequencyMinutes and utilizationEnabled')
}

/** What a list shows of each setting. It may show values that a request can no longer set. */
const listedMembers = {
  accountName: text,
  maxDailyGB: z.number('expected GB per day').nullable(),
  retentionDays: z.number('expected days'),
  searchable: flag,
  accessible: flag,
  sharingObjectsAccounts: z.array(sharingAccount, 'expected a list of ids of accounts'),
  docSizeSetting: flag,
  utilizationSettings: utilization(z.number(minutes).nullable()),
}

/** What a setting may be changed to, by the specification and the facts of deployed services. */
const members = {
  ...listedMembers,
  accountName: text.regex(/^[\p{L}\p{N} ._-]+$/u, 'expected letters, digits, space and . _ - only'),
  maxDailyGB: gigabytes.nullable(),
  retentionDays: z.int(days).min(1, days),
  utilizationSettings: utilization(z.int(minutes).min(1, minutes).nullable()),
}

/** What a create may ask for. */
const newAccountSchema = z.object({
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'expected an e-mail address'),
  accountName: members.accountName,
  retentionDays: members.retentionDays,
  maxDailyGB: gigabytes,
})

/**
 * Reads a full document of settings, or an entry of the list, from JSON text. Every member of the
 * specification must be there. Members that only the list has (`present` shows which) are left
 * out; any other is refused, since a misspelt setting would be reset. Only what differs from
 * `present` is validated. Throws a `usage` error.
 */
export function parseDocument(text: string, present: SubAccount): Settings {
  const isObject = z.looseObject({}, 'expected one JSON object')
  const document = checked(isObject, parseJson(text), 'the document')
  checked(changedMembers(document, present), document, 'the document')
  const { accountId } = document
  if (accountId !== undefined && accountId !== present.accountId) {
    throw unusable('the document', [
      `accountId: it is of another account than ${present.accountId}`,
    ])
  }
  const writable = [...Object.keys(members), ...furtherMembers]
  const unknown = Object.keys(document).filter((name) => {
    return !writable.includes(name) && name !== mainMark && !Object.hasOwn(present, name)
  })
  if (unknown.length > 0) {
    throw unusable(
      'the document',
      unknown.map((name) => `${name}: no setting, and the list does not have it either`),
    )
  }
  const settings = Object.entries(document).filter(([name]) => writable.includes(name))
  const { sharingObjectsAccounts } = document as Pick<SubAccount, 'sharingObjectsAccounts'>
  const ids = { sharingObjectsAccounts: sharingIds(sharingObjectsAccounts) }
  return { ...Object.fromEntries(settings), ...ids } as unknown as Settings
}

/** Checks the settings that an account is to have. What it has already is not validated. */
export function checkSettings(settings: Settings, present: Settings): void {
  checked(changedMembers(settings, present), settings, 'the settings')
}

/** Reads an entry of a list that was kept. Throws for what no list shows. */
export function parseListed(entry: unknown): SubAccount {
  const schema = z.looseObject({ accountId: z.int(), ...listedMembers })
  const { data, error } = schema.safeParse(entry, { reportInput: true })
  if (data !== undefined) return data
  const [problem] = problemsOf(error)
  throw new DashkeepError(`Cannot read the settings of a sub account: ${problem}`)
}

/** The schema of the members that are not as the account has them now. */
function changedMembers(wanted: object, present: object): z.ZodType {
  const now = new Map(Object.entries(present))
  const after = new Map(Object.entries(wanted))
  const changed = Object.entries(members).filter(
    ([name]) => !isDeepStrictEqual(after.get(name), now.get(name)),
  )
  return z.looseObject(Object.fromEntries(changed))
}

/** Checks what a create asks for. Throws a `usage` error that names every problem. */
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
        ? 'a full document has every member that `dashkeep accounts update ID --dry-run` prints'
        : 'nothing was sent; --help says what each option takes',
    ...(cause !== undefined && { cause }),
  })
}
