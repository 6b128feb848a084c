import type { RetentionPolicy } from '../archive/retention.ts'
import type { ArchivedReport } from './account-report.ts'
import type { SnapshotLocks } from './read-locks.ts'
import type { ProofReport } from './report-proofs.ts'

/** An account in a copy of the archive. */
interface CopiedAccount {
  /** Name of the copy in the configuration. */
  readonly copy: string
  /** Snapshots of the archive that the copy lacks. */
  readonly missing: number
  /** Time of the newest snapshot of the copy; undefined when it has none. */
  readonly takenAt: Date | undefined
}

/** What a report says of one account. */
export interface AccountReport extends ArchivedReport {
  /** Undefined for a configured account without id that no snapshot names. */
  readonly accountId: number | undefined
  /** The service's name, from the newest readable manifest. */
  readonly name: string | undefined
  /** The configured name, from the configuration or from the same manifest. */
  readonly configuredAs: string | undefined
  readonly isConfigured: boolean
  /** Number of snapshots in the archive, and bytes of all files of the account. */
  readonly stored: { readonly snapshots: number; readonly bytes: number }
  /** Undefined when neither the oldest nor the newest snapshot is locked. */
  readonly locks: SnapshotLocks | undefined
  readonly proofs: ProofReport
  readonly copies: readonly CopiedAccount[]
  /** Why somebody should look at the account; empty when all is well. */
  readonly attention: readonly string[]
}

/** A report about the backups of an archive. */
export interface Report {
  readonly since: Date
  /** When the report was made. It is the end of its span. */
  readonly until: Date
  /** The version that made the report. */
  readonly dashkeepVersion: string
  /** Address of the archive. */
  readonly store: string
  /** Undefined when no schedule is configured: then the report does not know when runs were due. */
  readonly schedule: { readonly cron: string; readonly timeZone: string } | undefined
  /** Undefined when no rule is configured: then nothing is pruned. */
  readonly retention: RetentionPolicy | undefined
  /** Accounts without problems are among them. */
  readonly accounts: readonly AccountReport[]
  /** What could not be read, so that the report is incomplete. */
  readonly unread: readonly string[]
}
