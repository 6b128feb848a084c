import type { Config } from '../../config/config.ts'
import { parseDuration } from '../../config/duration.ts'
import { isListenAddress } from '../../config/fields.ts'
import { loadConfig } from '../../config/load.ts'
import { DashkeepError } from '../../errors.ts'
import { runExporter } from '../../exporter/exporter.ts'
import { exitCodeOfInterruption } from '../../run/exit-codes.ts'
import { systemClock } from '../../worker/clock.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

const minIntervalMs = 10_000
const maxIntervalMs = 86_400_000

/** `dashkeep status --listen`: serves the state of the archive as metrics until stopped. */
export async function serveStatus(
  terminal: Terminal,
  options: CommonOptions & {
    maxAge?: string
    maxProofAge?: string
    listen: string
    interval?: string
  },
): Promise<number> {
  const { env, now, signal } = terminal
  const { listen, maxAge, maxProofAge, interval = '15m' } = options
  checkAddress(listen)
  const intervalMs = readInterval(interval)
  const maxAgeMs = maxAge === undefined ? undefined : parseDuration(maxAge)
  const maxProofAgeMs = maxProofAge === undefined ? undefined : parseDuration(maxProofAge)
  // Shows its full log on a terminal, too: it has no other output.
  const { log } = await createContext({ ...terminal, watched: false }, options, [
    'accounts',
    'store',
  ])
  const load = (): Promise<Config> => loadConfig(env, options, ['accounts', 'store'])
  await runExporter({
    load,
    listen,
    intervalMs,
    maxAgeMs,
    maxProofAgeMs,
    env,
    log,
    signal,
    clock: systemClock(now),
  })
  return exitCodeOfInterruption(signal)
}

function checkAddress(listen: string): void {
  if (isListenAddress(listen)) return
  throw new DashkeepError(`Cannot listen on ${listen}: it is not host:port`, {
    kind: 'usage',
    hint: 'use an address such as 127.0.0.1:5337, or 0.0.0.0:5337 for all interfaces',
  })
}

function readInterval(text: string): number {
  const intervalMs = parseDuration(text)
  if (intervalMs >= minIntervalMs && intervalMs <= maxIntervalMs) return intervalMs
  throw new DashkeepError(`Cannot use --interval ${text}: it is not between 10s and 1d`, {
    kind: 'usage',
    hint: 'use for example --interval 15m; each read costs a LIST per 1,000 files and a GET per account',
  })
}
