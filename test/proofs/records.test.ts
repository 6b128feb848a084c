import { describe, expect, it } from 'vitest'
import {
  createProofKey,
  decodeProof,
  encodeProof,
  ProofError,
  parseProofKey,
} from '../../src/proofs/proof.ts'
import { readNewestProofs, readProofs } from '../../src/proofs/read.ts'
import { writeProof } from '../../src/proofs/write.ts'
import { createMemoryStore, flipBit, type MemoryStore } from '../archive/memory-store.ts'
import { failed, newProof } from './new-proof.ts'

const now = new Date('2026-11-23T00:00:00Z')

function daysAgo(days: number): Date {
  return new Date(now.getTime() - days * 24 * 3600_000)
}

async function readNewest(store: MemoryStore, options = {}) {
  return Array.fromAsync(readNewestProofs(store, { now, ...options }))
}

function reads(store: MemoryStore): string[] {
  return store.calls.filter(({ action }) => action === 'get').map(({ key }) => key)
}

describe('a record', () => {
  it('is read as it was written, at a key with its account, time and kind', async () => {
    const store = createMemoryStore()
    const proof = newProof({ problems: ['one', 'two'], result: 'failed', defects: 2 })
    const key = await writeProof(store, proof)
    expect(key).toMatch(/^proofs\/100001\/20261122T051500Z-[0-9a-f]{8}-verify\.json$/)
    const { proofs, unreadable } = await readProofs(store, 100001)
    expect(proofs).toEqual([{ ...proof, key, snapshotCount: 2 }])
    expect(unreadable).toEqual([])
  })

  it('never has the key of another one', async () => {
    const store = createMemoryStore()
    for (let number = 0; number < 200; number += 1) await writeProof(store, newProof())
    expect(store.keys()).toHaveLength(200)
  })

  it('is not written over one that the store holds', async () => {
    const store = createMemoryStore()
    store.intercept = ({ action, key }) => {
      if (action === 'get') store.objects.set(key, Buffer.from('{}'))
    }
    await expect(writeProof(store, newProof())).rejects.toThrow(/the store already holds it/)
    expect(store.calls.map(({ action }) => action)).toEqual(['get'])
  })

  it('names at most 10,000 snapshots and 20 problems, and counts all of them', async () => {
    const store = createMemoryStore()
    const snapshots = Array.from(
      { length: 10_001 },
      (_, index) => `20261121T030000Z-${index.toString(16).padStart(6, '0')}`,
    )
    const problems = Array.from({ length: 21 }, () => 'x'.repeat(501))
    await writeProof(store, newProof({ ...failed, snapshots, problems, defects: 21 }))
    const [proof] = (await readProofs(store, 100001)).proofs
    expect(proof).toMatchObject({ snapshotCount: 10_001, defects: 21 })
    expect(proof?.snapshots).toEqual(snapshots.slice(1))
    expect(proof?.problems).toEqual(problems.slice(1).map((text) => text.slice(1)))
  })

  it('is refused by a clock whose year has five digits, before anything is written', async () => {
    const store = createMemoryStore()
    const startedAt = new Date('+012026-11-22T00:00:00Z')
    await expect(writeProof(store, newProof({ startedAt }))).rejects.toThrow(/refuse it/)
    expect(store.calls).toEqual([])
  })
})

