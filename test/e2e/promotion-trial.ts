import { expect } from 'vitest'
import type { ObjectsSource, SandboxOptions } from '../../src/sandbox/options.ts'
import type { Finished } from './run-dashkeep.ts'
import { shop, shopId, shortLimits, startTrial, type Trial, types } from './trial.ts'

/** Ids of the accounts by their configured names; the first is the source. */
export const accountIds = { production: shopId, 'team-a': 200001, 'team-b': 200002 } as const

export type AccountName = keyof typeof accountIds

/** A service with a source, whose objects are in a snapshot, and two empty accounts. */
export interface PromotionTrial extends Trial {
  readonly changes: Record<string, string | undefined>
  /** Runs a command with all three accounts configured. */
  dashkeep(args: readonly string[]): Promise<Finished>
  /** Backs up the source. */
  backUp(): Promise<void>
  /** The hits of an account by id. */
  objects(account: AccountName): Map<string, Hit>
  /** Replaces the objects of one type of an account. */
  setObjects(account: AccountName, type: string, hits: readonly Hit[]): void
}

export interface Hit {
  readonly _id: string
  readonly _source: Record<string, unknown>
}

/** Starts the service. The source has the sample objects, or those given. */
export async function startPromotion(
  options: SandboxOptions & { source?: ObjectsSource } = {},
): Promise<PromotionTrial> {
  const { source, ...others } = options
  const names = Object.keys(accountIds) as AccountName[]
  const trial = await startTrial({
    extraOperations: true,
    accounts: names.map((name) => ({
      ...(name === 'production' ? shop({ subAccounts: [] }) : { kibanaVersion: '7.10.2' }),
      ...{ accountId: accountIds[name], accountName: name, apiTokens: [`token-${name}`] },
      ...(name !== 'production' && { objects: { documents: {} } }),
      ...(name === 'production' && source && { objects: source }),
    })),
    ...others,
  })
  const config = await trial.write('dashkeep.yaml', {
    service: { baseUrl: trial.sandbox.url },
    limits: shortLimits,
    accounts: names.map((name) => ({
      ...{ name, accountId: accountIds[name] },
      token: { env: `TOKEN_${accountIds[name]}` },
    })),
  })
  const tokens = names.map((name) => [`TOKEN_${accountIds[name]}`, `token-${name}`])
  const changes = {
    ...Object.fromEntries(tokens),
    ...{ DASHKEEP_CONFIG: config, DASHKEEP_BASE_URL: undefined, DASHKEEP_API_TOKEN: undefined },
  }
  const dashkeep = (args: readonly string[]) => trial.run(args, changes)
  const backUp = async () => {
    const { exitCode, stderr, stdout } = await dashkeep(['backup', '--account', 'production'])
    expect(exitCode, stderr + stdout).toBe(0)
  }
  await backUp()
  return {
    ...trial,
    changes,
    dashkeep,
    backUp,
    objects(account) {
      const hits = types.flatMap((type) => {
        const document = Buffer.from(trial.sandbox.objects(accountIds[account], type)).toString()
        return (JSON.parse(document) as { hits: Hit[] }).hits
      })
      return new Map(hits.map((hit) => [hit._id, hit]))
    },
    setObjects: (account, type, hits) => trial.sandbox.setObjects(accountIds[account], type, hits),
  }
}
