/** How long a request may take, and how many may be under way. */
export interface ConnectionLimits {
  /** Until the connection is established, TLS included; to a proxy, and through it, each by itself. */
  readonly connectTimeoutMs: number
  /** From the request to the last of the answer's headers. */
  readonly headersTimeoutMs: number
  /** Between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number
  /** Requests at once, answers being read included. */
  readonly concurrency: number
}
