import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A POST that somebody received. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Receives webhooks, pings and pushes on this machine. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  /** All that came, in order, also what was answered with an error. */
  readonly received: readonly Received[]
  /** Paths of what came below a path, without it. */
  pathsBelow(path: string): string[]
  /** JSON bodies of what came to a path. */
  jsonAt(path: string): Record<string, unknown>[]
}

/** `answer` gives the status for each request, before anybody hears of it; 200 by default. */
export async function startReceiver(
  answer: (received: Received) => number | Promise<number> = () => 200,
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, body: await text(request) }
    const status = await answer(one)
    received.push(one)
    response.writeHead(status, { Location: '/elsewhere' }).end('a body nobody needs')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    pathsBelow: (path) =>
      received.filter((one) => one.path.startsWith(path)).map((one) => one.path.slice(path.length)),
    jsonAt: (path) =>
      received.filter((one) => one.path === path).map((one) => JSON.parse(one.body)),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
