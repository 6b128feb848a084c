import { describe, expect, it } from 'vitest'
import { damageNoteName, listFolders } from '../../src/archive/archive.ts'
import { noteDamage } from '../../src/archive/damage-note.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { copySnapshots } from '../../src/copy/copy-snapshots.ts'
import { planCopy } from '../../src/copy/plan-copy.ts'
import { planRepair, repairFiles } from '../../src/copy/repair.ts'
import { fillArchive, hitOf } from '../archive/archive-of.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'

const now = new Date('2026-11-20T00:00:00Z')
const moment = (title: string) => ({ search: [hitOf('search:a', { title })] })

/** An archive of three snapshots, of which the second shares the files of the first, and its copy. */
async function archiveWithCopy() {
  const { store: archive, manifests } = await fillArchive([moment('A'), moment('A'), moment('B')])
  const copy = createMemoryStore()
  const stores = { source: archive, target: copy }
  for await (const plan of planCopy(stores)) {
    await Array.fromAsync(copySnapshots(stores, plan, { now }))
  }
  const [shared, sharing, own] = manifests.map(({ snapshot }) => `10/${snapshot}`)
  return { archive, copy, shared, sharing, own } as {
    archive: MemoryStore
    copy: MemoryStore
    shared: string
    sharing: string
    own: string
  }
}

async function repair(archive: MemoryStore, copy: MemoryStore) {
  const stores = { source: copy, target: archive }
  const damaged = await Array.fromAsync(planRepair(stores))
  const results = await Array.fromAsync(repairFiles(stores, damaged, { now }))
  return { damaged, results }
}

async function defectsOf(store: MemoryStore) {
  const verified = await Array.fromAsync(verifySnapshots(store, listFolders(store)))
  return verified.flatMap(({ defects }) => defects)
}

function snapshotOf(archive: MemoryStore): Map<string, string> {
  return new Map(
    [...archive.objects].map(([key, bytes]) => [key, Buffer.from(bytes).toString('hex')]),
  )
}

describe('repairing an archive from a copy', () => {
  it.each([
    ['a flipped byte of a data file', 'shared', 'search.json.zst', flip],
    ['a data file cut short', 'own', 'search.json.zst', cut],
    ['a missing data file that two snapshots share', 'shared', 'search.json.zst', remove],
    ['a flipped byte of a manifest', 'own', 'manifest.json', flip],
    ['a missing manifest of a folder whose files are shared', 'shared', 'manifest.json', remove],
  ] as const)('mends %s', async (_what, folder, name, damage) => {
    const place = await archiveWithCopy()
    const { archive, copy } = place
    const sound = snapshotOf(archive)
    const key = `${place[folder]}/${name}`
    damage(archive, key)
    const { damaged, results } = await repair(archive, copy)
    expect(damaged.map((one) => one.key)).toEqual([key])
    expect(results.map(({ defect }) => defect)).toEqual([undefined])
    expect(snapshotOf(archive)).toEqual(sound)
    expect(await defectsOf(archive)).toEqual([])
  })

  it('writes nothing when nothing is damaged', async () => {
    const { archive, copy } = await archiveWithCopy()
    archive.calls.length = 0
    expect(await repair(archive, copy)).toEqual({ damaged: [], results: [] })
    expect(new Set(archive.calls.map(({ action }) => action))).toEqual(
      new Set(['list', 'get', 'open']),
    )
  })

  it('takes no damaged file from the copy', async () => {
    const { archive, copy, own } = await archiveWithCopy()
    const key = `${own}/search.json.zst`
    flip(archive, key)
    flip(copy, key)
    const before = snapshotOf(archive)
    const { damaged, results } = await repair(archive, copy)
    expect(damaged).toMatchObject([{ key, unfit: expect.stringContaining('SHA-256') }])
    expect(results).toEqual([])
    expect(snapshotOf(archive)).toEqual(before)
  })

  it('takes the note of damage away when all files of the folder are sound', async () => {
    const { archive, copy, shared } = await archiveWithCopy()
    const [, snapshot = ''] = shared.split('/')
    flip(archive, `${shared}/search.json.zst`)
    const files = [{ name: 'search.json.zst', problem: 'its SHA-256 is another one' }]
    await noteDamage(
      archive,
      { accountId: 10, snapshot, files },
      { foundAt: now, signal: undefined },
    )
    await repair(archive, copy)
    expect(archive.objects.has(`${shared}/${damageNoteName}`)).toBe(false)
  })

  it('leaves the note of damage when a file cannot be replaced', async () => {
    const { archive, copy, shared } = await archiveWithCopy()
    const [, snapshot = ''] = shared.split('/')
    const key = `${shared}/search.json.zst`
    flip(archive, key)
    flip(copy, key)
    await noteDamage(
      archive,
      { accountId: 10, snapshot, files: [] },
      { foundAt: now, signal: undefined },
    )
    await repair(archive, copy)
    expect(archive.objects.has(`${shared}/${damageNoteName}`)).toBe(true)
  })

  it('does not bring back the files of a snapshot that is pruned meanwhile', async () => {
    const { archive, copy, own } = await archiveWithCopy()
    archive.intercept = ({ action, key }) => {
      if (action !== 'open' || !key.startsWith(own)) return
      archive.intercept = undefined
      for (const gone of [...archive.objects.keys()]) {
        if (gone.startsWith(own)) archive.objects.delete(gone)
      }
    }
    expect(await repair(archive, copy)).toEqual({ damaged: [], results: [] })
  })
})

function flip({ objects }: MemoryStore, key: string): void {
  const bytes = Uint8Array.from(objects.get(key) ?? [])
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  objects.set(key, bytes)
}

function cut({ objects }: MemoryStore, key: string): void {
  objects.set(key, (objects.get(key) ?? new Uint8Array()).slice(0, -3))
}

function remove({ objects }: MemoryStore, key: string): void {
  objects.delete(key)
}
