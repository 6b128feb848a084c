import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What goes wrong on the way, once so many bytes have gone in one direction, by all connections. */
export interface WireFault {
  /** Cut ends the connection without a word; in a black hole nothing arrives any more. */
  readonly kind: 'cut' | 'blackhole'
  readonly direction: 'up' | 'down'
  readonly afterBytes: number
  /** Whether later connections fare the same from their first byte on. */
  readonly lasting: boolean
}

/** A way to a server on which things can go wrong. */
export interface TcpProxy extends AsyncDisposable {
  readonly url: string
  /** Bytes that have been sent up and down. */
  bytes(): Readonly<Record<WireFault['direction'], number>>
}

/** Starts a proxy on a free port of the loopback interface. Dispose it to stop it. */
export async function startTcpProxy(
  target: { host: string; port: number },
  { fault, latencyMs = 0 }: { fault?: WireFault | undefined; latencyMs?: number | undefined } = {},
): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const bytes = { up: 0, down: 0 }
  let isSpent = false

  const server = createServer((client) => {
    const upstream = connect(target)
    const pair = [client, upstream]
    const end = () => {
      for (const socket of pair) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of pair) {
      sockets.add(socket)
      socket.on('close', end).on('error', end)
    }
    forward(client, upstream, 'up', end)
    forward(upstream, client, 'down', end)
  })

  function forward(from: Socket, to: Socket, direction: WireFault['direction'], end: () => void) {
    let isSwallowed = false
    from.on('data', (chunk: Buffer) => {
      const passing = isSwallowed ? 0 : howManyPass(direction, chunk.length)
      bytes[direction] += chunk.length
      if (passing > 0) later(() => to.write(chunk.subarray(0, passing)))
      if (passing === chunk.length) return
      if (!fault?.lasting) isSpent = true
      isSwallowed = true
      if (fault?.kind === 'cut') later(end)
    })
    from.on('end', () => later(() => to.end()))
  }

  function howManyPass(direction: WireFault['direction'], length: number): number {
    if (fault === undefined || isSpent || fault.direction !== direction) return length
    return Math.min(length, Math.max(0, fault.afterBytes - bytes[direction]))
  }

  function later(act: () => void): void {
    if (latencyMs > 0) setTimeout(act, latencyMs)
    else act()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
