import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataFileKey, fileKey, listFolders, readManifest } from '../../src/archive/archive.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { exportBody, numbered, scriptSource, shop } from './scripted-source.ts'

const day = 24 * 3600_000
const source = scriptSource({})

function dayOf(number: number): Date {
  return new Date(Date.UTC(2026, 10, number, 3))
}

/** Takes a snapshot a day, with as many objects as `counts` says; returns their names. */
async function takeDaily(store: MemoryStore, ...counts: number[]): Promise<string[]> {
  const names: string[] = []
  for (const [at, count] of counts.entries()) {
    source.answers = { search: exportBody('search', numbered(count)) }
    const takenAt = dayOf(at + 1)
    names.push(
      (await takeSnapshot(source, store, { takenAt, types: ['search'] })).manifest.snapshot,
    )
  }
  return names
}

function lockedStore(days: number): MemoryStore {
  const store = createMemoryStore()
  store.lockMs = days * day
  return store
}

async function prune(store: MemoryStore, now: Date) {
  const plans = await Array.fromAsync(planPrune(store, { last: 1 }, { now }))
  const removals = plans.map((plan) => Array.fromAsync(applyPrune(store, plan, { now })))
  return (await Promise.all(removals)).flat()
}

async function defects(store: MemoryStore): Promise<string[]> {
  const verified = await Array.fromAsync(verifySnapshots(store, listFolders(store)))
  return verified.flatMap((one) => one.defects.map(({ problem }) => problem))
}

