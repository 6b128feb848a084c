import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers one request, in whatever broken way a test needs. */
export type Scene = (response: ServerResponse, request: ReceivedRequest) => void

/** A server that plays scenes in order, one for each request; the last one repeats. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly requests: readonly ReceivedRequest[]
  /** How many connections there have been. */
  readonly connections: number
  /** Connections that are open now. */
  openConnections(): Promise<number>
}

export async function startScriptedServer(
  scenes: readonly Scene[],
  { port = 0 }: { port?: number } = {},
): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming
    const chunks = await incoming.toArray()
    const request = { method, path, headers, body: Buffer.concat(chunks).toString() }
    const scene = scenes[Math.min(requests.length, scenes.length - 1)]
    requests.push(request)
    scene?.(response, request)
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${ownPort}`,
    port: ownPort,
    requests,
    get connections() {
      return connections
    },
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers with JSON. */
export function json(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Scene {
  return text(JSON.stringify(body), {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
  })
}

/** Answers with these characters or bytes, and their Content-Length. */
export function text(
  body: string | Uint8Array,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Scene {
  return (response) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers })
    response.end(body)
  }
}

/** Sends some of the body, then destroys the connection. */
export function cutOff(
  start: string | Uint8Array,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Scene {
  return (response) => {
    response.writeHead(200, headers)
    response.write(start, () => setTimeout(() => response.destroy(), 20))
  }
}

/** Destroys the connection before any answer. */
export const hangUp: Scene = (response) => response.destroy()

/** Never answers. */
export const silence: Scene = () => {}

export const account = { accountId: 4711, accountName: 'Production' }

export const smallExport = {
  kibanaVersion: '7.0.0',
  hits: [
    {
      _index: 'objects',
      _type: 'doc',
      _id: 'dashboard:a:b',
      _score: 1,
      _source: { type: 'dashboard', dashboard: { title: 'Latency' } },
    },
  ],
}
