import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import { copyPins, pinSnapshot, unpinSnapshot } from '../../src/archive/pins.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { type CopiedSnapshot, copySnapshots } from '../../src/copy/copy-snapshots.ts'
import { planCopy } from '../../src/copy/plan-copy.ts'
import { createSealer } from '../../src/datafile/encryption.ts'
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
  for await (const plan of planCopy({ source, target }, { newerOnly, signal })) {
    for await (const one of copySnapshots({ source, target }, plan, { now, signal })) {
      results.push(one)
    }
  }
  return results
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
        const broken = side === 'source' ? source : target
        let calls = 0
        broken.intercept = () => {
          calls += 1
          if (calls >= point) throw new Error('killed')
        }
        const failure = await copyAll(source, target).then(
          () => undefined,
          (error: Error) => error,
        )
        broken.intercept = undefined
        for await (const folder of listFolders(target)) {
          if (!folder.complete) continue
          const [verified] = await Array.fromAsync(verifySnapshots(target, [folder]))
          expect(verified?.defects).toEqual([])
        }
        await copyAll(source, target)
        expect(contentOf(target)).toEqual(contentOf(source))
        if (failure === undefined) break
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
    expect(results.flatMap(({ defects }) => defects).every(({ side }) => side === 'target')).toBe(
      true,
    )
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
    const plans = await Array.fromAsync(planCopy({ source, target }))
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
