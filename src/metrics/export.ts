import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import pMap from 'p-map'
import { Registry } from 'prom-client'
import type { FindProxy } from '../http/proxy.ts'
import type { RunOutcome } from '../outcome.ts'
import { post } from '../post.ts'
import { createAccountMetrics, lastSuccessName } from './account-metrics.ts'

/** Pushes under way at once. */
const PUSHES_AT_ONCE = 4

/**
 * Writes what a run found out for the textfile collector of node_exporter: as a whole or not at
 * all. What is not known any more, such as the last success while the archive does not answer,
 * stays as the file said before.
 */
export async function writeTextfile(path: string, run: RunOutcome): Promise<void> {
  const registry = new Registry()
  const metrics = createAccountMetrics(registry)
  const before = readLastSuccesses(await readFile(path, 'utf8').catch(() => ''))
  for (const { account } of run.accounts) {
    const seconds = before.get(account)
    if (seconds !== undefined) metrics.setLastSuccess(account, new Date(seconds * 1000))
  }
  metrics.observe(run)
  const unfinished = `${path}.${run.run}`
  try {
    await writeFile(unfinished, await registry.metrics())
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

function readLastSuccesses(text: string): Map<string, number> {
  const line = new RegExp(`^${lastSuccessName}\\{account="([^"\\\\]+)"\\} (\\S+)$`, 'gm')
  return new Map(
    [...text.matchAll(line)].map(([, account = '', value]) => [account, Number(value)]),
  )
}

/**
 * Pushes what a run found out, each account in a group of its own, so that runs over other accounts
 * do not meet. What is not known any more stays as it was pushed before.
 */
export async function pushMetrics(
  gateway: string,
  run: RunOutcome,
  options: {
    findProxy: FindProxy
    retryBaseMs?: number | undefined
    signal?: AbortSignal | undefined
  },
): Promise<void> {
  const base = gateway.replace(/\/$/, '')
  const push = async (outcome: RunOutcome['accounts'][number]) => {
    const registry = new Registry()
    createAccountMetrics(registry).observe({ ...run, accounts: [outcome] })
    const address = `${base}/metrics/job/dashkeep/account/${encodeURIComponent(outcome.account)}`
    const body = await registry.metrics()
    await post(address, { body, contentType: registry.contentType, ...options })
  }
  await pMap(run.accounts, push, { concurrency: PUSHES_AT_ONCE })
}
