// Tested by test/e2e/proofs.test.ts

import { countFileBytes, countObjects, type Manifest } from '../archive/manifest.ts'
import { version } from '../version.ts'
import type { NewProof } from './proof.ts'

/** What the drill of one account found. */
interface Drilled {
  readonly accountId: number
  /** The restored snapshot and exports; undefined when no good one can be read. */
  readonly manifest: Pick<Manifest, 'snapshot' | 'exports'> | undefined
  readonly startedAt: Date
  readonly endedAt: Date
  /** Objects sent, returned byte for byte, and different; undefined when damage ended the drill. */
  readonly counts:
    | { readonly objects: number; readonly restored: number; readonly different: number }
    | undefined
  /** What is damaged. */
  readonly damage: readonly string[]
}

/**
 * Makes the record of a drill. It names no object, because names may be secret in an encrypted archive.
 * The objects and files are those of the manifest if damage ended the drill.
 */
export function proofOfDrill(drilled: Drilled): NewProof {
  const { accountId, manifest, startedAt, endedAt, counts, damage } = drilled
  const exports = manifest?.exports ?? []
  const different = counts?.different ?? 0
  const differs = `objects that differ or are missing after the restore: ${different}`
  const problems = [...(different > 0 ? [differs] : []), ...damage]
  return {
    kind: 'drill',
    accountId,
    startedAt,
    endedAt,
    result: problems.length === 0 ? 'good' : 'failed',
    scope: 'newest',
    snapshots: manifest ? [manifest.snapshot] : [],
    files: exports.length,
    bytes: countFileBytes({ exports }),
    sealed: 0,
    objects: counts?.objects ?? countObjects({ exports }),
    equal: counts?.restored ?? 0,
    defects: different + damage.length,
    problems,
    dashkeepVersion: version,
  }
}
