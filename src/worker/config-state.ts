import type { Logger } from '../log.ts'

/** Time between two reads of the configuration. A change takes effect within a minute. */
export const CONFIG_INTERVAL_MS = 30_000

/** Whether the configuration was valid when it was last read. */
export interface ConfigState {
  /** Why it was invalid; undefined when it was valid. */
  readonly problem: string | undefined
  /** Notes that it is valid. */
  accept(): void
  /** Notes why it is invalid. Logs a problem once, until it changes. */
  refuse(error: Error): void
}

/** Creates the state of a valid configuration. */
export function createConfigState(
  metrics: { setConfigGood(good: boolean): void },
  log: Logger,
): ConfigState {
  let problem: string | undefined
  const accept = () => {
    problem = undefined
    metrics.setConfigGood(true)
  }
  accept()
  return {
    get problem() {
      return problem
    },
    accept,
    refuse({ message }) {
      if (message !== problem) log.error({ reason: message }, 'configuration is invalid')
      problem = message
      metrics.setConfigGood(false)
    },
  }
}
