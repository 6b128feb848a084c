import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'

/** Requests of one kind: `PUT`, `GET`, `HEAD`, `LIST` (of keys), `LIST uploads`, `DELETE`. */
export type RequestCounts = Record<string, number>

/** Counts the requests that this process sends to an S3 server while something is done. */
export async function countRequests<T>(
  endpoint: string,
  act: () => Promise<T>,
): Promise<{ result: T; requests: RequestCounts }> {
  const requests: RequestCounts = {}
  const { host } = new URL(endpoint)
  const see = (message: unknown): void => {
    const { request } = message as { request: ClientRequest }
    if (request.getHeader('host') !== host) return
    const kind = kindOf(request)
    requests[kind] = (requests[kind] ?? 0) + 1
  }
  subscribe('http.client.request.start', see)
  try {
    return { result: await act(), requests }
  } finally {
    unsubscribe('http.client.request.start', see)
  }
}

function kindOf({ method, path }: ClientRequest): string {
  if (/[?&]list-type=/.test(path)) return 'LIST'
  return /[?&]uploads=/.test(path) ? 'LIST uploads' : method
}
