import type { NewProof } from '../../src/proofs/proof.ts'

/** A good record of a `verify` of every snapshot, with some members replaced. */
export function newProof(members: Partial<NewProof> = {}): NewProof {
  const startedAt = members.startedAt ?? new Date('2026-11-22T05:15:00.250Z')
  return {
    kind: 'verify',
    accountId: 100001,
    startedAt,
    endedAt: new Date(startedAt.getTime() + 2000),
    result: 'good',
    scope: members.kind === 'drill' ? 'newest' : 'all',
    snapshots: ['20261121T030000Z-4f2a1c', '20261122T030000Z-5a3b2d'],
    files: 3,
    bytes: 40_000,
    sealed: 0,
    objects: 175,
    equal: 175,
    defects: 0,
    problems: [],
    dashkeepVersion: '0.1.0',
    ...members,
  }
}

export const failed = { result: 'failed', defects: 1, problems: ['it is damaged'] } as const
