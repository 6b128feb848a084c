import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import { pinSnapshot, unpinSnapshot } from '../../src/archive/pins.ts'
import { type AccountPrunePlan, applyPrune, planPrune } from '../../src/archive/prune.ts'
import type { RetentionPolicy } from '../../src/archive/retention.ts'
import { findLeftWrites } from '../../src/archive/sweep.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { StoreError } from '../../src/store/errors.ts'
import type { UnfinishedWrite } from '../../src/store/object-store.ts'
import { createMemoryStore, type MemoryStore } from './memory-store.ts'
import { exportBody, numbered, scriptSource } from './scripted-source.ts'

const now = new Date('2026-12-01T00:00:00Z')

/** An archive of one account, one snapshot a day of November, with as many objects as `counts` says. */
async function archive(...counts: number[]) {
  const store = createMemoryStore()
  const days: string[] = []
  const source = scriptSource({})
  for (const [at, count] of counts.entries()) {
    source.answers = { search: exportBody('search', numbered(count)) }
    const takenAt = new Date(Date.UTC(2026, 10, at + 1, 3))
    const { manifest } = await takeSnapshot(source, store, { takenAt, types: ['search'] })
    days.push(manifest.snapshot)
  }
  return { store, days }
}

async function plan(store: MemoryStore, policy: RetentionPolicy): Promise<AccountPrunePlan> {
  const [first, ...others] = await Array.fromAsync(planPrune(store, policy, { now }))
  expect(others).toEqual([])
  return first ?? expect.fail('there is no plan')
}

async function prune(store: MemoryStore, policy: RetentionPolicy) {
  return await Array.fromAsync(applyPrune(store, await plan(store, policy), { now }))
}

async function daysLeft(store: MemoryStore): Promise<number[]> {
  const folders = await Array.fromAsync(listFolders(store))
  return folders.filter(({ complete }) => complete).map(({ takenAt }) => takenAt.getUTCDate())
}

async function defects(store: MemoryStore): Promise<string[]> {
  const verified = await Array.fromAsync(verifySnapshots(store, listFolders(store)))
  return verified.flatMap((one) => one.defects.map(({ key, problem }) => `${key}: ${problem}`))
}

describe('a plan', () => {
  it('removes nothing by itself', async () => {
    const { store } = await archive(1, 2, 3)
    const before = store.keys()
    await plan(store, { last: 1 })
    expect(store.keys()).toEqual(before)
  })

  it('lists every snapshot with the reasons to keep it, newest first', async () => {
    const { store, days } = await archive(1, 2, 3)
    const { decisions, refusal, leftovers } = await plan(store, { last: 1 })
    expect(decisions.map(({ candidate, keep }) => [candidate.snapshot, keep])).toEqual([
      [days[2], true],
      [days[1], false],
      [days[0], false],
    ])
    expect(decisions[0]?.reasons).toEqual(['among the newest 1', 'newest good snapshot'])
    expect([refusal, leftovers]).toEqual([undefined, []])
  })
})

describe('pruning', () => {
  it('removes every file but those of the snapshots that the rules keep', async () => {
    const { store, days } = await archive(1, 2, 3, 4)
    const removals = await prune(store, { last: 2 })
    expect(removals).toHaveLength(2)
    expect(removals.every(({ error }) => error === undefined)).toBe(true)
    expect(await daysLeft(store)).toEqual([3, 4])
    expect(await defects(store)).toEqual([])
    expect(store.keys().every((key) => days.slice(2).some((day) => key.includes(day)))).toBe(true)
  })

  it('never removes the files that a kept snapshot shares', async () => {
    const { store } = await archive(5, 5, 5)
    await prune(store, { last: 1 })
    expect(await daysLeft(store)).toEqual([1, 3])
    expect(await defects(store)).toEqual([])
  })

  it('keeps what is pinned until it is unpinned', async () => {
    const { store, days } = await archive(1, 2, 3)
    const pin = { accountId: 10, snapshot: days[0] as string, pinnedAt: now, note: 'audit' }
    await pinSnapshot(store, pin)
    await prune(store, { last: 1 })
    expect(await daysLeft(store)).toEqual([1, 3])
    await unpinSnapshot(store, pin.accountId, pin.snapshot)
    await prune(store, { last: 1 })
    expect(await daysLeft(store)).toEqual([3])
  })

  it('keeps the newest good snapshot with any rules', async () => {
    const { store } = await archive(1, 2, 3)
    await prune(store, { withinMs: 0 })
    expect(await daysLeft(store)).toEqual([3])
  })

  it('removes the manifest of a snapshot before its files', async () => {
    const { store, days } = await archive(1, 2)
    store.calls.length = 0
    await prune(store, { last: 1 })
    const removed = store.calls.filter(({ action }) => action === 'remove').map(({ key }) => key)
    expect(removed).toEqual([`10/${days[0]}/manifest.json`, `10/${days[0]}/search.json.zst`])
  })

  it('continues when a snapshot cannot be removed, and reports it', async () => {
    const { store, days } = await archive(1, 2, 3)
    store.intercept = ({ action, key }) => {
      if (action === 'remove' && key.includes(days[1] as string)) throw new StoreError('no right')
    }
    const removals = await prune(store, { last: 1 })
    expect(removals.map(({ snapshot, error }) => [snapshot, error?.message])).toEqual([
      [days[1], 'no right'],
      [days[0], undefined],
    ])
    expect(await defects(store)).toEqual([])
  })

  it('can run twice, and twice at the same time', async () => {
    const { store } = await archive(1, 2, 3, 4)
    const same = await plan(store, { last: 1 })
    const both = await Promise.all(
      [same, same].map((one) => Array.fromAsync(applyPrune(store, one, { now }))),
    )
    expect(both.flat().filter(({ error }) => error)).toEqual([])
    expect(await daysLeft(store)).toEqual([4])
  })
})

