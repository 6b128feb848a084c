import { describe, expect, it } from 'vitest'
import { pinSnapshot } from '../../src/archive/pins.ts'
import { writeProof } from '../../src/proofs/write.ts'
import { findAttention } from '../../src/report/attention.ts'
import type { AccountReport } from '../../src/report/report.ts'
import { StoreError } from '../../src/store/errors.ts'
import { fillArchive } from '../archive/archive-of.ts'
import { failed, newProof } from '../proofs/new-proof.ts'
import { openReport } from './open-report.ts'

const span = { since: new Date('2026-11-01'), now: new Date('2026-11-03T12:00:00Z') }
const lock = { mode: 'governance', duration: '9d' } as const

async function reportOf(store: Parameters<typeof openReport>[0]): Promise<AccountReport> {
  const [account] = (await openReport(store, span)).accounts
  return account ?? expect.fail('there is no account')
}

describe('a server that does not tell its locks', () => {
  it('makes the report incomplete only if a lock is configured', async () => {
    const { store } = await fillArchive([{ search: [] }])
    store.lockedUntil = async () => {
      throw new StoreError('Cannot ask for the lock')
    }
    const withLock = { file: { store: { url: 's3://bucket', lock } } }
    expect(await openReport(store, span, withLock)).toMatchObject({
      unread: ['Cannot ask for the lock'],
      accounts: [{ locks: { error: 'Cannot ask for the lock' } }],
    })
    expect(await openReport(store, span)).toMatchObject({
      unread: [],
      accounts: [{ locks: { error: 'Cannot ask for the lock' } }],
    })
  })
})

describe('an account needs attention', () => {
  it('when its newest check failed, until a good check of the whole account follows', async () => {
    const { store } = await fillArchive([{ search: [] }])
    const about = { accountId: 10, scope: 'all' } as const
    const record = (hour: number, more: object = {}) =>
      writeProof(
        store,
        newProof({ ...about, startedAt: new Date(Date.UTC(2026, 10, 2, hour)), ...more }),
      )
    await record(1, failed)
    const attention = ['a recorded verification failed, and no good one has followed']
    expect(await reportOf(store)).toMatchObject({ attention })
    await record(2, { scope: 'some' })
    await record(3, { kind: 'drill', scope: 'newest' })
    expect(await reportOf(store)).toMatchObject({ attention })
    await record(4)
    const { attention: none, proofs } = await reportOf(store)
    expect(none).toEqual([])
    expect(proofs).toMatchObject({ verify: { good: 2, failed: 1 }, drill: { good: 1, failed: 0 } })
  })

  it('when a record of a check cannot be read', async () => {
    const { store } = await fillArchive([{ search: [] }])
    const key = await writeProof(store, newProof({ accountId: 10 }))
    store.objects.set(key, Buffer.from('{}'))
    expect((await reportOf(store)).attention).toEqual(['1 record of checks cannot be read'])
  })

  it('when records of checks are from the future, and when one of them failed', async () => {
    const { store } = await fillArchive([{ search: [] }])
    const startedAt = new Date('2027-11-01')
    const good = await writeProof(store, newProof({ accountId: 10, startedAt }))
    const fromFuture = '1 record of checks from the future'
    expect(await reportOf(store)).toMatchObject({
      attention: [fromFuture],
      proofs: { verify: { good: 0 }, fromFuture: [good] },
    })
    store.objects.delete(good)
    await writeProof(store, newProof({ accountId: 10, startedAt, ...failed }))
    expect(await reportOf(store)).toMatchObject({
      attention: ['a recorded verification failed, and no good one has followed', fromFuture],
      proofs: { failures: [{ startedAt, isOpen: true }] },
    })
  })

  it('when a copy lacks snapshots and is more than a day behind', async () => {
    const { store } = await fillArchive([{ search: [] }, { search: [] }, { search: [] }])
    const report = await reportOf(store)
    const attentionWith = (missing: number, time: string | undefined) =>
      findAttention({
        ...report,
        copies: [{ copy: 'offsite', missing, takenAt: time ? new Date(time) : undefined }],
      })
    const behind = ['the copy offsite is more than a day behind']
    expect(attentionWith(2, '2026-11-01T00:00:00Z')).toEqual(behind)
    expect(attentionWith(3, undefined)).toEqual(behind)
    expect(attentionWith(1, '2026-11-02T00:00:00Z')).toEqual([])
    expect(attentionWith(0, '2026-11-01T00:00:00Z')).toEqual([])
  })
})

it('an archive is reported without a schedule, and without configured accounts', async () => {
  const { store, manifests } = await fillArchive([{ search: [] }, { search: [] }])
  const pin = {
    accountId: 10,
    snapshot: manifests[0].snapshot,
    pinnedAt: span.now,
    note: undefined,
  }
  await pinSnapshot(store, pin)
  expect(await openReport(store, span)).toMatchObject({
    schedule: undefined,
    retention: undefined,
    accounts: [
      { accountId: 10, isConfigured: true, runs: undefined, retention: undefined, pinned: 1 },
    ],
  })
})
