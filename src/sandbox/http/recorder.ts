import type { Operation } from './faults.ts'

/** A recorded request, for tests. Tokens are not recorded. */
export interface RecordedRequest {
  /** Number in the order of arrival, from 1. */
  readonly number: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The start of the body, at most 64 KiB. */
  readonly body: string
  /** Undefined for an address that is not an endpoint. */
  readonly operation: Operation | undefined
  /** The type of an export. */
  readonly type: string | undefined
  /** The accountId that the token belongs to. */
  readonly account: number | undefined
  /** Status of the answer; undefined before the answer, and when the connection was closed. */
  readonly status: number | undefined
}

/** Records requests, and how many were concurrent. */
export interface Recorder {
  requests(): RecordedRequest[]
  clear(): void
  /** Records a request. The returned function sets the status of its answer. */
  record(request: Omit<RecordedRequest, 'number' | 'status'>): (status: number) => void
  /** Counts a request of the account as concurrent until `leave` is called. */
  enter(account: number): { underWay: number; leave: () => void }
  /** Highest number of concurrent requests of the account. */
  highWater(account: number): number
}

const MAX_REQUESTS = 1000
/** Characters of all recorded bodies together. */
const MAX_BODIES = 8 * 1024 * 1024

/** Creates a recorder that keeps the newest 1,000 requests. */
export function createRecorder(): Recorder {
  let requests: RecordedRequest[] = []
  let total = 0
  let bodies = 0
  const underWay = new Map<number, number>()
  const highest = new Map<number, number>()
  return {
    requests: () => [...requests],
    clear() {
      requests = []
      bodies = 0
      highest.clear()
    },
    record(request) {
      total += 1
      const recorded = { ...request, number: total, status: undefined as number | undefined }
      requests.push(recorded)
      bodies += request.body.length
      while (requests.length > MAX_REQUESTS || bodies > MAX_BODIES) {
        bodies -= requests.shift()?.body.length ?? 0
      }
      return (status) => {
        recorded.status = status
      }
    },
    enter(account) {
      const now = (underWay.get(account) ?? 0) + 1
      underWay.set(account, now)
      highest.set(account, Math.max(now, highest.get(account) ?? 0))
      return {
        underWay: now,
        leave: () => void underWay.set(account, (underWay.get(account) ?? 1) - 1),
      }
    },
    highWater: (account) => highest.get(account) ?? 0,
  }
}