describe('reading a record', () => {
  it('refuses one with any bit changed', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof())
    const bytes = store.objects.get(key) ?? new Uint8Array()
    const expected = parseProofKey(key) ?? expect.fail('it is not a key')
    for (let bit = 0; bit < bytes.length * 8; bit += 1)
      expect(() => decodeProof(flipBit(bytes, bit), expected)).toThrow(ProofError)
  })

  it('names one of a later format', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof())
    const text = Buffer.from(store.objects.get(key) ?? '').toString()
    store.objects.set(key, Buffer.from(text.replace('"formatVersion": 1', '"formatVersion": 2')))
    const { proofs, unreadable } = await readProofs(store, 100001)
    expect(proofs).toEqual([])
    expect(unreadable.map(({ message, hint }) => `${message}; ${hint}`)).toEqual([
      `Cannot read ${key}: it has format 2, this dashkeep reads up to 1; use the newer dashkeep that wrote it`,
    ])
  })

  it('refuses one that was moved to another account, time or kind', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof())
    const bytes = store.objects.get(key) ?? new Uint8Array()
    store.objects.clear()
    for (const moved of [
      key.replace('100001', '100002'),
      key.replace('051500Z', '051501Z'),
      key.replace('-verify', '-drill'),
    ])
      store.objects.set(moved, bytes)
    const read = [await readProofs(store, 100001), await readProofs(store, 100002)]
    expect(read.flatMap(({ proofs }) => proofs)).toEqual([])
    expect(read.flatMap(({ unreadable }) => unreadable)).toHaveLength(3)
    expect(read[1]?.unreadable[0]?.message).toContain(
      'it is the record of a verify of account 100001 at 2026-11-22T05:15:00.250Z',
    )
  })

  it('refuses one of more than a megabyte without reading it', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof())
    store.objects.set(key, Buffer.alloc(1024 * 1024 + 1, ' '))
    const { unreadable } = await readProofs(store, 100001)
    expect(unreadable.map(({ message }) => message)).toEqual([
      `Cannot read ${key}: it is larger than 1048576 bytes`,
    ])
  })

  it.each([
    ['a good one with problems', { defects: 1, problems: ['it is damaged'] }, 'result'],
    ['a failed one without problems', { result: 'failed' }, 'result'],
    ['a good one of no snapshot', { snapshots: [] }, 'snapshotCount'],
    ['a verify of the newest snapshot alone', { scope: 'newest' }, 'scope'],
    ['a drill of all snapshots', { kind: 'drill', scope: 'all' }, 'scope'],
    ['one with more equal objects than objects', { equal: 176 }, 'equal'],
    ['a good drill with different objects', { kind: 'drill', equal: 174 }, 'equal'],
  ] as const)('refuses %s, which contradicts itself', (_, members, named) => {
    const proof = newProof(members)
    const expected = parseProofKey(createProofKey(proof)) ?? expect.fail('it is not a key')
    expect(() => decodeProof(encodeProof(proof), expected)).toThrow(
      `its ${named} contradicts its other members`,
    )
  })

  it('leaves out files with other names', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof())
    for (const name of [
      'proofs/100001/notes.txt',
      'proofs/100001/20261122T051500Z-00000000-verify.json/x',
      'proofs/100001/20260231T051500Z-00000000-verify.json',
      'proofs/shop/20261122T051500Z-00000000-verify.json',
      'proofs/20261122T051500Z-00000000-verify.json',
    ])
      store.objects.set(name, Buffer.from('x'))
    const [found, ...others] = await readNewest(store)
    expect(found?.proofs.map((proof) => proof.key)).toEqual([key])
    expect(found?.unreadable).toEqual([])
    expect(others).toEqual([])
  })

  it('reads at most the newest 2,000', async () => {
    const store = createMemoryStore()
    await writeProof(store, newProof({ startedAt: daysAgo(2) }))
    for (let number = 0; number < 2000; number += 1)
      await writeProof(store, newProof({ startedAt: daysAgo(1) }))
    const { proofs, unreadable } = await readProofs(store, 100001)
    expect(proofs).toHaveLength(2000)
    expect(unreadable.map(({ message }) => message)).toEqual([
      'Cannot read all records of account 100001: it has 2001, and only the newest 2000 are read',
    ])
    expect(proofs[0]?.startedAt).toEqual(daysAgo(1))
  })
})

