import type { SnapshotFolder } from '../../src/archive/archive.ts'
import { listFolders } from '../../src/archive/archive.ts'
import type { Manifest } from '../../src/archive/manifest.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import type { Sealer } from '../../src/datafile/encryption.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { scriptSource } from './scripted-source.ts'

/** What an account holds at one time: by type, hits or the body of an export. */
export type Moment = Record<string, readonly object[] | string>

/** An archive with a snapshot for each moment, a day apart from 1 November 2026 on. */
export interface FilledArchive {
  readonly store: MemoryStore
  readonly manifests: readonly [Manifest, ...Manifest[]]
  folders(): Promise<SnapshotFolder[]>
}

export async function fillArchive(
  moments: readonly Moment[],
  {
    sealer,
    full,
    acceptFall = true,
    accountId = 10,
  }: { sealer?: Sealer; full?: boolean; acceptFall?: boolean; accountId?: number } = {},
): Promise<FilledArchive> {
  const store = createMemoryStore()
  const manifests: Manifest[] = []
  for (const [day, moment] of moments.entries()) {
    const answers = Object.entries(moment).map(([type, hits]) => [
      type,
      typeof hits === 'string' ? hits : JSON.stringify({ kibanaVersion: '7.10.2', hits }),
    ])
    const source = scriptSource(Object.fromEntries(answers))
    source.account = { ...source.account, accountId }
    const { manifest } = await takeSnapshot(source, store, {
      takenAt: new Date(Date.UTC(2026, 10, 1 + day)),
      types: Object.keys(moment),
      sealer,
      full,
      acceptFall,
    })
    manifests.push(manifest)
  }
  const folders = () => Array.fromAsync(listFolders(store))
  return { store, manifests: manifests as [Manifest, ...Manifest[]], folders }
}

/** A hit in the newer form. */
export function hitOf(id: string, object: object, more: object = {}): object {
  const type = id.slice(0, id.indexOf(':'))
  return { _type: '_doc', _id: id, _score: 1, _source: { type, [type]: object, ...more } }
}
