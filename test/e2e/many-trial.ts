import type { Environment } from '../../src/config/config.ts'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import { accountsFrom, shortLimits, startTrial, type Trial } from './trial.ts'

/** A trial with many accounts. */
export interface ManyTrial extends Trial {
  /** What a run needs besides the trial's own environment: the configuration and the tokens. */
  readonly changes: Environment
}

/** Name of an account in the configuration of such a trial. */
export function nameOf(accountId: number): string {
  return `team-${accountId}`
}

/** Starts a trial with these accounts, a configuration file that names them, tokens in variables. */
export async function startMany(
  ids: readonly number[],
  options: SandboxOptions = {},
): Promise<ManyTrial> {
  const trial = await startTrial({ ...options, accounts: accountsFrom(ids) })
  const config = await trial.write('dashkeep.yaml', {
    service: { baseUrl: trial.sandbox.url },
    limits: { ...shortLimits, accounts: 3 },
    accounts: ids.map((accountId) => ({
      name: nameOf(accountId),
      accountId,
      token: { env: `TOKEN_${accountId}` },
    })),
  })
  const tokens = ids.map((id) => [`TOKEN_${id}`, `token-${id}`])
  const changes = {
    ...Object.fromEntries(tokens),
    DASHKEEP_CONFIG: config,
    DASHKEEP_BASE_URL: undefined,
    DASHKEEP_API_TOKEN: undefined,
  }
  return { ...trial, changes }
}
