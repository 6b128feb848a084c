import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { damageNoteName, listFolders } from '../../src/archive/archive.ts'
import { noteDamage } from '../../src/archive/damage-note.ts'
import { decodeManifest, encodeManifest } from '../../src/archive/manifest.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { copySnapshots } from '../../src/copy/copy-snapshots.ts'
import { planCopy } from '../../src/copy/plan-copy.ts'
import { planRepair, repairFiles } from '../../src/copy/repair.ts'
import { StoreError } from '../../src/store/errors.ts'
import { fillArchive, hitOf } from '../archive/archive-of.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'

const now = new Date('2026-11-20T00:00:00Z')
const moment = (title: string) => ({ search: [hitOf('search:a', { title })] })

/** An archive of three snapshots, of which the second shares the files of the first, and its copy. */
async function archiveWithCopy() {
  const { store: archive, manifests } = await fillArchive([moment('A'), moment('A'), moment('B')])
  const copy = createMemoryStore()
  const stores = { source: archive, target: copy }
  for await (const plan of planCopy(stores, { now })) {
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

  it('takes no manifest that a later one contradicts, and leaves sound files alone', async () => {
    const { archive, copy, shared } = await archiveWithCopy()
    forge(copy, shared)
    flip(archive, `${shared}/manifest.json`)
    const before = snapshotOf(archive)
    const { damaged } = await repair(archive, copy)
    expect(damaged).toMatchObject([
      {
        key: `${shared}/manifest.json`,
        unfit: expect.stringMatching(/^its SHA-256 is .* instead of/),
      },
    ])
    expect(snapshotOf(archive)).toEqual(before)
  })

  it('takes no newest manifest that does not describe the files of the archive', async () => {
    const { archive, copy, own } = await archiveWithCopy()
    forge(copy, own)
    flip(archive, `${own}/manifest.json`)
    const before = snapshotOf(archive)
    const { damaged } = await repair(archive, copy)
    expect(damaged).toMatchObject([
      { key: `${own}/manifest.json`, unfit: expect.stringContaining('nothing proves it') },
    ])
    remove(archive, `${own}/search.json.zst`)
    before.delete(`${own}/search.json.zst`)
    expect((await repair(archive, copy)).damaged).toMatchObject([
      { unfit: 'nothing proves it: the archive has none of its files' },
    ])
    expect(snapshotOf(archive)).toEqual(before)
  })

  it('mends both a manifest and its data file when a later manifest proves them', async () => {
    const { archive, copy, shared } = await archiveWithCopy()
    const sound = snapshotOf(archive)
    flip(archive, `${shared}/manifest.json`)
    flip(archive, `${shared}/search.json.zst`)
    await repair(archive, copy)
    expect(snapshotOf(archive)).toEqual(sound)
  })

  it('replaces a file that the archive cannot return', async () => {
    const { archive, copy, own } = await archiveWithCopy()
    const key = `${own}/search.json.zst`
    archive.intercept = (call) => {
      if (call.action === 'create' && call.key === key) archive.intercept = undefined
      if (call.action === 'open' && call.key === key)
        throw new StoreError('Cannot read: bad sector')
    }
    const { damaged, results } = await repair(archive, copy)
    expect(damaged).toMatchObject([{ key, problem: 'Cannot read: bad sector', unfit: undefined }])
    expect(results.map(({ defect }) => defect)).toEqual([undefined])
  })

  it.each(['search.json.zst', 'manifest.json'])(
    'does not bring back %s of a snapshot that is pruned before the repair is confirmed',
    async (name) => {
      const { archive, copy, shared, sharing } = await archiveWithCopy()
      remove(archive, `${shared}/${name}`)
      const stores = { source: copy, target: archive }
      const damaged = await Array.fromAsync(planRepair(stores))
      expect(damaged).toHaveLength(1)
      for (const key of [...archive.objects.keys()]) {
        if (key.startsWith(shared) || key.startsWith(sharing)) archive.objects.delete(key)
      }
      const before = snapshotOf(archive)
      expect(await Array.fromAsync(repairFiles(stores, damaged, { now }))).toEqual([])
      expect(snapshotOf(archive)).toEqual(before)
    },
  )

  it('replaces a file that another store did not keep while it was copied, so that a copy can go on', async () => {
    const { archive: source, copy } = await archiveWithCopy()
    const target = createMemoryStore()
    target.keep = (key, bytes) => (key.includes('search') ? bytes.subarray(1) : bytes)
    const copyAll = async () => {
      for await (const plan of planCopy({ source, target }, { now })) {
        await Array.fromAsync(copySnapshots({ source, target }, plan, { now }))
      }
    }
    await copyAll()
    target.keep = (_key, bytes) => bytes
    await repair(target, source)
    await copyAll()
    expect(snapshotOf(target)).toEqual(snapshotOf(copy))
  })

  it('keeps the files that a running backup has stored', async () => {
    const { archive, copy, own } = await archiveWithCopy()
    remove(archive, `${own}/manifest.json`)
    for (const key of [...copy.objects.keys()]) if (key.startsWith(own)) copy.objects.delete(key)
    const before = snapshotOf(archive)
    expect(await repair(archive, copy)).toEqual({ damaged: [], results: [] })
    expect(snapshotOf(archive)).toEqual(before)
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

/** Gives a snapshot of the copy another data file and a manifest that describes it. */
function forge({ objects }: MemoryStore, folder: string): void {
  const key = `${folder}/manifest.json`
  const manifest = decodeManifest(objects.get(key) ?? new Uint8Array(), key)
  const bytes = Buffer.from('forged')
  const stored = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  const exports = manifest.exports.map((one) => ({ ...one, file: { ...one.file, stored } }))
  objects.set(key, encodeManifest({ ...manifest, exports }))
  objects.set(`${folder}/search.json.zst`, bytes)
}

function cut({ objects }: MemoryStore, key: string): void {
  objects.set(key, (objects.get(key) ?? new Uint8Array()).slice(0, -3))
}

function remove({ objects }: MemoryStore, key: string): void {
  objects.delete(key)
}
