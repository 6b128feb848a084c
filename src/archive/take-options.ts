import type { Compression } from '../datafile/compression.ts'
import type { DataFile } from '../datafile/data-file.ts'
import type { Opener, Sealer } from '../datafile/encryption.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import type { ObjectMetadata, ObjectStore } from '../store/object-store.ts'
import type { ManifestExport } from './manifest.ts'
import type { Account, SavedObjectSource } from './source.ts'

/** How a snapshot is taken. */
export interface TakeOptions {
  /** When the snapshot counts as taken; it names the snapshot. */
  readonly takenAt: Date
  /** Types to export, in this order, one after the other. */
  readonly types: readonly string[]
  /** The account the token must belong to; any when undefined. */
  readonly expectedAccountId?: number | undefined
  /** What the configuration calls the account; the manifest records it. */
  readonly configuredAs?: string | undefined
  /** Other configured accounts that may be the same one; see `Origin`. */
  readonly unsettled?: ReadonlySet<string> | undefined
  /** Take the snapshot although the newest one is of another service. */
  readonly acceptService?: boolean | undefined
  readonly compression?: Compression | undefined
  /** Encrypts the files; they lie in the clear without it. */
  readonly sealer?: Sealer | undefined
  /** Reads encrypted files, so that changes against them can be named. A run needs none. */
  readonly opener?: Opener | undefined
  /** Files up to this size in total are proven in each run that shares them. */
  readonly proveEachRunBytes?: number | undefined
  /** Store the files also when nothing changed. */
  readonly full?: boolean | undefined
  /** Share of a type's objects (0 to 1) that may be missing before the snapshot is suspect. */
  readonly maxFall?: number | undefined
  /** Length of the window within which the highest number of objects counts. */
  readonly windowMs?: number | undefined
  /** Somebody has looked: take the snapshot as good although objects are missing or hollow. */
  readonly acceptFall?: boolean | undefined
  /** Largest difference to the service's clock before the run is refused; any when undefined. */
  readonly maxClockSkewMs?: number | undefined
  /** How often one export is begun before it counts as failed. */
  readonly exportAttempts?: number | undefined
  /** Wait before an export is begun a second time; doubles each time, with a random part. */
  readonly retryBaseMs?: number | undefined
  readonly scanLimits?: ScanLimits | undefined
  readonly signal?: AbortSignal | undefined
  /** The clock that `takenAt` was read from. */
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

/** A snapshot that is being taken: what each step needs. */
export interface SnapshotRun extends TakeOptions {
  readonly source: SavedObjectSource
  readonly store: ObjectStore
  readonly account: Account
  /** The new snapshot's name. */
  readonly snapshot: string
}

/** The metadata of each file that a run stores. */
export function runMetadata({ takenAt, account }: SnapshotRun): ObjectMetadata {
  return { 'taken-at': takenAt.toISOString(), 'account-id': String(account.accountId) }
}
