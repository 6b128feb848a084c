import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DashkeepError } from '../errors.ts'

/** Metrics and readiness of a long-running command, for its HTTP server. */
export interface HealthView {
  readonly metrics: {
    readonly contentType: string
    /** Everything in the text format of Prometheus. */
    text(): Promise<string>
  }
  /** Why the command is not ready; empty when it is ready. Public: contains no secret. */
  readonly unready: () => readonly string[]
}

/** The running server. Disposing closes it and all its connections. */
interface MetricsServer extends AsyncDisposable {
  /** Its address, with the actual port. */
  readonly url: string
}

/**
 * Serves `/metrics`, `/healthz` (always 200) and `/readyz` (200 when ready, else 503 with reasons).
 * Throws a `usage` error with this hint when it cannot listen on the address.
 */
export async function startServer(
  listen: string,
  view: HealthView,
  hint: string,
): Promise<MetricsServer> {
  const server = createServer(async ({ method, url }, response) => {
    const { status, body, type = 'text/plain; charset=utf-8' } = await answer(method, url, view)
    response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body)
  })
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(listen) ?? []
  server.listen(Number(port), host.replace(/^\[(.*)\]$/, '$1'))
  await once(server, 'listening').catch((cause: Error & { code?: string }) => {
    throw new DashkeepError(`Cannot listen on ${listen}: ${cause.code ?? cause.message}`, {
      kind: 'usage',
      hint,
      cause,
    })
  })
  const bound = server.address() as AddressInfo
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return {
    url: `http://${shown}:${bound.port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly type?: string
}

async function answer(
  method: string | undefined,
  url: string | undefined,
  { metrics, unready }: HealthView,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'GET only\n' }
  const [path] = (url ?? '').split('?')
  if (path === '/healthz') return { status: 200, body: 'alive\n' }
  if (path === '/metrics') {
    return { status: 200, body: await metrics.text(), type: metrics.contentType }
  }
  if (path !== '/readyz') return { status: 404, body: 'try /metrics, /healthz or /readyz\n' }
  const reasons = unready()
  if (reasons.length === 0) return { status: 200, body: 'ready\n' }
  return { status: 503, body: `not ready: ${reasons.join('; ')}\n` }
}
