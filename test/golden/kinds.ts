import type { Environment } from '../../src/config/config.ts'
import type { AccountSeed } from '../../src/sandbox/options.ts'
import { exportBody, numbered } from '../archive/scripted-source.ts'
import { startTrial, type Trial } from '../e2e/trial.ts'
import { identity, recipient } from './key.ts'

/** The archives in `format-1-kinds`, by their folder. */
export const kinds = ['plain', 'gzip', 'recipients', 'passphrase'] as const
export type Kind = (typeof kinds)[number]

export const shopId = 100001
export const stagingId = 100002
export const mainId = 100000

/** Protects nothing: the archives hold invented objects. */
const passphrase = 'five words that protect nothing'

/** What the accounts held when the newest snapshots were taken. */
export const finalObjects = {
  [shopId]: {
    search: exportBody('search', numbered(6)),
    visualization: exportBody('visualization', { 'a/b:c "d" 😀': 'Übersicht', '': 'no id' }),
    dashboard: exportBody('dashboard', { shop: 'Shop' }, { kibanaVersion: '7.10.2' }),
  },
  [stagingId]: {
    search: exportBody('search', numbered(3)),
    // Several frames, or members, of 2 MiB each.
    visualization: exportBody('visualization', { large: 'large '.repeat(900_000) }),
    dashboard: exportBody('dashboard', {}),
  },
} as const

/** Starts a service with these accounts; their last objects, and settings by default. */
export async function startKind(kind: Kind): Promise<Trial> {
  const trial = await startTrial({ accounts: [family()] })
  const { service, ...config } = configOf(kind, trial.sandbox.url)
  const file = await trial.write('kind.yaml', { service, ...config })
  const env: Environment = {
    ...trial.env,
    DASHKEEP_API_TOKEN: undefined,
    DASHKEEP_BASE_URL: undefined,
    DASHKEEP_CONFIG: file,
    SHOP_TOKEN: 'shop-token',
    STAGING_TOKEN: 'staging-token',
    MAIN_TOKEN: 'main-token',
    PASSPHRASE: passphrase,
    ...(kind === 'recipients' && { DASHKEEP_RECIPIENTS: recipient, DASHKEEP_IDENTITY: identity }),
  }
  return {
    ...trial,
    env,
    run: (args, changes) => trial.run(args, { ...env, ...changes }),
    runAt: (now, args, changes) => trial.runAt(now, args, { ...env, ...changes }),
  }
}

function family(): AccountSeed {
  return {
    accountId: mainId,
    accountName: 'Example',
    apiTokens: ['main-token'],
    subAccounts: [
      {
        accountId: shopId,
        accountName: 'Shop',
        apiTokens: ['shop-token'],
        kibanaVersion: '7.10.2',
        objects: { documents: finalObjects[shopId] },
        settings: { maxDailyGB: 5, retentionDays: 7 },
      },
      {
        accountId: stagingId,
        accountName: 'Shop staging',
        apiTokens: ['staging-token'],
        kibanaVersion: '7.9.1',
        objects: { documents: finalObjects[stagingId] },
        settings: { maxDailyGB: 1, retentionDays: 3 },
      },
    ],
  }
}

function configOf(kind: Kind, baseUrl: string) {
  const shop = { name: 'shop', accountId: shopId, token: { env: 'SHOP_TOKEN' } }
  const staging = { name: 'staging', accountId: stagingId, token: { env: 'STAGING_TOKEN' } }
  const token = { env: 'MAIN_TOKEN' }
  const main = { name: 'main', accountId: mainId, token, include: ['sub-accounts'] }
  return {
    service: { baseUrl },
    accounts: kind === 'plain' ? [shop, staging, main] : [shop],
    ...(kind === 'gzip' && { accounts: [staging], compression: 'gzip' }),
    ...(kind === 'passphrase' && { encryption: { passphrase: { env: 'PASSPHRASE' } } }),
  }
}