describe('an account is not changed', () => {
  it('when its newest snapshot is suspect', async () => {
    const { store } = await archive(10, 11, 1)
    const { refusal } = await plan(store, { last: 1 })
    expect(refusal).toBe('the newest snapshot is suspect or damaged')
    await prune(store, { last: 1 })
    expect(await daysLeft(store)).toEqual([1, 2, 3])
  })

  it('when a run after the newest snapshot has not finished', async () => {
    const { store } = await archive(1, 2)
    store.objects.set('10/20261130T230000Z-aaaaaa/search.json.zst', Buffer.from('half'))
    const { refusal } = await plan(store, { last: 1 })
    expect(refusal).toBe('the run of 20261130T230000Z-aaaaaa has not finished')
    await prune(store, { last: 1 })
    expect(await daysLeft(store)).toEqual([1, 2])
  })

  it('when a manifest cannot be read, whose files it may share', async () => {
    const { store, days } = await archive(5, 5, 6)
    store.objects.set(`10/${days[1]}/manifest.json`, Buffer.from('{'))
    const before = store.keys()
    expect((await plan(store, { last: 1 })).refusal).toContain(days[1])
    await prune(store, { last: 1 })
    expect(store.keys()).toEqual(before)
  })
})

describe('sweeping', () => {
  const left = '10/20261105T000000Z-aaaaaa/search.json.zst'

  it('removes what an interrupted run left more than a day ago', async () => {
    const { store } = await archive(1, 2)
    store.objects.set('10/20261101T100000Z-aaaaaa/search.json.zst', Buffer.from('half'))
    const { leftovers } = await plan(store, { last: 9 })
    expect(leftovers.map(({ snapshot }) => snapshot)).toEqual(['20261101T100000Z-aaaaaa'])
    await prune(store, { last: 9 })
    expect(await daysLeft(store)).toEqual([1, 2])
    expect(store.keys().filter((key) => key.includes('aaaaaa'))).toEqual([])
  })

  it('keeps the files that a run may still be writing', async () => {
    const { store } = await archive(1)
    store.objects.set('10/20261130T100000Z-aaaaaa/search.json.zst', Buffer.from('half'))
    expect((await plan(store, {})).leftovers).toEqual([])
  })

  it('keeps files that a snapshot shares although their own manifest is gone', async () => {
    const { store, days } = await archive(5, 5, 6)
    store.objects.delete(`10/${days[0]}/manifest.json`)
    expect((await plan(store, { last: 9 })).leftovers).toEqual([])
  })

  it('keeps the files of other programs', async () => {
    const { store } = await archive(1, 2)
    const foreign = ['doctor/probe', 'readme.txt', '10/notes.txt', '10/20261101T/x', 'pins/10/x']
    for (const key of foreign) store.objects.set(key, Buffer.from('mine'))
    await prune(store, { last: 1 })
    for (const key of foreign) expect(store.keys()).toContain(key)
  })

  it('finds unfinished writes of its own that are older than a day', async () => {
    const store = createMemoryStore()
    const write = (key: string | undefined, hoursAgo: number): UnfinishedWrite => ({
      key,
      startedAt: new Date(now.getTime() - hoursAgo * 3600_000),
      remove: async () => {},
    })
    const [old, unnamed] = [write(left, 25), write(undefined, 25)]
    for (const one of [old, unnamed, write(left, 23), write('video.mp4', 99)]) store.left.add(one)
    expect(await findLeftWrites(store, { now })).toEqual([old, unnamed])
  })
})
