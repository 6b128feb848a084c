import { Gauge, type Registry } from 'prom-client'

export const lastSuccessName = 'dashkeep_last_success_timestamp_seconds'
const suspectName = 'dashkeep_snapshot_suspect'
const objectsName = 'dashkeep_snapshot_objects'

/** Metrics that describe the archive and not the last run: a failed run leaves them as they are. */
export const archiveMetrics: ReadonlySet<string> = new Set([
  lastSuccessName,
  suspectName,
  objectsName,
])

/** What an archive says of an account. */
export interface ArchivedAccount {
  readonly newestGoodAt: Date | undefined
  /** In the newest good snapshot. */
  readonly objects: number | undefined
  /** Whether there is a suspect snapshot since. */
  readonly suspect: boolean
}

/** The gauges that describe the archive, and what sets all of them for an account. */
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