describe('reading the newest records', () => {
  it('needs one listing and the newest good record of each kind', async () => {
    const store = createMemoryStore()
    const keys: string[] = []
    for (const accountId of [10, 9])
      for (const days of [30, 8, 1])
        for (const kind of ['verify', 'drill'] as const)
          keys.push(
            await writeProof(store, newProof({ accountId, kind, startedAt: daysAgo(days) })),
          )
    store.calls.length = 0
    const found = await readNewest(store)
    expect(found.map(({ accountId }) => accountId).toSorted()).toEqual([10, 9])
    expect(store.calls.filter(({ action }) => action === 'list')).toHaveLength(1)
    expect(reads(store).toSorted()).toEqual([...keys.slice(4, 6), ...keys.slice(10)].toSorted())
  })

  it('goes back past failures, parts, damage and records from the future', async () => {
    const store = createMemoryStore()
    const good = await writeProof(store, newProof({ startedAt: daysAgo(9) }))
    await writeProof(store, newProof({ startedAt: daysAgo(8) }))
    await writeProof(store, newProof({ startedAt: daysAgo(4), ...failed }))
    const broken = await writeProof(store, newProof({ startedAt: daysAgo(3) }))
    await writeProof(store, newProof({ startedAt: daysAgo(2), scope: 'some' }))
    await writeProof(store, newProof({ startedAt: daysAgo(-300) }))
    store.objects.set(broken, Buffer.from('{}'))
    const [found] = await readNewest(store)
    expect(found?.proofs.map(({ startedAt }) => startedAt)).toEqual(
      [8, 4, 2, -300].map((days) => daysAgo(days)),
    )
    expect(found?.proofs.map(({ key }) => key)).not.toContain(good)
    expect(found?.unreadable).toHaveLength(1)
  })

  it('reads no record again that it knows, and forgets what it no longer needs', async () => {
    const store = createMemoryStore()
    const known = new Map()
    const first = await writeProof(store, newProof({ startedAt: daysAgo(2) }))
    await readNewest(store, { known })
    const second = await writeProof(store, newProof({ startedAt: daysAgo(1) }))
    store.calls.length = 0
    await readNewest(store, { known })
    await readNewest(store, { known })
    expect(reads(store)).toEqual([second])
    expect(first).not.toBe(second)
    await readNewest(store, { known, accountId: 7 })
    expect([...known.keys()]).toEqual([second])
    store.objects.clear()
    await readNewest(store, { known })
    expect(known.size).toBe(0)
  })

  it('is not led astray by many records from the future', async () => {
    const store = createMemoryStore()
    const key = await writeProof(store, newProof({ startedAt: daysAgo(1) }))
    for (let number = 0; number < 60; number += 1)
      await writeProof(store, newProof({ startedAt: daysAgo(-300) }))
    store.calls.length = 0
    const [found] = await readNewest(store)
    expect(found?.proofs[0]?.key).toBe(key)
    expect(reads(store)).toHaveLength(6)
    expect(found?.unreadable.map(({ message }) => message)).toEqual([
      'Cannot read all verify records of account 100001: 60 are from the future, and only 5 of them are read',
    ])
  })

  it('finds a failure and the good record before it behind many good parts', async () => {
    const store = createMemoryStore()
    await writeProof(store, newProof({ startedAt: daysAgo(9) }))
    await writeProof(store, newProof({ startedAt: daysAgo(8), ...failed }))
    for (let number = 0; number < 168; number += 1)
      await writeProof(store, newProof({ startedAt: daysAgo(1), scope: 'some' }))
    const [found] = await readNewest(store)
    expect(found?.proofs.slice(0, 2)).toMatchObject([{ result: 'good' }, { result: 'failed' }])
    expect(found?.unreadable).toEqual([])
  })

  it('says when there are so many parts that it does not read further back', async () => {
    const store = createMemoryStore()
    await writeProof(store, newProof({ startedAt: daysAgo(8), ...failed }))
    for (let number = 0; number < 500; number += 1)
      await writeProof(store, newProof({ startedAt: daysAgo(1), scope: 'some' }))
    const [found] = await readNewest(store)
    expect(found?.unreadable.map(({ message }) => message)).toEqual([
      'Cannot read all verify records of account 100001: none of the newest 500 is a proof of the whole account',
    ])
  })

  it('leaves out the accounts that were not asked for', async () => {
    const store = createMemoryStore()
    for (const accountId of [1, 2, 3]) await writeProof(store, newProof({ accountId }))
    store.calls.length = 0
    const found = await readNewest(store, { only: new Set([2]) })
    expect(found.map(({ accountId }) => accountId)).toEqual([2])
    expect(reads(store)).toHaveLength(1)
    expect(await readNewest(store, { accountId: 3 })).toMatchObject([{ accountId: 3 }])
  })

  it('fails when the store cannot answer', async () => {
    const store = createMemoryStore()
    await writeProof(store, newProof())
    store.intercept = ({ action }) => {
      if (action === 'get') throw new Error('down')
    }
    await expect(readNewest(store)).rejects.toThrow('down')
    await expect(readProofs(store, 100001)).rejects.toThrow('down')
  })
})
