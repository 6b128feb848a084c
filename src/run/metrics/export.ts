import { rename, rm, writeFile } from 'node:fs/promises'
import pMap from 'p-map'
import { Registry } from 'prom-client'
import type { FindProxy } from '../../http/proxy.ts'
import { readSmallFile } from '../../local-files.ts'
import type { RunOutcome } from '../outcome.ts'
import { post } from '../post.ts'
import { type AccountSample, createAccountMetrics } from './account-metrics.ts'
import { archiveMetrics } from './archive-gauges.ts'

/** Largest textfile that is read. Enough for 10,000 accounts. */
const MAX_TEXTFILE_BYTES = 16 * 1024 ** 2

/** Concurrent pushes. */
const PUSHES_AT_ONCE = 4

/**
 * Writes the metrics of a run for the textfile collector of node_exporter, atomically. Keeps values
 * in the file that this run does not know: archive metrics of failed accounts, and all metrics of
 * accounts that are `configured` but not part of the run.
 */
export async function writeTextfile(
  path: string,
  run: RunOutcome,
  configured: ReadonlySet<string>,
): Promise<void> {
  const registry = new Registry()
  const metrics = createAccountMetrics(registry)
  const backedUp = new Set(run.accounts.map(({ account }) => account))
  for (const sample of readSamples(
    await readSmallFile(path, { maxBytes: MAX_TEXTFILE_BYTES }).catch(() => ''),
  )) {
    const { account } = sample.labels
    const isKept = backedUp.has(account) ? archiveMetrics.has(sample.name) : configured.has(account)
    if (isKept) metrics.takeOver(sample)
  }
  metrics.observe(run)
  const unfinished = `${path}.${run.run}`
  try {
    await writeFile(unfinished, await registry.metrics(), { flag: 'wx' })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Parses the samples of accounts in a textfile. Account names need no escaping. */
function readSamples(text: string): AccountSample[] {
  const line = /^(\w+)\{account="([^"\\]+)"(?:,result="(\w+)")?\} (\S+)$/gm
  return [...text.matchAll(line)].map(([, name = '', account = '', result, value]) => ({
    name,
    labels: result === undefined ? { account } : { account, result },
    value: Number(value),
  }))
}

/**
 * Pushes the metrics of a run, one group per account, so that runs over other accounts do not
 * overwrite each other. Values that this run does not know stay in the gateway.
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
