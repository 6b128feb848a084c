import { defaultMaxExportBytes } from '../export-limit.ts'
import type { ConnectionLimits } from '../http/limits.ts'
import type { RetryLimits } from './retry.ts'

/** Limits of a client. {@link defaultServiceLimits} has the values of limits that are not given. */
export interface ServiceLimits extends ConnectionLimits, RetryLimits {
  /** From the request to the end of the answer's body, including the time of a slow reader. */
  readonly answerTimeoutMs: number
  /** Largest export after decoding. Protects against compression bombs. */
  readonly maxExportBytes: number
}

/** The defaults. They allow for an export that the service prepares for minutes. */
export const defaultServiceLimits: ServiceLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 120_000,
  bodyTimeoutMs: 60_000,
  concurrency: 3,
  attempts: 4,
  retryBaseMs: 500,
  retryMaxMs: 30_000,
  maxRetryAfterMs: 120_000,
  answerTimeoutMs: 3600_000,
  maxExportBytes: defaultMaxExportBytes,
}
