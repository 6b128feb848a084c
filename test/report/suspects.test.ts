import { expect, it } from 'vitest'
import { takeSnapshot } from '../../src/archive/take.ts'
import { readAccounts } from '../../src/report/read-account.ts'
import { createMemoryStore } from '../archive/memory-store.ts'
import { exportBody, numbered, scriptSource } from '../archive/scripted-source.ts'

const terms = {
  ...{ since: new Date('2026-11-01'), now: new Date('2026-11-30') },
  ...{ schedule: undefined, retention: undefined },
  guard: { maxFall: 0.5, windowMs: 7 * 24 * 3600_000 },
}

/** Takes a snapshot on each of these days, and says what followed the suspect ones. */
async function followUps(...taken: { day: number; objects: number; acceptFall?: boolean }[]) {
  const store = createMemoryStore()
  for (const { day, objects, acceptFall } of taken) {
    const source = scriptSource({ search: exportBody('search', numbered(objects)) })
    const takenAt = new Date(Date.UTC(2026, 10, day, 3))
    await takeSnapshot(source, store, { takenAt, types: ['search'], acceptFall })
  }
  const findConfigured = () => ({ configuredAs: undefined, isConfigured: true })
  const [account] = await Array.fromAsync(readAccounts(store, terms, { findConfigured }))
  return account?.suspects.map(({ followedBy }) => followedBy?.accepted)
}

it('a suspect snapshot is followed by a good one with its objects, or by none', async () => {
  const [before, fallen] = [
    { day: 1, objects: 20 },
    { day: 2, objects: 3 },
  ]
  expect(await followUps(before, fallen)).toEqual([undefined])
  expect(await followUps(before, fallen, { day: 3, objects: 20 })).toEqual([false])
  expect(await followUps(before, fallen, { day: 3, objects: 12 })).toEqual([false])
})

it('a good snapshot accepts what is still lost, also long after the fall', async () => {
  const [before, fallen] = [
    { day: 1, objects: 20 },
    { day: 2, objects: 3 },
  ]
  const accepted = { acceptFall: true, objects: 3 }
  expect(await followUps(before, fallen, { ...accepted, day: 3 })).toEqual([true])
  expect(await followUps(before, fallen, { ...accepted, day: 3, objects: 4 })).toEqual([true])
  expect(await followUps(before, fallen, { ...accepted, day: 20 })).toEqual([true])
})
