import { loadConfig } from '../../config/load.ts'
import { warningsOf } from '../../config/warnings.ts'
import { exitCodeOfInterruption } from '../../run/exit-codes.ts'
import { systemClock } from '../../worker/clock.ts'
import { runWorker } from '../../worker/worker.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { chooseAccounts } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'

/** `dashkeep worker`: backs up on the configured schedule until stopped. */
export async function worker(
  terminal: Terminal,
  options: CommonOptions & { account?: readonly string[]; shard?: string },
): Promise<number> {
  const { env, now, signal } = terminal
  // A worker shows only its log, on a terminal too.
  const { config, log, tail } = await createContext({ ...terminal, watched: false }, options, [
    'accounts',
    'store',
  ])
  for (const warning of warningsOf(config)) log.warn(warning)
  const load = async () => {
    const whole = await loadConfig(env, options, ['accounts', 'store'])
    return chooseAccounts(whole, options.account)
  }
  await runWorker({ load, env, log, tail, signal, clock: systemClock(now) })
  return exitCodeOfInterruption(signal)
}
