import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'
import { furtherMembers } from './settings.ts'

const anything = z.unknown()
const gigabytes = z.number().min(0)

/** What each setting may be, by the specification and the facts known of deployed services. */
const members = {
  accountName: z
    .string()
    .regex(/^[\p{L}\p{N} ._-]+$/u, 'expected letters, digits, space and . _ - only'),
  maxDailyGB: gigabytes.nullable(),
  retentionDays: z.int().min(1),
  searchable: z.boolean(),
  accessible: z.boolean(),
  sharingObjectsAccounts: z.array(
    z.union([z.int(), z.looseObject({ accountId: z.int() })]).transform((entry) => {
      return typeof entry === 'number' ? entry : entry.accountId
    }),
  ),
  docSizeSetting: z.boolean(),
  utilizationSettings: z.looseObject({
    frequencyMinutes: z.int().min(1).nullable(),
    utilizationEnabled: z.boolean(),
  }),
}

const documentSchema = z.looseObject(members)

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
 * out; any other is refused, since a misspelt setting would be reset. Throws a `usage` error.
 */
export function parseDocument(text: string, present: SubAccount): Settings {
  const document = checked(documentSchema, parseJson(text), 'the document')
  const { accountId } = document
  if (accountId !== undefined && accountId !== present.accountId) {
    throw unusable('the document', [
      `accountId: it is of another account than ${present.accountId}`,
    ])
  }
  const writable = [...Object.keys(members), ...furtherMembers]
  const unknown = Object.keys(document).filter((name) => {
    return !writable.includes(name) && !Object.hasOwn(present, name)
  })
  if (unknown.length > 0) {
    throw unusable(
      'the document',
      unknown.map((name) => `${name}: no setting, and the list does not have it either`),
    )
  }
  const settings = Object.entries(document).filter(([name]) => writable.includes(name))
  return Object.fromEntries(settings) as unknown as Settings
}

/** Checks settings made from what the service lists and what somebody asks for. */
export function checkSettings(settings: Settings): void {
  checked(z.looseObject({ ...members, utilizationSettings: anything }), settings, 'the settings')
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
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => {
    const problem = message.replace(/^Invalid input: /, '')
    return path.length === 0 ? problem : `${path.join('.')}: ${problem}`
  })
  throw unusable(what, problems)
}

function unusable(what: string, problems: readonly string[], cause?: unknown): DashkeepError {
  return new DashkeepError(`Cannot use ${what}`, {
    kind: 'usage',
    problems,
    hint: 'a full document has every member that `dashkeep accounts update ID --dry-run` prints',
    ...(cause !== undefined && { cause }),
  })
}
