import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How a proxy behaves; as it should by default. */
export interface HttpProxyOptions {
  /** `user:password` that it wants. */
  readonly credentials?: string
  /** A status that it answers to every request, or `hang` and `hang up`. */
  readonly answer?: number | 'hang' | 'hang up'
  /** Key and certificate in PEM, for a proxy that is spoken to over TLS. */
  readonly tls?: string
}

/** A proxy on this machine, to which every host name below `dashkeep.test` is this machine. */
export interface TestProxy extends AsyncDisposable {
  readonly port: number
  /** Method and target of every request, such as `CONNECT service.dashkeep.test:443`. */
  readonly requests: readonly string[]
}

export async function startHttpProxy(options: HttpProxyOptions = {}): Promise<TestProxy> {
  const requests: string[] = []
  const sockets = new Set<Duplex>()
  const server = options.tls
    ? createSecureServer({ key: options.tls, cert: options.tls })
    : createServer()
  const statusFor = ({ method, url, headers }: IncomingMessage) => {
    requests.push(`${method} ${url}`)
    const wanted = options.credentials && `Basic ${btoa(options.credentials)}`
    if (wanted && headers['proxy-authorization'] !== wanted) return 407
    return options.answer
  }
  server.on('connection', (socket: Duplex) => sockets.add(socket))
  server.on('connect', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {})
    const status = statusFor(incoming)
    if (status === 'hang') return
    if (status === 'hang up') return socket.destroy()
    if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const { hostname, port } = new URL(`http://${incoming.url}`)
    join(socket, head, connect(Number(port || 80), resolve(hostname)))
  })
  server.on('request', (incoming, response) => {
    const status = statusFor(incoming)
    if (status === 'hang') return
    if (status === 'hang up') return void response.destroy()
    if (status !== undefined) return void response.writeHead(status).end()
    const { hostname, port, pathname, search } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    const to = { host: resolve(hostname), port, path: pathname + search, method, headers }
    incoming.pipe(
      request(to, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(response)
      }).on('error', () => response.writeHead(502).end()),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function resolve(host: string): string {
  return host.endsWith('.dashkeep.test') ? '127.0.0.1' : host
}

function join(socket: Duplex, head: Buffer, upstream: Socket): void {
  upstream.on('connect', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    upstream.write(head)
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
  upstream.on('close', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
}
