import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import { copyPins, pinSnapshot, unpinSnapshot } from '../../src/archive/pins.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { readCopyLag } from '../../src/copy/copy-lag.ts'
import { type CopiedSnapshot, copySnapshots } from '../../src/copy/copy-snapshots.ts'
import { planCopy } from '../../src/copy/plan-copy.ts'
import { createSealer } from '../../src/datafile/encryption.ts'
import { StoreError } from '../../src/store/errors.ts'
import { fillArchive, hitOf } from '../archive/archive-of.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'

const now = new Date('2026-11-20T00:00:00Z')

const moments = [
  {
    search: [hitOf('search:a', { title: 'A' })],
    dashboard: [hitOf('dashboard:d', { title: 'D' })],
  },
  // The same objects again: this snapshot shares the files of the first.
  {
    search: [hitOf('search:a', { title: 'A' })],
    dashboard: [hitOf('dashboard:d', { title: 'D' })],
  },
  {
    search: [hitOf('search:a', { title: 'B' })],
    dashboard: [hitOf('dashboard:d', { title: 'D' })],
  },
]

async function copyAll(
  source: MemoryStore,
  target: MemoryStore,
  { newerOnly, signal }: { newerOnly?: boolean; signal?: AbortSignal } = {},
): Promise<CopiedSnapshot[]> {
  const results: CopiedSnapshot[] = []
  for await (const plan of planCopy({ source, target }, { newerOnly, now, signal })) {
    for await (const one of copySnapshots({ source, target }, plan, { now, signal })) {
      results.push(one)
    }
  }
  return results
}

/** Copies until a call of one store fails, the first one being 1. Returns whether all calls succeeded. */
async function copyUntil(
  stores: { source: MemoryStore; target: MemoryStore },
  side: keyof typeof stores,
  point: number,
  options: { newerOnly?: boolean } = {},
): Promise<boolean> {
  let calls = 0
  stores[side].intercept = () => {
    calls += 1
    if (calls >= point) throw new Error('killed')
  }
  try {
    await copyAll(stores.source, stores.target, options)
    return true
  } catch (error) {
    expect(error).toMatchObject({ message: expect.stringContaining('killed') })
    return false
  } finally {
    stores[side].intercept = undefined
  }
}

/** Every stored byte, by key. */
function contentOf({ objects }: MemoryStore): Record<string, string> {
  const entries = [...objects].map(([key, bytes]) => [key, Buffer.from(bytes).toString('latin1')])
  return Object.fromEntries(entries.sort())
}

/** The key of a data file of the first snapshot. */
function dataKey({ objects }: MemoryStore, type: string): string {
  return [...objects.keys()].sort().find((key) => key.includes(`/${type}.`)) as string
}

function flipByte({ objects }: MemoryStore, key: string): void {
  const bytes = Uint8Array.from(objects.get(key) ?? [])
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  objects.set(key, bytes)
}

