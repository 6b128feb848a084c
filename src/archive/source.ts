import type { ExportMembers } from '../export/envelope.ts'

/** An account of the service, according to `whoami` (specification, "Current account"). */
export interface Account {
  readonly accountId: number
  readonly accountName: string
}

/**
 * The service, as far as a snapshot needs it.
 *
 * Every failure is an error with a hint. Temporary failures have been retried before, except that an
 * export is not repeated once its body has begun to arrive.
 */
export interface SavedObjectSource {
  /** The service's address, without secrets. */
  readonly address: string

  /**
   * How far the service's clock was ahead of this machine's clock at the last answer, in milliseconds;
   * undefined when the service sent no time.
   */
  readonly clockSkewMs?: number | undefined

  /** Returns the account that the token belongs to (specification, section 5). */
  whoami(options: { signal?: AbortSignal | undefined }): Promise<Account>

  /**
   * Starts the export of all saved objects of one type (specification, section 4). Returns the body
   * after content decoding, as it arrives. Throws when the service refuses, with any status. The
   * iteration throws when the body breaks off.
   */
  exportObjects(
    type: string,
    options: { signal?: AbortSignal | undefined },
  ): Promise<AsyncIterable<Uint8Array>>

  /**
   * Throws when the members of an export document, without its hits, report an error. Callers use it at
   * the end of a body, because the service may send an error beside some of the hits.
   */
  checkMembers(type: string, members: ExportMembers): void
}
