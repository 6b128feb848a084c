import { version } from '../version.ts'
import type { TypeChanges } from './changes.ts'
import { formatVersion, holderOf, type Manifest } from './manifest.ts'
import type { Previous } from './previous.ts'
import type { PendingExport } from './receive-exports.ts'
import type { SnapshotRun } from './take-options.ts'

/** The manifest of a snapshot that has its own files. */
export function composeManifest(
  { account, configuredAs, snapshot, takenAt, source, acceptFall }: SnapshotRun,
  exports: readonly PendingExport[],
  { newest, lastGood, doubt }: Previous,
  found: {
    changes: readonly TypeChanges[]
    reasons: readonly string[]
    memory?: Manifest['memory']
  },
): Manifest {
  const { changes, reasons, memory } = found
  return {
    formatVersion,
    snapshot,
    takenAt: takenAt.toISOString(),
    account: {
      id: account.accountId,
      name: account.accountName,
      ...(configuredAs !== undefined && { configuredAs }),
    },
    service: source.address,
    exports: exports.map(({ entry }) => entry),
    ...(newest && {
      changes: Object.fromEntries(changes.map(({ type, counts }) => [type, counts])),
    }),
    ...(reasons.length > 0 && {
      suspect: {
        reasons: [...reasons],
        ...(lastGood && { lastGood: lastGood.snapshot }),
        ...(doubt !== undefined && !acceptFall && { doubt }),
      },
    }),
    ...(memory && { memory }),
    ...(newest && {
      previous: { snapshot: newest.manifest.snapshot, manifestSha256: newest.manifestSha256 },
    }),
    dashkeepVersion: version,
  }
}

/** The manifest of an unchanged snapshot, which describes the files of an earlier snapshot. */
export function shareFiles(manifest: Manifest, newest: Manifest, filesProvenAt: string): Manifest {
  const exports = manifest.exports.map((entry) => ({
    ...entry,
    file: newest.exports.find(({ type }) => type === entry.type)?.file ?? entry.file,
  }))
  return { ...manifest, exports, sameAs: holderOf(newest), filesProvenAt }
}
