import { describe, expect, it } from 'vitest'
import { findOldProofs } from '../../src/proofs/old.ts'
import type { NewProof } from '../../src/proofs/proof.ts'
import { writeProof } from '../../src/proofs/write.ts'
import { createMemoryStore } from '../archive/memory-store.ts'
import { newProof } from './new-proof.ts'

const now = new Date('2026-11-23T00:00:00Z')

/** A store with a record of each of these ages, in days. */
async function storeWith(ages: readonly number[], members: Partial<NewProof> = {}) {
  const store = createMemoryStore()
  await write(store, ages, members)
  return store
}

async function write(
  store: ReturnType<typeof createMemoryStore>,
  ages: readonly number[],
  members: Partial<NewProof>,
): Promise<void> {
  for (const days of ages) {
    const startedAt = new Date(now.getTime() - days * 24 * 3600_000)
    await writeProof(store, newProof({ ...members, startedAt }))
  }
}

/** Ages of the records that are no longer needed, in days. */
async function oldAges(store: ReturnType<typeof createMemoryStore>, options = {}) {
  const found = await findOldProofs(store, { now, ...options })
  return found.map(({ startedAt }) => (now.getTime() - startedAt.getTime()) / (24 * 3600_000))
}

describe('records that are no longer needed', () => {
  it('are 400 days older than the newest of the account', async () => {
    expect(await oldAges(await storeWith([900, 402, 401, 400, 1]))).toEqual([900, 402])
  })

  it('are none when the clock of this machine is years ahead', async () => {
    const store = await storeWith([20, 10, 1])
    expect(await oldAges(store, { now: new Date('2036-01-01T00:00:00Z') })).toEqual([])
  })

  it('do not depend on records from the future, which stay', async () => {
    expect(await oldAges(await storeWith([500, 200, -300]))).toEqual([])
  })

  it('are never the newest of a kind', async () => {
    const store = await storeWith([900, 800], { kind: 'drill' })
    await write(store, [700, 1], {})
    expect(await oldAges(store)).toEqual([900, 700])
  })

  it('are found for each account by itself, with one listing', async () => {
    const store = await storeWith([900, 1], { accountId: 1 })
    await write(store, [800, 600], { accountId: 2 })
    store.calls.length = 0
    expect(await oldAges(store)).toEqual([900])
    expect(store.calls).toHaveLength(1)
    expect(await oldAges(store, { accountId: 2 })).toEqual([])
  })
})
