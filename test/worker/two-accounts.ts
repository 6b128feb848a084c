import { accountsFrom, shortLimits, startTrial, type Trial } from '../e2e/trial.ts'

const ids = [501, 502]

/** When the workers of these tests start. */
export const start = '2026-11-20T12:01:00Z'

/** Two accounts with token files, backed up every five minutes; `changes` go into the file. */
export async function prepare(changes: object = {}) {
  const trial = await startTrial({ accounts: accountsFrom(ids) })
  const accounts = []
  for (const accountId of ids) {
    const file = await trial.write(`token-${accountId}`, `token-${accountId}\n`)
    accounts.push({ name: `team-${accountId}`, accountId, token: { file } })
  }
  const config = {
    service: { baseUrl: trial.sandbox.url },
    limits: shortLimits,
    schedule: { cron: '*/5 * * * *' },
    accounts,
    ...changes,
  }
  const env = {
    DASHKEEP_STORE: trial.env.DASHKEEP_STORE,
    DASHKEEP_API_TOKEN: undefined,
    DASHKEEP_CONFIG: await trial.write('dashkeep.yaml', config),
  }
  return { trial, env, config }
}

/** Number of snapshots of each account. */
export async function countSnapshots(trial: Trial): Promise<number[]> {
  const keys = [...(await trial.files()).keys()]
  return ids.map(
    (id) => keys.filter((key) => key.startsWith(`${id}/`) && key.endsWith('manifest.json')).length,
  )
}
