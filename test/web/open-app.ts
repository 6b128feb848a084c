import { createLog, type Logger } from '../../src/log.ts'
import { createApp } from '../../src/web/app.ts'
import { openLibrary } from '../../src/web/library.ts'
import type { LibraryOptions } from '../../src/web/library-options.ts'
import type { RestoreDesk } from '../../src/web/restore/desk.ts'
import { openRestores } from '../../src/web/restore/restores.ts'
import { type Access, createGate } from '../../src/web/security.ts'

/** A log that keeps its lines. */
export async function keepLog(): Promise<{ log: Logger; logged: string[] }> {
  const logged: string[] = []
  const stream = { write: (line: string) => void logged.push(line) }
  return {
    logged,
    log: await createLog({ level: 'debug', stream, readable: false, colors: false }),
  }
}

/** Handlers of the pages, and a reader who is let in: a browser, or `anna` behind a proxy. */
export async function openApp(
  options: LibraryOptions,
  {
    access = { kind: 'token', port: 5338 },
    patienceMs = 60_000,
    log,
    desk,
  }: {
    access?: Access | undefined
    patienceMs?: number | undefined
    log: Logger
    desk?: RestoreDesk | undefined
  },
) {
  const gate = createGate(access)
  const library = openLibrary(options, { patienceMs })
  const restores = desk && openRestores(desk, options)
  const app = createApp(library, { access, gate, log, restores })
  const host = access.kind === 'token' ? `127.0.0.1:${access.port}` : access.origin.host
  const send = async (
    path: string,
    headers: Record<string, string> = {},
    request: { method?: string; body?: string } = {},
  ) => app.request(`http://${host}${path}`, { ...request, headers: { host, ...headers } })
  const own: Record<string, string> =
    access.kind === 'proxy' ? { [access.userHeader]: 'anna' } : { cookie: await letIn() }

  async function letIn(): Promise<string> {
    const opened = await send(`/open?token=${gate.token}`)
    return opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  return {
    app,
    gate,
    restores,
    send,
    /** The headers of the reader. */
    own,
    /** Asks as the reader who is let in. */
    get: (path: string) => send(path, own),
    async read(path: string, headers: Record<string, string> = own) {
      const answer = await send(path, headers)
      return { status: answer.status, text: await answer.text() }
    },
  }
}
