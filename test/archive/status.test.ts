import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AccountStatus, judgeAccount, readStatus } from '../../src/archive/status.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { exportBody, numbered, scriptSource } from './scripted-source.ts'

/** Takes a snapshot a day, with as many objects as `counts` says. */
async function take(store: MemoryStore, accountId: number, ...counts: number[]) {
  const source = scriptSource({})
  source.account = { accountId, accountName: `Account ${accountId}` }
  const taken = []
  for (const [at, count] of counts.entries()) {
    source.answers = { search: exportBody('search', numbered(count)) }
    const takenAt = new Date(Date.UTC(2026, 10, at + 1, 3))
    taken.push((await takeSnapshot(source, store, { takenAt, types: ['search'] })).manifest)
  }
  return taken
}

/** As of the end of November, when every snapshot that a test takes is of the past. */
function statusOf(store: MemoryStore, accountId?: number): Promise<AccountStatus[]> {
  const now = new Date('2026-11-30T12:00:00Z')
  return Array.fromAsync(readStatus(store, { now, accountId }))
}

describe('the status of an archive', () => {
  it('has the newest good snapshot of each account, from one listing and a manifest each', async () => {
    const store = createMemoryStore()
    const [, second] = await take(store, 10, 1, 2)
    const [other] = await take(store, 20, 7)
    store.calls.length = 0
    const found = await statusOf(store)
    expect(found.map(({ newestGood }) => newestGood)).toEqual([second, other])
    expect(found).toMatchObject([
      { accountId: 10, accountName: 'Account 10', snapshots: 2, suspects: [], problems: [] },
      { accountId: 20, accountName: 'Account 20', snapshots: 1, suspects: [], problems: [] },
    ])
    const bytes = [...store.objects.values()].reduce((sum, { length }) => sum + length, 0)
    expect(found.reduce((sum, one) => sum + one.bytes, 0)).toBe(bytes)
    expect(store.calls.map(({ action }) => action)).toEqual(['list', 'get', 'get'])
    expect(await statusOf(store, 20)).toEqual(found.slice(1))
  })

  it('reads the manifests of eight accounts at once, and keeps the order of the archive', async () => {
    const store = createMemoryStore()
    const ids = Array.from({ length: 20 }, (_, index) => 10 + index)
    for (const id of ids) await take(store, id, 1)
    let reading = 0
    let most = 0
    const get: MemoryStore['get'] = async (...args) => {
      reading += 1
      most = Math.max(most, reading)
      // The first accounts answer last.
      for (let turn = 0; turn < 100 - store.calls.length; turn += 1) await setImmediate()
      reading -= 1
      return store.get(...args)
    }
    store.calls.length = 0
    const found = await statusOf({ ...store, get })
    expect(found.map(({ accountId }) => accountId)).toEqual(ids)
    expect(most).toBe(8)
  })

  it('passes over suspects, with their reasons', async () => {
    const store = createMemoryStore()
    const [first, second, third] = await take(store, 10, 9, 1, 0)
    const [found] = await statusOf(store)
    expect(found?.newestGood).toEqual(first)
    expect(found?.suspects).toEqual([
      { snapshot: third?.snapshot, reasons: third?.suspect?.reasons },
      { snapshot: second?.snapshot, reasons: second?.suspect?.reasons },
    ])
  })

  it('passes over manifests that cannot be read, and says so', async () => {
    const store = createMemoryStore()
    const [first, second] = await take(store, 10, 1, 2)
    store.objects.set(`10/${second?.snapshot}/manifest.json`, Buffer.from('no JSON'))
    const [found] = await statusOf(store)
    expect(found?.newestGood).toEqual(first)
    expect(found?.problems).toEqual([expect.stringContaining(second?.snapshot as string)])
  })

  it('finds the newest that is not damaged behind one that is', async () => {
    const store = createMemoryStore()
    const [first, second] = await take(store, 10, 1, 2)
    expect((await statusOf(store))[0]?.newestSound).toEqual(second)
    store.objects.set(`10/${second?.snapshot}/damaged.json`, Buffer.from('{}'))
    const [found] = await statusOf(store)
    expect(found).toMatchObject({ newestGood: second, newestSound: first })
    expect(found?.problems).toEqual([expect.stringContaining('found damaged by `verify`')])
  })

  it('says when there is no good one', async () => {
    const store = createMemoryStore()
    const [only] = await take(store, 10, 1)
    store.objects.set(`10/${only?.snapshot}/manifest.json`, Buffer.from('{}'))
    expect(await statusOf(store)).toMatchObject([{ newestGood: undefined, snapshots: 1 }])
    expect(await statusOf(createMemoryStore())).toEqual([])
  })

  it('counts no folder without a manifest as a snapshot', async () => {
    const store = createMemoryStore()
    const [first] = await take(store, 10, 1)
    store.objects.set('10/20261130T100000Z-aaaaaa/search.json.zst', Buffer.from('half'))
    expect(await statusOf(store)).toMatchObject([{ snapshots: 1, newestGood: first }])
  })
})

describe('the judgement of one account', () => {
  const damages = [
    'none',
    'delete the manifest',
    'break the manifest',
    'note damage',
    'delete the files',
  ] as const

  it('agrees with the status, with any damage and at any time', async () => {
    const history = fc.array(
      fc.record({ count: fc.integer({ min: 0, max: 3 }), damage: fc.constantFrom(...damages) }),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 0, max: 10 }), async (days, today) => {
        const store = createMemoryStore()
        const taken = await take(store, 10, ...days.map(({ count }) => count))
        await take(store, 100, 5)
        for (const [at, { damage }] of days.entries()) {
          const folder = `10/${taken[at]?.snapshot}`
          const files = store.keys().filter((key) => key.startsWith(folder))
          if (damage === 'note damage') store.objects.set(`${folder}/damaged.json`, Buffer.of(1))
          for (const key of files) {
            const isManifest = key.endsWith('/manifest.json')
            if (damage === 'break the manifest' && isManifest) store.objects.set(key, Buffer.of(1))
            if (damage === 'delete the manifest' && isManifest) store.objects.delete(key)
            if (damage === 'delete the files' && !isManifest) store.objects.delete(key)
          }
        }
        const now = new Date(Date.UTC(2026, 10, 1 + today, 12))
        const [expected] = await Array.fromAsync(readStatus(store, { now, accountId: 10 }))
        const judged = await judgeAccount(store, 10, { now })
        expect({ ...expected, ...judged }).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('lists the last two days and the folder that holds the files, not the rest', async () => {
    const store = createMemoryStore()
    const [first] = await take(store, 10, 1, 1, 1, 1, 1)
    store.calls.length = 0
    const judged = await judgeAccount(store, 10, { now: new Date('2026-11-05T12:00:00Z') })
    expect(judged?.newestGood?.sameAs).toBe(first?.snapshot)
    expect(store.calls).toMatchObject([
      { action: 'list', key: '10/' },
      { action: 'get' },
      { action: 'list', key: `10/${first?.snapshot}/` },
    ])
  })

  it('is undefined when the archive holds nothing of the account', async () => {
    const now = new Date('2026-11-30T12:00:00Z')
    expect(await judgeAccount(createMemoryStore(), 10, { now })).toBeUndefined()
  })
})
