// Tested by test/service/connections.test.ts

/** Timeouts of a request, and the number of requests at once. */
export interface ConnectionLimits {
  /** To establish a connection, including TLS. Applies separately to the proxy and the tunnel. */
  readonly connectTimeoutMs: number
  /** From the request to the end of the answer's headers. */
  readonly headersTimeoutMs: number
  /** Between two chunks of the answer's body. */
  readonly bodyTimeoutMs: number
  /** Requests at once. A request counts until its answer has been read. */
  readonly concurrency: number
}
