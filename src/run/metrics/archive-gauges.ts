import { Gauge, type Registry } from 'prom-client'
import { countObjects } from '../../archive/manifest.ts'
import { snapshotTime } from '../../archive/snapshot-name.ts'
import type { AccountStatus } from '../../archive/status.ts'

/** Name of the metric with the time of the newest good snapshot. */
export const lastSuccessName = 'dashkeep_last_success_timestamp_seconds'
const suspectName = 'dashkeep_snapshot_suspect'
const objectsName = 'dashkeep_snapshot_objects'

/** Metrics that describe the archive, not the last run. A failed run does not change them. */
export const archiveMetrics: ReadonlySet<string> = new Set([
  lastSuccessName,
  suspectName,
  objectsName,
])

/** State of an account in the archive. */
export interface ArchivedAccount {
  readonly newestGoodAt: Date | undefined
  /** Number of objects in the newest good snapshot. */
  readonly objects: number | undefined
  /** Whether a newer snapshot is suspect. */
  readonly suspect: boolean
}

/** What the gauges show of an account in the archive. */
export function archivedAccountOf({ newestSound, suspects }: AccountStatus): ArchivedAccount {
  return {
    newestGoodAt: newestSound && snapshotTime(newestSound.snapshot),
    objects: newestSound && countObjects(newestSound),
    suspect: suspects.length > 0,
  }
}

/** Registers the gauges that describe the archive. `observe` sets all of them for an account. */
export function createArchiveGauges(registry: Registry) {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['account'], registers: [registry] })
  const lastSuccess = gauge(lastSuccessName, 'When the newest good snapshot was taken')
  const suspect = gauge(suspectName, '1 when the newest snapshot is suspect, else 0')
  const objects = gauge(objectsName, 'Objects in the newest snapshot')
  return {
    lastSuccess,
    suspect,
    objects,
    observe(account: string, found: ArchivedAccount): void {
      suspect.set({ account }, found.suspect ? 1 : 0)
      if (found.newestGoodAt) lastSuccess.set({ account }, found.newestGoodAt.getTime() / 1000)
      if (found.objects !== undefined && !found.suspect) objects.set({ account }, found.objects)
    },
  }
}
