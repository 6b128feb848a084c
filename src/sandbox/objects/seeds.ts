import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DashkeepError } from '../../errors.ts'
import type { AccountSeed, ObjectsSource, SubAccountSeed, SubAccountSettings } from '../options.ts'
import { defaultSettings, type State, type StoredAccount } from '../state/state.ts'
import { checkGenerated } from './generated-objects.ts'
import { storeObjects } from './put-objects.ts'

interface SeedOptions {
  readonly region: string
  readonly types: readonly string[]
}

type AnySeed = Omit<AccountSeed, 'subAccounts'> | SubAccountSeed

/** Adds the accounts that do not exist yet, with their tokens and objects: all or none. */
export async function seedAccounts(
  state: State,
  seeds: readonly AccountSeed[],
  options: SeedOptions,
): Promise<void> {
  const ids = seeds.flatMap((seed) => [seed, ...(seed.subAccounts ?? [])]).map(accountIdOf)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) {
    throw new DashkeepError(`Cannot add account ${twice}: it is given twice`, {
      kind: 'usage',
      hint: 'give each account and sub account an accountId of its own',
    })
  }
  await state.atomically(() => seedEach(state, seeds, options))
}

function accountIdOf({ accountId }: AnySeed): number {
  return accountId
}

async function seedEach(
  state: State,
  seeds: readonly AccountSeed[],
  options: SeedOptions,
): Promise<void> {
  for (const seed of seeds) {
    const { planGb, adminEmails = [] } = seed
    const main = { owner: undefined, planGb, adminEmails, settings: defaultSettings }
    await seedAccount(state, seed, { ...options, ...main })
    for (const sub of seed.subAccounts ?? []) {
      const settings = { ...defaultSettings, ...sub.settings }
      const region = seed.region ?? options.region
      const owned = { owner: seed.accountId, planGb: undefined, adminEmails: [], settings }
      await seedAccount(state, sub, { ...options, region, ...owned })
    }
  }
}

async function seedAccount(
  state: State,
  seed: AnySeed,
  options: SeedOptions & {
    owner: number | undefined
    planGb: number | undefined
    adminEmails: readonly string[]
    settings: SubAccountSettings
  },
): Promise<void> {
  const { accountId, accountName, kibanaVersion } = seed
  if (state.account(accountId) !== undefined) return
  const { owner, planGb, adminEmails, settings } = options
  const account = state.addAccount({
    accountId,
    accountName,
    owner,
    region: seed.region ?? options.region,
    kibanaVersion: kibanaVersion ?? '7.10.2',
    planGb,
    adminEmails,
    settings,
  })
  for (const token of seed.apiTokens ?? []) addToken(state, account, token)
  if (seed.objects !== undefined) await seedObjects(state, account, seed.objects, options.types)
  if (kibanaVersion !== undefined) state.updateAccount(accountId, { kibanaVersion })
}

function addToken(state: State, { accountId }: StoredAccount, token: string): void {
  const owner = state.accountOfToken(token)
  if (owner !== undefined) {
    throw new DashkeepError(
      `Cannot add account ${accountId}: its API token belongs to account ${owner.accountId}`,
      { kind: 'usage', hint: 'give each account an API token of its own' },
    )
  }
  state.addToken(accountId, token)
}

async function seedObjects(
  state: State,
  account: StoredAccount,
  source: ObjectsSource,
  types: readonly string[],
): Promise<void> {
  if ('generated' in source) {
    checkGenerated(source.generated)
    for (const type of types) {
      state.setObjects(account.accountId, type, { kind: 'generated', generated: source.generated })
    }
  } else if ('documents' in source) {
    for (const [type, given] of Object.entries(source.documents)) {
      storeObjects(state, account, { type, given, what: `the objects of type ${type}` })
    }
  } else {
    await loadFolder(state, account, source.folder, types)
  }
}

async function loadFolder(
  state: State,
  account: StoredAccount,
  folder: string,
  types: readonly string[],
): Promise<void> {
  const names = types.map((type) => `${type}.json`)
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined) throw cannotLoad(folder, 'there is no such folder', names)
  if (!found.isDirectory()) throw cannotLoad(folder, 'it is no folder', names)
  let loaded = 0
  for (const type of types) {
    const file = join(folder, `${type}.json`)
    const given = await readDocument(file)
    if (given === undefined) continue
    storeObjects(state, account, { type, given, what: file })
    loaded += 1
  }
  if (loaded === 0) throw cannotLoad(folder, 'it holds no export document', names)
}

async function readDocument(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const state = error instanceof Error ? error.message : String(error)
    throw new DashkeepError(`Cannot load ${file}: ${state}`, { kind: 'usage', cause: error })
  }
}

function cannotLoad(folder: string, state: string, names: readonly string[]): DashkeepError {
  return new DashkeepError(`Cannot load objects from ${folder}: ${state}`, {
    kind: 'usage',
    hint: `name a folder with one or more of ${names.join(', ')}`,
  })
}
