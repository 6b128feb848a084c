import { Gauge, type Registry } from 'prom-client'
import { version } from '../../version.ts'

/** Metrics of a command that runs until it is stopped. */
export interface ProcessMetrics {
  setConfigGood(good: boolean): void
}

/** Registers the metrics that do not depend on what the command does. */
export function createProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry]
  const configGood = new Gauge({
    name: 'dashkeep_config_good',
    help: '1 when the configuration was valid when it was last read, else 0',
    registers,
  })
  const help = 'Always 1; the version is its label'
  const build = { name: 'dashkeep_build_info', help, labelNames: ['version'], registers }
  new Gauge(build).set({ version }, 1)
  return { setConfigGood: (good) => configGood.set(good ? 1 : 0) }
}
