import { DashkeepError, type ErrorKind } from '../errors.ts'

/**
 * The kind of a failure, for programs:
 * - `refused-token`: the token is invalid or lacks rights (401 or 403, as status or as `code` under 200).
 * - `wrong-region`: the token belongs to an account of another region than the base address.
 * - `no-endpoint`: the address is not an endpoint of the service.
 * - `unknown-account`: the sub account to replace does not exist.
 * - `rejected`: the service understood the request and refused it.
 * - `not-json`, `wrong-shape`: the answer is not one of this service.
 * - `too-large`: the answer exceeds the limit set for it.
 * - `too-many-requests`, `unavailable`: the service asks to try again later.
 * - `network`, `timeout`: no complete answer arrived.
 * - `redirected`: the service redirects to another address; dashkeep follows no redirect.
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

/** The details of a {@link ServiceError}. */
interface ServiceErrorDetails {
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
 * Text of the service is shortened in the message, without control characters and without the token.
 * `transient` is never true for a create that may have happened.
 */
export class ServiceError extends DashkeepError {
  override readonly hasCleanCause = true
  readonly code: ServiceErrorCode
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** The service's error code, such as `TimeBasedAccount/ILLEGAL_PLAN_REQUEST`. */
  readonly errorCode: string | undefined
  /** The id of the request, for the service's support. */
  readonly requestId: string | undefined
  /** The wait that the service requested before the next attempt. */
  readonly retryAfterMs: number | undefined
  /**
   * Number of the failed attempt, from 1. When it is above 1, an earlier attempt may have
   * succeeded.
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