describe('a run with a lock', () => {
  it('locks the files and the manifest from the moment it was taken', async () => {
    const store = lockedStore(30)
    await takeDaily(store, 2)
    expect(store.keys()).toHaveLength(2)
    expect([...store.locks.keys()].sort()).toEqual(store.keys())
    expect([...store.locks.values()]).toEqual([dayOf(31), dayOf(31)])
  })

  it('extends what it shares before its own manifest is written', async () => {
    const store = lockedStore(30)
    const [first = '', second = ''] = await takeDaily(store, 2, 2)
    const acted = store.calls.slice(store.calls.findIndex(({ action }) => action === 'protect'))
    const manifestOf = (snapshot: string) => expect.stringMatching(`${snapshot}/manifest.json$`)
    expect(acted.filter(({ action }) => action === 'protect' || action === 'put')).toEqual([
      { action: 'protect', key: manifestOf(first) },
      { action: 'protect', key: expect.stringMatching(`${first}/search.json.zst$`) },
      { action: 'put', key: manifestOf(second) },
    ])
    expect([...store.locks.values()]).toEqual([dayOf(32), dayOf(32), dayOf(32)])
  })

  it('stores the files anew when those it could share cannot be protected as well', async () => {
    const store = lockedStore(30)
    store.protect = async () => false
    const names = await takeDaily(store, 2, 2)
    const { manifest } = await readManifest(store, shop.accountId, names[1] ?? '')
    expect(manifest.sameAs).toBeUndefined()
    expect(store.keys()).toHaveLength(4)
    expect(await defects(store)).toEqual([])
  })

  it('fails, and leaves no manifest, when what it shares cannot be locked', async () => {
    const store = lockedStore(30)
    await takeDaily(store, 2)
    const before = store.keys()
    store.protect = async () => {
      throw new Error('the server keeps no lock')
    }
    await expect(takeDaily(store, 2)).rejects.toThrow('the server keeps no lock')
    expect(store.keys()).toEqual(before)
  })

  it('never lets what is referred to lose its lock before what refers to it', async () => {
    const counts = fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(counts, async (counts) => {
        const store = lockedStore(30)
        for (const snapshot of await takeDaily(store, ...counts)) {
          const { manifest } = await readManifest(store, shop.accountId, snapshot)
          const { account, sameAs = snapshot } = manifest
          const own =
            store.locks.get(fileKey(account.id, snapshot, 'manifest.json')) ??
            expect.fail('it is not locked')
          const files = manifest.exports.map(({ file }) => dataFileKey(manifest, file))
          for (const key of [fileKey(account.id, sameAs, 'manifest.json'), ...files]) {
            expect(store.locks.get(key)?.getTime()).toBeGreaterThanOrEqual(own.getTime())
          }
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe('prune in a locked archive', () => {
  const bytes = expect.any(Number)

  it('removes nothing of a snapshot with a locked file, and says until when', async () => {
    const store = lockedStore(30)
    const [first, second] = await takeDaily(store, 1, 2, 3)
    const before = store.keys()
    expect(await prune(store, dayOf(20))).toEqual([
      { accountId: shop.accountId, snapshot: second, bytes, keptUntil: dayOf(32) },
      { accountId: shop.accountId, snapshot: first, bytes, keptUntil: dayOf(31) },
    ])
    expect(store.keys()).toEqual(before)
    expect(store.calls.filter(({ action }) => action === 'remove')).toEqual([])
  })

  it('asks for every file before it removes the manifest', async () => {
    const store = createMemoryStore()
    const [first] = await takeDaily(store, 1, 2)
    const data = store.keys().find((key) => key.endsWith(`${first}/search.json.zst`)) ?? ''
    store.locks.set(data, dayOf(25))
    const before = store.keys()
    expect(await prune(store, dayOf(20))).toMatchObject([{ keptUntil: dayOf(25) }])
    expect(store.keys()).toEqual(before)
  })

  it('removes what is locked no longer, to the moment', async () => {
    const store = lockedStore(10)
    const [first, second] = await takeDaily(store, 1, 2, 3)
    expect(await prune(store, dayOf(11))).toEqual([
      { accountId: shop.accountId, snapshot: second, bytes, keptUntil: dayOf(12) },
      { accountId: shop.accountId, snapshot: first, bytes },
    ])
    expect(await prune(store, dayOf(12))).toEqual([
      { accountId: shop.accountId, snapshot: second, bytes },
    ])
    expect(store.keys()).toHaveLength(2)
    expect(await defects(store)).toEqual([])
  })

  it('keeps the files of a locked snapshot that shares them, though they are locked no longer', async () => {
    const store = createMemoryStore()
    const [holder, sharer] = await takeDaily(store, 1, 1, 2)
    const manifest = store.keys().find((key) => key.endsWith(`${sharer}/manifest.json`)) ?? ''
    store.locks.set(manifest, dayOf(25))
    const before = store.keys()
    expect(await prune(store, dayOf(20))).toMatchObject([
      { snapshot: sharer, keptUntil: dayOf(25) },
      { snapshot: holder, keptUntil: dayOf(25) },
    ])
    expect(store.keys()).toEqual(before)
    expect(await defects(store)).toEqual([])
  })

  it('keeps the files of a snapshot that shares them and could not be removed', async () => {
    const store = createMemoryStore()
    const [holder, sharer] = await takeDaily(store, 1, 1, 2)
    const before = store.keys()
    store.intercept = ({ action, key }) => {
      if (action === 'remove' && key.includes(`${sharer}`)) throw new Error('no')
    }
    expect(await prune(store, dayOf(20))).toMatchObject([
      { snapshot: sharer, error: { message: 'no' } },
      {
        snapshot: holder,
        error: { message: expect.stringContaining(`${sharer} shares its files`) },
      },
    ])
    expect(store.keys()).toEqual(before)
    expect(await defects(store)).toEqual([])
  })

  it('removes nothing where the store cannot say what is locked', async () => {
    const store = createMemoryStore()
    await takeDaily(store, 1, 2)
    const before = store.keys()
    store.lockedUntil = async () => {
      throw new Error('access denied')
    }
    expect(await prune(store, dayOf(20))).toMatchObject([{ error: { message: 'access denied' } }])
    expect(store.keys()).toEqual(before)
  })
})
