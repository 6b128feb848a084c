import type { ExportMembers } from '../export/envelope.ts'

/** An account of the service, as `whoami` names it (specification, "Current account"). */
export interface Account {
  readonly accountId: number
  readonly accountName: string
}

/**
 * Where saved objects come from: the only thing snapshots know of the service.
 *
 * Every failure is an error with a hint. What is transient has been retried as far as that is
 * possible: an export whose body has begun to arrive is not repeated here.
 */
export interface SavedObjectSource {
  /** The address to record and to show; holds no secret. */
  readonly address: string

  /**
   * How far the service's clock was ahead of this machine's at the last answer, in milliseconds;
   * undefined when the service has not said its time.
   */
  readonly clockSkewMs?: number | undefined

  /** Says whom the token belongs to (specification, section 5). */
  whoami(options: { signal?: AbortSignal | undefined }): Promise<Account>

  /**
   * Begins the export of every saved object of one type (specification, section 4) and returns
   * the body after content decoding, as it arrives. A refusal, under whatever status, throws
   * before the first byte is yielded; a body that breaks off throws from the iteration.
   */
  exportObjects(
    type: string,
    options: { signal?: AbortSignal | undefined },
  ): Promise<AsyncIterable<Uint8Array>>

  /**
   * Throws when the members of an export document, without its hits, report an error. Whoever reads
   * a body to its end calls this: the service may send an error beside some of the hits.
   */
  checkMembers(type: string, members: ExportMembers): void
}
