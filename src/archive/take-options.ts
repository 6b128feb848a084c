import type { Compression } from '../datafile/compression.ts'
import type { DataFile } from '../datafile/data-file.ts'
import type { Opener, Sealer } from '../datafile/encryption.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import type { ObjectMetadata, ObjectStore } from '../store/object-store.ts'
import type { ManifestExport } from './manifest.ts'
import type { Account, SavedObjectSource } from './source.ts'

/** The values of options that are not given. The configuration has the same ones. */
export const defaultTakeOptions = {
  maxFall: 0.5,
  windowMs: 7 * 24 * 3600_000,
  proveEachRunBytes: 64 * 1024 ** 2,
} as const

/** How a snapshot is taken. */
export interface TakeOptions {
  /** Time of the snapshot, which is also in its name. */
  readonly takenAt: Date
  /** Types to export, in this order, one after the other. */
  readonly types: readonly string[]
  /** The account that the token must belong to; any account when undefined. */
  readonly expectedAccountId?: number | undefined
  /** The account's name in the configuration, for the manifest. */
  readonly configuredAs?: string | undefined
  /** Names of other configured accounts that may be the same one: their ids are not known. */
  readonly unsettled?: ReadonlySet<string> | undefined
  /** Takes the snapshot although the newest one is from another service. */
  readonly acceptService?: boolean | undefined
  readonly compression?: Compression | undefined
  /** Encrypts the files. Without it, they are not encrypted. */
  readonly sealer?: Sealer | undefined
  /** Reads encrypted files, to list what changed in them. A run does not need it. */
  readonly opener?: Opener | undefined
  /** Total size up to which shared files are proven in each run. */
  readonly proveEachRunBytes?: number | undefined
  /** Stores the files also when nothing changed. */
  readonly full?: boolean | undefined
  /** Share of a type's objects (0 to 1) that may disappear before the snapshot is suspect. */
  readonly maxFall?: number | undefined
  /** Length of the window in which the highest number of objects counts. */
  readonly windowMs?: number | undefined
  /** Takes the snapshot as good although objects are missing or hollow. */
  readonly acceptFall?: boolean | undefined
  /** Largest accepted difference to the service's clock; any difference when undefined. */
  readonly maxClockSkewMs?: number | undefined
  /** Number of attempts to export a type. */
  readonly exportAttempts?: number | undefined
  /** Wait before the second attempt. Doubles each time, with a random part. */
  readonly retryBaseMs?: number | undefined
  readonly scanLimits?: ScanLimits | undefined
  readonly signal?: AbortSignal | undefined
  /** The clock from which `takenAt` was read. */
  readonly now?: (() => Date) | undefined
  readonly onProgress?: ((progress: TakeProgress) => void) | undefined
}

/** A step of a run, for progress bars and logs. */
export type TakeProgress =
  | { readonly step: 'account'; readonly account: Account }
  | {
      readonly step: 'receiving'
      readonly type: string
      readonly bytes: number
      readonly objects: number
    }
  | { readonly step: 'broken-off'; readonly type: string; readonly error: Error }
  | { readonly step: 'exported'; readonly export: ManifestExport }
  | { readonly step: 'stored'; readonly file: DataFile }

/** A snapshot that is being taken, with everything that its steps need. */
export interface SnapshotRun extends TakeOptions {
  readonly source: SavedObjectSource
  readonly store: ObjectStore
  readonly account: Account
  /** The new snapshot's name. */
  readonly snapshot: string
}

/** The metadata of each file that a run stores. */
export function runMetadata({ takenAt, account }: SnapshotRun): ObjectMetadata {
  return snapshotMetadata(takenAt, account.accountId)
}

/** The metadata of each file of a snapshot. */
export function snapshotMetadata(takenAt: Date, accountId: number): ObjectMetadata {
  return { 'taken-at': takenAt.toISOString(), 'account-id': String(accountId) }
}

/** The metadata of a data file, in addition. The version is missing when the export had none. */
export function exportMetadata(type: string, kibanaVersion: string | undefined): ObjectMetadata {
  return { ...(kibanaVersion && { 'kibana-version': kibanaVersion }), type }
}
