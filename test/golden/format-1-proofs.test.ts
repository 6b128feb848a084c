import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { findProofGap, judgeProofs } from '../../src/proofs/judge.ts'
import { readProofs } from '../../src/proofs/read.ts'
import { createDirectoryStore } from '../../src/store/directory/store.ts'

const root = fileURLToPath(new URL('format-1-proofs', import.meta.url))
const now = new Date('2026-11-29T00:00:00Z')

it('reads the proof records of format 1, made in November 2026', async () => {
  const read = await readProofs(createDirectoryStore({ root }), 100001)
  expect(read.unreadable).toEqual([])
  expect(read.proofs).toMatchObject([
    { kind: 'verify', result: 'good', scope: 'all', snapshotCount: 21, objects: 55, equal: 55 },
    { kind: 'drill', result: 'good', scope: 'newest', snapshotCount: 1, objects: 13, equal: 13 },
  ])
  expect(read.proofs.map(({ snapshots }) => snapshots.length)).toEqual([21, 1])
  const judgement = judgeProofs(read, now)
  expect(findProofGap(judgement, { now, maxAgeMs: 8 * 24 * 3600_000 })).toBeUndefined()
})
