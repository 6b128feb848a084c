import type { ObjectStore } from '../../src/store/object-store.ts'
import type { LibraryOptions } from '../../src/web/library-options.ts'
import type { Access } from '../../src/web/security.ts'
import { fillArchive, hitOf, type Moment } from '../archive/archive-of.ts'
import { keepLog, openApp } from './open-app.ts'

/** What the pages read: a store, on the day of November 2026 when its newest snapshot was taken. */
export function libraryOptions(store: ObjectStore, day: number): LibraryOptions {
  return {
    store,
    read: { signal: new AbortController().signal },
    configured: [],
    nameOf: (_id, recorded) => recorded,
    describe: ({ differences }) => differences.map(({ kind }) => kind),
    maxAgeMs: undefined,
    maxProofAgeMs: undefined,
    copies: [],
    now: () => new Date(Date.UTC(2026, 10, day, 12)),
  }
}

/** The pages of an archive in memory. */
export async function openPages(
  moments: readonly Moment[],
  {
    access,
    acceptFall = true,
    full = false,
    patienceMs,
    ...options
  }: Partial<LibraryOptions> & {
    access?: Access
    acceptFall?: boolean
    full?: boolean
    patienceMs?: number
  } = {},
) {
  const archive = await fillArchive(moments, { acceptFall, full })
  const { log, logged } = await keepLog()
  const library = { ...libraryOptions(archive.store, moments.length), ...options }
  return { ...archive, logged, ...(await openApp(library, { access, patienceMs, log })) }
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
