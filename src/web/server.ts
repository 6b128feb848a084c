import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { createApp } from './app.ts'
import { openLibrary } from './library.ts'
import type { LibraryOptions } from './library-options.ts'
import type { RestoreDesk } from './restore/desk.ts'
import { openRestores } from './restore/restores.ts'
import { type Access, answerHeaders, createGate } from './security.ts'

/** A proxy that authenticates the users. */
export interface UserProxy {
  /** The address under which users reach the pages. */
  readonly origin: URL
  /** The header in which the proxy names the user. */
  readonly userHeader: string
}

/**
 * The running server. Disposing closes it, whoever is still connected, and waits for restores to end:
 * abort the signal of the library first.
 */
interface WebServer extends AsyncDisposable {
  /** What to open in a browser: with the one-time token, or the public address behind a proxy. */
  readonly address: string
}

/** Serves the pages. Throws a `usage` error when it cannot listen there. */
export async function startWeb(
  options: LibraryOptions,
  {
    listen,
    proxy,
    desk,
    log,
  }: {
    listen: string
    proxy: UserProxy | undefined
    /** Undefined when the pages are read only. */
    desk?: RestoreDesk | undefined
    log: Logger
  },
): Promise<WebServer> {
  let app: ReturnType<typeof createApp> | undefined
  const server = createAdaptorServer({
    fetch: (request, env) => app?.fetch(request, env) ?? new Response(null, { status: 503 }),
    overrideGlobalObjects: false,
  }) as Server
  // Requests with an invalid `Host` are answered before any handler of the pages.
  server.prependListener('request', (_request, response) => {
    for (const [name, value] of Object.entries(answerHeaders)) response.setHeader(name, value)
  })
  const port = await listenOn(server, listen)
  const access: Access = proxy ? { kind: 'proxy', ...proxy } : { kind: 'token', port }
  const gate = createGate(access)
  const library = openLibrary(options)
  // The first page is asked for a moment later.
  void library.overview.refresh()
  const restores = desk && openRestores(desk, options)
  app = createApp(library, { access, gate, log, restores })
  return {
    address: proxy
      ? `${proxy.origin.origin}/`
      : `http://127.0.0.1:${port}/open?token=${gate.token}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await restores?.registry.settled()
    },
  }
}

async function listenOn(server: Server, listen: string): Promise<number> {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(listen) ?? []
  try {
    server.listen(Number(port), host.replace(/^\[(.*)\]$/, '$1'))
    await once(server, 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new DashkeepError(`Cannot listen on ${listen}: ${code ?? message}`, {
      kind: 'usage',
      hint: 'choose another port with --listen 127.0.0.1:PORT; port 0 takes a free one',
      cause: error,
    })
  }
  return (server.address() as AddressInfo).port
}
