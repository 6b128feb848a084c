import { join } from 'node:path'
import type { Environment } from '../../src/config/config.ts'
import type { RecordedRequest } from '../../src/sandbox/http/recorder.ts'
import type { AccountSeed, SandboxOptions, SubAccountSettings } from '../../src/sandbox/options.ts'
import type { Finished } from './run-dashkeep.ts'
import { startTrial, type Trial } from './trial.ts'

export const mainId = 10
export const richId = 11
export const poorId = 12
export const mainToken = 'main-token-2c90'
export const adminEmail = 'admin@shop.example'

/** Settings of the sub account that has more, each of them unlike its default. */
export const richSettings: SubAccountSettings = {
  maxDailyGB: 5,
  retentionDays: 5,
  searchable: true,
  accessible: true,
  docSizeSetting: true,
  sharingObjectsAccounts: [mainId, poorId],
  utilizationSettings: { frequencyMinutes: 10, utilizationEnabled: true },
  isFlexible: true,
  reservedDailyGB: 1,
  softLimitGB: 4,
  snapSearchRetentionDays: 3,
}

/** A main account whose plan is used up: sub accounts of 5 and 1 GB per day. */
export function family(changes: Partial<AccountSeed> = {}): AccountSeed {
  return {
    accountId: mainId,
    accountName: 'Main',
    apiTokens: [mainToken],
    adminEmails: [adminEmail],
    planGb: 6,
    subAccounts: [
      { accountId: richId, accountName: 'Rich', apiTokens: ['rich-token'], settings: richSettings },
      { accountId: poorId, accountName: 'Poor', settings: { maxDailyGB: 1, retentionDays: 3 } },
    ],
    ...changes,
  }
}

/** A trial with a main account, and a shorthand for `accounts … --json`. */
export interface AccountsTrial extends Trial {
  readonly journal: string
  /** Runs `dashkeep accounts` with the main account's token. */
  accounts(args: readonly string[], changes?: Environment): Promise<Finished>
  /** Moves what `args` say, with this trial's journal. */
  move(args: readonly string[]): Promise<Finished>
  settings(accountId: number): SubAccountSettings
  /** Capacities of the two sub accounts. */
  capacities(): (number | null)[]
  /** Replaces that were answered or cut, as `id=gb`, in the order of their arrival. */
  replaced(): string[]
}

export async function startAccounts(
  options: SandboxOptions = {},
  changes: Partial<AccountSeed> = {},
): Promise<AccountsTrial> {
  const trial = await startTrial({ accounts: [family(changes)], ...options })
  const journal = join(trial.folder, 'journal.json')
  const env = { DASHKEEP_API_TOKEN: mainToken, DASHKEEP_PATH_PREFIX: trial.sandbox.pathPrefix }
  const accounts: AccountsTrial['accounts'] = (args, more) =>
    trial.run(['accounts', ...args], { ...env, ...more })
  const settings = (accountId: number) => {
    const found = trial.sandbox.accounts().find((account) => account.accountId === accountId)
    if (found === undefined) throw new Error(`there is no account ${accountId}`)
    return found.settings
  }
  return {
    ...trial,
    env: { ...trial.env, ...env },
    journal,
    accounts,
    move: (args) => accounts(['move-capacity', '--journal', journal, ...args]),
    settings,
    capacities: () => [richId, poorId].map((id) => settings(id).maxDailyGB),
    replaced: () => replacesOf(trial).map(({ path, body }) => `${idIn(path)}=${gbIn(body)}`),
  }
}

/** Replaces as the service received them. */
export function replacesOf({ sandbox }: Pick<Trial, 'sandbox'>): RecordedRequest[] {
  return sandbox.requests().filter(({ operation }) => operation === 'replace')
}

/** The most that the two accounts took together, by the replaces that the service carried out. */
export function highestGb({ sandbox }: Pick<Trial, 'sandbox'>): number {
  const present = new Map([
    [richId, 5],
    [poorId, 1],
  ])
  const totals = replacesOf({ sandbox }).map(({ path, body, status }) => {
    // Without a status the connection was cut, perhaps after it was done.
    if (status === undefined || status < 300) present.set(idIn(path), gbIn(body))
    return [...present.values()].reduce((sum, gb) => sum + gb, 0)
  })
  return Math.max(6, ...totals)
}

function idIn(path: string): number {
  return Number(path.split('/').at(-1))
}

function gbIn(body: string): number {
  return (JSON.parse(body) as { maxDailyGB: number }).maxDailyGB
}
