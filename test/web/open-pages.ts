import { createLog } from '../../src/log.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { createApp } from '../../src/web/app.ts'
import { openLibrary } from '../../src/web/library.ts'
import type { LibraryOptions } from '../../src/web/library-options.ts'
import { type Access, createGate } from '../../src/web/security.ts'
import { fillArchive, hitOf, type Moment } from '../archive/archive-of.ts'

/** What the pages read: a store, on the day of November 2026 when its newest snapshot was taken. */
export function libraryOptions(store: ObjectStore, day: number): LibraryOptions {
  return {
    store,
    read: { signal: new AbortController().signal },
    configured: [],
    nameOf: (_id, recorded) => recorded,
    describe: ({ differences }) => differences.map(({ kind }) => kind),
    maxAgeMs: undefined,
    now: () => new Date(Date.UTC(2026, 10, day, 12)),
  }
}

/** Handlers of the pages over an archive in memory, with a browser that is let in. */
export async function openPages(
  moments: readonly Moment[],
  {
    access = { kind: 'token', port: 5338 },
    acceptFall = true,
    full = false,
    patienceMs = 60_000,
    ...options
  }: Partial<LibraryOptions> & {
    access?: Access
    acceptFall?: boolean
    full?: boolean
    patienceMs?: number
  } = {},
) {
  const archive = await fillArchive(moments, { acceptFall, full })
  const logged: string[] = []
  const log = await createLog({
    level: 'debug',
    stream: { write: (line: string) => void logged.push(line) },
    readable: false,
    colors: false,
  })
  const gate = createGate(access)
  const library = openLibrary(
    { ...libraryOptions(archive.store, moments.length), ...options },
    { patienceMs },
  )
  const app = createApp(library, { access, gate, log })
  const host = access.kind === 'token' ? `127.0.0.1:${access.port}` : access.origin.host
  const send = async (
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
    body?: string,
  ) =>
    app.request(`http://${host}${path}`, {
      method,
      headers: { host, ...headers },
      ...(body !== undefined && { body }),
    })
  let cookie = ''
  if (access.kind === 'token') {
    const opened = await send(`/open?token=${gate.token}`)
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  return {
    ...archive,
    app,
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