describe('copying an archive', () => {
  it('makes an identical tree with the same metadata, which verifies by itself', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    const results = await copyAll(source, target)
    expect(results.map(({ defects }) => defects)).toEqual([[], [], []])
    expect(contentOf(target)).toEqual(contentOf(source))
    expect(target.metadata).toEqual(source.metadata)
    const verified = await Array.fromAsync(verifySnapshots(target, listFolders(target)))
    expect(verified.flatMap(({ defects }) => defects)).toEqual([])
  })

  it('writes data files before their manifest, and files before the snapshots that share them', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    await copyAll(source, target)
    const written = target.calls
      .filter(({ action }) => action === 'commit' || action === 'put')
      .map(({ key }) => key)
    const [first, second] = manifests.map(({ snapshot }) => `10/${snapshot}/manifest.json`)
    expect(written.indexOf(first as string)).toBeLessThan(written.indexOf(second as string))
    for (const key of written.filter((one) => !one.endsWith('manifest.json'))) {
      const manifest = key.replace(/[^/]+$/, 'manifest.json')
      expect(written.indexOf(key)).toBeLessThan(written.indexOf(manifest))
    }
  })

  it('sends two listings and nothing else when nothing is missing, and never deletes', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    await copyAll(source, target)
    source.calls.length = 0
    expect(target.calls.filter(({ action }) => action === 'remove')).toEqual([])
    target.calls.length = 0
    expect(await copyAll(source, target)).toEqual([])
    expect([...source.calls, ...target.calls].map(({ action }) => action)).toEqual(['list', 'list'])
  })

  it('continues after it was ended at any of more than 100 calls of the stores', async () => {
    const titles = ['A', 'A', 'B', 'C', 'C', 'D', 'E', 'F', 'G', 'H']
    const { store: source } = await fillArchive(
      titles.map((title) => ({ search: [hitOf('search:a', { title })], dashboard: [] })),
    )
    let ended = 0
    for (const side of ['source', 'target'] as const) {
      for (let point = 1; ; point += 1) {
        const target = createMemoryStore()
        const isDone = await copyUntil({ source, target }, side, point)
        for await (const folder of listFolders(target)) {
          if (!folder.complete) continue
          const [verified] = await Array.fromAsync(verifySnapshots(target, [folder]))
          expect(verified?.defects).toEqual([])
        }
        await copyAll(source, target)
        expect(contentOf(target)).toEqual(contentOf(source))
        if (isDone) break
        ended += 1
      }
    }
    expect(ended).toBeGreaterThan(100)
  })

  it('copies no damaged file and nothing that needs it, and names it', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const key = dataKey(source, 'dashboard')
    flipByte(source, key)
    const target = createMemoryStore()
    const results = await copyAll(source, target)
    expect(results.map(({ defects }) => defects.map((one) => [one.side, one.key]))).toEqual([
      [['source', key]],
      [],
      [['target', `10/${manifests[0].snapshot}/manifest.json`]],
    ])
    expect(target.objects.has(key)).toBe(false)
    const folders = await Array.fromAsync(listFolders(target))
    const complete = folders.filter((folder) => folder.complete).map(({ snapshot }) => snapshot)
    expect(complete).toEqual([manifests[2]?.snapshot])
  })

  it('copies no snapshot whose manifest is damaged', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const key = `10/${manifests[0].snapshot}/manifest.json`
    flipByte(source, key)
    const target = createMemoryStore()
    const results = await copyAll(source, target)
    expect(results[0]?.defects).toMatchObject([{ side: 'source', key }])
    expect([...target.objects.keys()].filter((one) => one.includes(manifests[0].snapshot))).toEqual(
      [],
    )
  })

  it('overwrites no file of the copy that differs, and names it', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    const key = dataKey(source, 'search')
    target.objects.set(key, Buffer.from('something else'))
    const [first] = await copyAll(source, target)
    expect(first?.defects).toMatchObject([{ side: 'target', key }])
    expect(Buffer.from(target.objects.get(key) ?? []).toString()).toBe('something else')
  })

  it('finds a store that returns other bytes than it was given', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    target.keep = (key, bytes) => (key.includes('search') ? bytes.subarray(1) : bytes)
    const results = await copyAll(source, target)
    const sides = results.flatMap(({ defects }) => defects.map(({ side }) => side))
    expect(new Set(sides)).toEqual(new Set(['target']))
    expect([...target.objects.keys()].filter((key) => key.endsWith('manifest.json'))).toEqual([])
  })

  it('passes over a snapshot that is pruned meanwhile', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    target.intercept = () => {
      target.intercept = undefined
      for (const key of [...source.objects.keys()]) {
        if (key.includes(manifests[2]?.snapshot ?? '')) source.objects.delete(key)
      }
    }
    const plans = await Array.fromAsync(planCopy({ source, target }, { now }))
    const copies = plans.map((plan) =>
      Array.fromAsync(copySnapshots({ source, target }, plan, { now })),
    )
    const results = (await Promise.all(copies)).flat()
    expect(results.map(({ defects }) => defects)).toEqual([[], []])
  })

  it('does not bring back what was pruned from a copy that takes newer snapshots only', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    await copyAll(source, target)
    for await (const plan of planPrune(target, { last: 1 }, { now })) {
      await Array.fromAsync(applyPrune(target, plan, { now }))
    }
    const left = contentOf(target)
    expect(await copyAll(source, target, { newerOnly: true })).toEqual([])
    expect(contentOf(target)).toEqual(left)
    await copyAll(source, target)
    expect(contentOf(target)).toEqual(contentOf(source))
  })

  it.each(['source', 'target'] as const)(
    'leaves no gap when a copy of newer snapshots only is ended at any call of the %s',
    async (side) => {
      const titles = ['A', 'A', 'B', 'C', 'C', 'D']
      const { store: source } = await fillArchive(
        titles.map((title) => ({ search: [hitOf('search:a', { title })] })),
      )
      for (let point = 1; ; point += 1) {
        const target = createMemoryStore()
        const isDone = await copyUntil({ source, target }, side, point, { newerOnly: true })
        await copyAll(source, target, { newerOnly: true })
        expect(contentOf(target)).toEqual(contentOf(source))
        if (!isDone) continue
        expect(point).toBeGreaterThan(10)
        break
      }
    },
  )

  it('tries a snapshot of a copy with newer snapshots only again when the store did not keep it', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    target.keep = (key, bytes) => (key.includes(manifests[0].snapshot) ? undefined : bytes)
    const results = await copyAll(source, target, { newerOnly: true })
    expect(results).toMatchObject([{ snapshot: manifests[0].snapshot, files: 0 }])
    target.keep = (_key, bytes) => bytes
    await copyAll(source, target, { newerOnly: true })
    expect(contentOf(target)).toEqual(contentOf(source))
  })

  it('does not take a snapshot from the future as the newest of the copy', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    const future = `10/20991231T000000Z-abcdef/manifest.json`
    target.objects.set(future, Buffer.from('{}'))
    await copyAll(source, target, { newerOnly: true })
    target.objects.delete(future)
    expect(contentOf(target)).toEqual(contentOf(source))
    target.objects.set(future, Buffer.from('{}'))
    const [lag] = await Array.fromAsync(readCopyLag({ source, target }, { now }))
    expect(lag).toMatchObject({ missing: 0, newest: { snapshot: manifests[2]?.snapshot } })
  })

  it('does not count files of other programs, on either side', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    const folder = `10/${manifests[0].snapshot}`
    source.objects.set(`${folder}/.DS_Store`, Buffer.from('x'))
    target.objects.set(`${folder}/notes.txt`, Buffer.from('x'))
    await copyAll(source, target)
    expect(target.objects.has(`${folder}/.DS_Store`)).toBe(false)
    expect(await copyAll(source, target)).toEqual([])
  })

  it.each(['source', 'target'] as const)(
    'copies a snapshot and names a file in it that no manifest describes, in the %s',
    async (side) => {
      const { store: source, manifests } = await fillArchive(moments)
      const target = createMemoryStore()
      const key = `10/${manifests[0].snapshot}/search.json`
      const stores = { source, target }
      stores[side].objects.set(key, Buffer.from('{}'))
      const results = await copyAll(source, target)
      expect(results.flatMap(({ defects }) => defects)).toEqual([
        { side, key, problem: 'no manifest describes this file' },
      ])
      stores[side].objects.delete(key)
      expect(contentOf(target)).toEqual(contentOf(source))
    },
  )

  it.each([
    ['cut short', (bytes: Uint8Array) => bytes.subarray(1), /^it has \d+ bytes instead of \d+$/],
    ['lost', () => undefined, /^it is not there$/],
  ])('names a file that the archive has %s since it was copied', async (_what, damage, problem) => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    await copyAll(source, target)
    const before = contentOf(target)
    const key = dataKey(source, 'search')
    const left = damage(source.objects.get(key) ?? new Uint8Array())
    if (left) source.objects.set(key, left)
    else source.objects.delete(key)
    const results = await copyAll(source, target)
    expect(results.flatMap(({ defects }) => defects)).toEqual([
      { side: 'source', key, problem: expect.stringMatching(problem) },
    ])
    expect(contentOf(target)).toEqual(before)
  })

  it('names a file that the archive cannot return, and copies the other snapshots', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const key = dataKey(source, 'dashboard')
    source.intercept = (call) => {
      if (call.action === 'open' && call.key === key)
        throw new StoreError('Cannot read: bad sector')
    }
    const target = createMemoryStore()
    const results = await copyAll(source, target)
    const [first] = results.filter(({ snapshot }) => snapshot === manifests[0].snapshot)
    expect(first?.defects).toEqual([{ side: 'source', key, problem: 'Cannot read: bad sector' }])
    expect([...target.objects.keys()]).toContain(`10/${manifests[2]?.snapshot}/manifest.json`)
  })

  it('ends when the copy cannot be written', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    target.intercept = ({ action }) => {
      if (action === 'write') throw new StoreError('Cannot write: the disk is full')
    }
    await expect(copyAll(source, target)).rejects.toThrow('the disk is full')
  })

  it('needs no key for encrypted snapshots', async () => {
    const recipients = [await identityToRecipient(await generateIdentity())]
    const sealer = await createSealer({ recipients })
    const { store: source } = await fillArchive(moments.slice(0, 1), { sealer })
    const target = createMemoryStore()
    await copyAll(source, target)
    expect(contentOf(target)).toEqual(contentOf(source))
  })

  it('begins locks at the moment of the copy, also those of shared files', async () => {
    const { store: source } = await fillArchive(moments)
    const target = createMemoryStore()
    target.lockMs = 86_400_000
    await copyAll(source, target)
    const ends = new Set([...target.locks.values()].map((end) => end.toISOString()))
    expect([...ends]).toEqual(['2026-11-21T00:00:00.000Z'])
    expect(target.locks.size).toBe(target.objects.size)
  })

  it('extends the locks of files that an earlier run copied', async () => {
    const { store: source } = await fillArchive(moments.slice(0, 1))
    const target = createMemoryStore()
    target.lockMs = 86_400_000
    const key = dataKey(source, 'search')
    await target.put(key, source.objects.get(key) ?? new Uint8Array(), {
      lockFrom: new Date('2026-11-10T00:00:00Z'),
    })
    await copyAll(source, target)
    expect(target.locks.get(key)).toEqual(new Date('2026-11-21T00:00:00Z'))
  })

  it('copies pins that the copy lacks, and keeps those it has', async () => {
    const { store: source, manifests } = await fillArchive(moments)
    const target = createMemoryStore()
    const [first, second] = manifests.map(({ snapshot }) => snapshot)
    const pin = { accountId: 10, pinnedAt: now, note: 'audit' }
    await pinSnapshot(source, { ...pin, snapshot: first as string })
    expect(await copyPins({ source, target }, {})).toBe(1)
    await unpinSnapshot(source, 10, first as string)
    await pinSnapshot(source, { ...pin, snapshot: second as string })
    expect(await copyPins({ source, target }, { only: new Set([10]) })).toBe(1)
    expect([...target.objects.keys()].sort()).toEqual(
      [first, second].map((snapshot) => `pins/10/${snapshot}`),
    )
  })
})
