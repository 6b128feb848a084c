import type { Manifest, ManifestExport } from './manifest.ts'

/** The largest part of a type's objects that may vanish between two snapshots without question. */
export const defaultMaxFall = 0.5

/**
 * Says why a snapshot should be looked at before anybody trusts it; no reasons, no doubt.
 *
 * A type whose number of objects fell by more than `maxFall` (0 to 1) or to zero against the last
 * good snapshot is suspect: an account emptied by mistake, or a service that answers too little,
 * looks just like this. So is an export with objects of another type than the one asked for.
 */
export function findSuspicions(
  exports: readonly ManifestExport[],
  lastGood: Manifest | undefined,
  { maxFall = defaultMaxFall }: { maxFall?: number | undefined } = {},
): string[] {
  const reasons: string[] = []
  for (const { type, objects, remarks } of exports) {
    const before = lastGood?.exports.find((other) => other.type === type)?.objects ?? 0
    if (before > 0 && (objects === 0 || objects < before * (1 - maxFall))) {
      reasons.push(`${type}: ${objects} objects, down from ${before}`)
    }
    const others = remarks['other-type'] ?? 0
    if (others > 0) reasons.push(`${type}: ${others} of ${objects} objects are of another type`)
  }
  return reasons
}
