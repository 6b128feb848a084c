import type { Operation } from './faults.ts'

/** A request the sandbox received, for tests to look at. Tokens are not kept. */
export interface RecordedRequest {
  /** Place in the order of arrival, from 1. */
  readonly number: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, at most 64 KiB of it. */
  readonly body: string
  /** Undefined for an address that is no endpoint. */
  readonly operation: Operation | undefined
  /** The type an export asks for. */
  readonly type: string | undefined
  /** The accountId the token belongs to. */
  readonly account: number | undefined
  /** Status of the answer; undefined while there is none, and when the connection was cut. */
  readonly status: number | undefined
}

/** What has been asked of the sandbox, and how much of it at once. */
export interface Recorder {
  requests(): RecordedRequest[]
  clear(): void
  /** Records a request; the function returned sets the status of its answer. */
  record(request: Omit<RecordedRequest, 'number' | 'status'>): (status: number) => void
  /** Counts a request of the account until the function returned is called. */
  enter(account: number): { underWay: number; leave: () => void }
  /** The most requests the account had under way at once. */
  highWater(account: number): number
}

const MAX_REQUESTS = 1000
/** Characters of all bodies together. */
const MAX_BODIES = 8 * 1024 * 1024

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
