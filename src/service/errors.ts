import { DashkeepError, type ErrorKind } from '../errors.ts'

/**
 * What happened, for those who branch on it:
 * - `refused-token`: the token is invalid or lacks rights (401 or 403, as status or as `code` under 200).
 * - `wrong-region`: the token belongs to an account of another region than the base address.
 * - `no-endpoint`: the address is none of the service's endpoints.
 * - `unknown-account`: the sub account to replace does not exist.
 * - `rejected`: the service understood the request and refused it.
 * - `not-json`, `wrong-shape`: an answer that is no answer of this service.
 * - `too-large`: the answer exceeds the limit set for it.
 * - `too-many-requests`, `unavailable`: the service asks to try again later.
 * - `network`, `timeout`: no complete answer arrived.
 * - `redirected`: the service points elsewhere; redirects are never followed.
 */
export type ServiceErrorCode =
  | 'refused-token'
  | 'wrong-region'
  | 'no-endpoint'
  | 'unknown-account'
  | 'rejected'
  | 'not-json'
  | 'wrong-shape'
  | 'too-large'
  | 'too-many-requests'
  | 'unavailable'
  | 'network'
  | 'timeout'
  | 'redirected'

/** What a {@link ServiceError} knows besides its message. */
export interface ServiceErrorDetails {
  readonly code: ServiceErrorCode
  /** `failed` by default. */
  readonly kind?: ErrorKind | undefined
  readonly hint?: string | undefined
  readonly transient?: boolean | undefined
  readonly cause?: unknown
  readonly status?: number | undefined
  readonly errorCode?: string | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
}

/**
 * The service could not do what was asked, or its answer could not be used.
 *
 * What the service sent reaches the message only without control characters, shortened and without
 * the token. `transient` is never set for a create that may have happened.
 */
export class ServiceError extends DashkeepError {
  override readonly hasCleanCause = true
  readonly code: ServiceErrorCode
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** The service's own name of the problem, such as `TimeBasedAccount/ILLEGAL_PLAN_REQUEST`. */
  readonly errorCode: string | undefined
  /** What to quote to the service's support. */
  readonly requestId: string | undefined
  /** How long the service asked to wait before the next request. */
  readonly retryAfterMs: number | undefined
  /**
   * Which attempt ended like this, from 1. After the first, one before it may have been carried
   * out, whatever the answer to this one was.
   */
  attempt = 1

  constructor(message: string, details: ServiceErrorDetails) {
    super(message, {
      ...(details.kind === undefined ? {} : { kind: details.kind }),
      ...(details.hint === undefined ? {} : { hint: details.hint }),
      transient: details.transient ?? false,
      cause: details.cause,
    })
    this.code = details.code
    this.status = details.status
    this.errorCode = details.errorCode
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
  }
}
