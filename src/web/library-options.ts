import type { CoverageFound, KnownBackup } from '../accounts/coverage.ts'
import type { ReadOptions } from '../archive/read-objects.ts'
import type { ObjectDiff } from '../objects/diff-objects.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { ServiceReader } from './compare/live.ts'
import type { CopyReader } from './copies.ts'

/** What the pages show, and how. */
export interface LibraryOptions {
  readonly store: ObjectStore
  /** How objects are read; its signal ends with the server. */
  readonly read: ReadOptions & { readonly signal: AbortSignal }
  /** The configured accounts, which are missing when the archive holds nothing of them. */
  readonly configured: readonly { name: string; accountId: number | undefined }[]
  /** What the configuration calls an account, or what a manifest says that it called it. */
  readonly nameOf: (accountId: number, recorded?: string) => string | undefined
  /** Says in lines how two versions of an object differ. */
  readonly describe: (diff: ObjectDiff) => readonly string[]
  /** An older newest good snapshot is stale; undefined when none ever is. */
  readonly maxAgeMs: number | undefined
  /** An account whose newest proof is older is unproven; undefined when none ever is. */
  readonly maxProofAgeMs: number | undefined
  /** Asks the service whether its sub accounts have backups; absent when it cannot be asked. */
  readonly askCoverage?: (backups: readonly KnownBackup[]) => Promise<CoverageFound>
  /** The configured copies of the archive. */
  readonly copies: readonly CopyReader[]
  readonly now: () => Date
  /** Reads the present objects of accounts; undefined where no token is configured. */
  readonly service?: ServiceReader | undefined
}
