/**
 * Makes an archive of the present format: `node test/golden/make.ts <empty folder>`.
 *
 * `format-1` was made by this once. It is what every later dashkeep has to read, so it is never made
 * again; a newer format gets a folder of its own beside it.
 */

import { takeSnapshot } from '../../src/archive/take.ts'
import type { TakeOptions } from '../../src/archive/take-options.ts'
import { createSealer } from '../../src/datafile/encryption.ts'
import { createDirectoryStore } from '../../src/store/directory/store.ts'
import { exportBody, numbered, scriptSource } from '../archive/scripted-source.ts'
import { recipient } from './key.ts'

const [root = ''] = process.argv.slice(2)
const store = createDirectoryStore({ root })
const source = scriptSource({})
const types = ['search', 'visualization', 'dashboard']

async function take(
  dayOfMonth: number,
  searches: Record<string, string>,
  options: Partial<TakeOptions> = {},
): Promise<void> {
  const takenAt = new Date(Date.UTC(2026, 10, dayOfMonth, 3, 15))
  source.answers = {
    search: exportBody('search', searches),
    visualization: exportBody('visualization', { 'a/b:c "d" 😀': 'Übersicht', '': 'no id' }),
    dashboard: exportBody('dashboard', { shop: 'Shop' }, { kibanaVersion: '7.10.2' }),
  }
  await takeSnapshot(source, store, { takenAt, types, now: () => takenAt, ...options })
}

await take(1, numbered(5))
await take(2, numbered(5))
await take(3, numbered(6), { compression: 'gzip' })
await take(4, numbered(7), { compression: 'none' })
await take(5, numbered(8), { sealer: await createSealer({ recipients: [recipient] }) })
await take(6, numbered(1))
