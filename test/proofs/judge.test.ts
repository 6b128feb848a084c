import { describe, expect, it } from 'vitest'
import { describeGap } from '../../src/proofs/describe.ts'
import { findProofGap, judgeProofs, provenAt } from '../../src/proofs/judge.ts'
import { type NewProof, type Proof, ProofError } from '../../src/proofs/proof.ts'
import { failed, newProof } from './new-proof.ts'

const now = new Date('2026-11-23T00:00:00Z')
const day = 24 * 3600_000
const maxAgeMs = 8 * day

/** A record that began so many days ago. */
function record(days: number, members: Partial<NewProof> = {}): Proof {
  const startedAt = new Date(now.getTime() - days * day)
  const proof = newProof({ ...members, startedAt })
  return { ...proof, key: `proofs/100001/${days}`, snapshotCount: proof.snapshots.length }
}

function judge(...proofs: Proof[]) {
  const judgement = judgeProofs({ proofs, unreadable: [] }, now)
  return { ...judgement, gap: findProofGap(judgement, { now, maxAgeMs }), at: provenAt(judgement) }
}

const drill = { kind: 'drill' } as const

describe('an account', () => {
  it('is proven by the newest good record of either kind', () => {
    const [old, newer] = [record(20), record(7, drill)]
    expect(judge(old, newer)).toMatchObject({
      verify: old,
      drill: newer,
      at: newer.startedAt,
      gap: undefined,
    })
    expect(judge(record(20, drill), record(7))).toMatchObject({ gap: undefined })
  })

  it('is not proven without a record, or by one that is too old', () => {
    expect(judge()).toMatchObject({ gap: 'never', at: undefined })
    expect(judge(record(8))).toMatchObject({ gap: undefined })
    expect(judge(record(8.01))).toMatchObject({ gap: 'old' })
  })

  it('is not judged without an age', () => {
    const judgement = judgeProofs({ proofs: [], unreadable: [] }, now)
    expect(findProofGap(judgement, { now, maxAgeMs: undefined })).toBeUndefined()
  })

  it('is not proven by a verify of some snapshots', () => {
    expect(judge(record(1, { scope: 'some' }))).toMatchObject({ gap: 'never' })
  })

  it('is not proven by a record from the future', () => {
    const wrong = record(-300)
    expect(judge(wrong)).toMatchObject({ gap: 'never', fromFuture: [wrong] })
    expect(judge(record(9), wrong)).toMatchObject({ gap: 'old' })
    // The clocks of two machines may differ by minutes.
    expect(judge(record(-0.003))).toMatchObject({ gap: undefined, fromFuture: [] })
  })

  it('is not proven by a failed record, and not by a good one before it', () => {
    const bad = record(1, failed)
    expect(judge(bad)).toMatchObject({ gap: 'failed', failed: [bad], at: undefined })
    expect(judge(record(2), bad)).toMatchObject({ gap: 'failed', failed: [bad] })
    expect(judge(record(2), record(1, { ...failed, scope: 'some' }))).toMatchObject({
      gap: 'failed',
    })
  })

  it('is proven again by a later good record of the same kind, of every snapshot', () => {
    expect(judge(record(2, failed), record(1))).toMatchObject({ gap: undefined, failed: [] })
    expect(judge(record(2, failed), record(1, { scope: 'some' }))).toMatchObject({ gap: 'failed' })
    expect(judge(record(2, failed), record(1, drill))).toMatchObject({ gap: 'failed' })
    expect(judge(record(2, { ...failed, ...drill }), record(1, drill))).toMatchObject({
      gap: undefined,
    })
  })

  it('is not proven again by a good record from the future', () => {
    expect(judge(record(2, failed), record(-300))).toMatchObject({ gap: 'failed' })
  })

  it('is not proven by a failed record from the future', () => {
    const wrong = record(-300, failed)
    expect(judge(record(1), wrong)).toMatchObject({ gap: 'failed', failed: [wrong] })
  })

  it('is not proven with a record that cannot be read, because it may be a failed one', () => {
    const [unreadable, proofs] = [[new ProofError('it is not JSON')], [record(1)]]
    const judgement = judgeProofs({ proofs, unreadable }, now)
    expect(findProofGap(judgement, { now, maxAgeMs })).toBe('unreadable')
    expect(describeGap(judgement, 'unreadable', now)).toBe(
      '1 record cannot be read and may report a failed check: it is not JSON',
    )
  })
})
