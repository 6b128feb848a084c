import { createLog } from '../../src/log.ts'
import { createApp } from '../../src/web/app.ts'
import { type LibraryOptions, openLibrary } from '../../src/web/library.ts'
import { type Access, createGate } from '../../src/web/security.ts'
import { fillArchive, hitOf, type Moment } from '../archive/archive-of.ts'

/** Handlers of the pages over an archive in memory, with a browser that is let in. */
export async function openPages(
  moments: readonly Moment[],
  {
    access = { kind: 'token', port: 5338 },
    acceptFall = true,
    ...options
  }: Partial<LibraryOptions> & { access?: Access; acceptFall?: boolean } = {},
) {
  const archive = await fillArchive(moments, { acceptFall })
  const logged: string[] = []
  const log = await createLog({
    level: 'debug',
    stream: { write: (line: string) => void logged.push(line) },
    readable: false,
    colors: false,
  })
  const gate = createGate(access)
  const library = openLibrary({
    store: archive.store,
    read: { signal: new AbortController().signal },
    configured: [],
    nameOf: (_id, recorded) => recorded,
    describe: ({ differences }) => differences.map(({ kind }) => kind),
    maxAgeMs: undefined,
    now: () => new Date(Date.UTC(2026, 10, moments.length, 12)),
    ...options,
  })
  const app = createApp(library, { access, gate, log })
  const host = access.kind === 'token' ? `127.0.0.1:${access.port}` : access.origin.host
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.request(`http://${host}${path}`, { method, headers: { host, ...headers } })
  let cookie = ''
  if (access.kind === 'token') {
    const opened = await send(`/open?token=${gate.token}`)
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  return {
    ...archive,
    gate,
    logged,
    send,
    /** Asks as the browser that was let in. */
    get: (path: string) => send(path, { cookie }),
    cookie,
    async read(path: string) {
      const answer = await send(path, { cookie })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

/** A small account: a dashboard that shows a visualization of a search. */
export function smallShop({ title = 'Shop floor' } = {}): Moment {
  return {
    search: [hitOf('search:s1', { title: 'Failed orders', columns: ['a'] })],
    visualization: [
      hitOf('visualization:v1', {
        title: 'Orders per hour',
        savedSearchId: 's1',
        visState: '{"type":"line"}',
      }),
    ],
    dashboard: [
      hitOf('dashboard:d1', {
        title,
        panelsJSON: JSON.stringify([{ panelIndex: '1', type: 'visualization', id: 'v1' }]),
      }),
    ],
  }
}
