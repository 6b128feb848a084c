import { describe, expect, it } from 'vitest'
import { snapshotTime } from '../../../src/archive/snapshot-name.ts'
import { findReferenced, nearestNames } from '../../../src/cli/select/snapshot-reference.ts'

const names = [
  '20261030T031500Z-000001',
  '20261101T031500Z-000002',
  '20261101T151500Z-000003',
  '20261103T235959Z-000004',
  '20261104T000000Z-000005',
]
const items = names.map((snapshot) => ({ snapshot, takenAt: snapshotTime(snapshot) as Date }))
const now = new Date('2026-11-05T12:00:00Z')

function find(reference: string): number | undefined {
  const found = findReferenced(items, reference, now)
  return found && items.indexOf(found) + 1
}

describe('a snapshot is meant', () => {
  it.each([
    ['latest', 5],
    ['latest~0', 5],
    ['latest~1', 4],
    ['latest~4', 1],
    ['20261101T031500Z-000002', 2],
    ['20261030', 1],
    ['20261103T', 4],
    ['2026-11-01', 3],
    ['2026-11-02', 3],
    ['2026-11-03', 4],
    ['2026-12-31', 5],
    ['2026-11-01T12:00', 2],
    ['2026-11-01 12:00:00', 2],
    ['2026-11-01T03:15:00Z', 2],
    ['2026-11-01T17:14:59+02:00', 2],
    ['2026-11-01T17:15:00+02:00', 3],
    ['1 day ago', 5],
    ['2 days ago', 3],
    ['a week ago', undefined],
    ['36h ago', 5],
    ['37h ago', 3],
    ['100 minutes ago', 5],
    ['5 Days Ago', 1],
    ['20270101', undefined],
    ['foo', undefined],
    ['202', undefined],
  ])('by %s', (reference, number) => {
    if (reference === 'a week ago')
      expect(() => find(reference)).toThrow(/the oldest snapshot is newer/)
    else expect(find(reference)).toBe(number)
  })
})

describe('a reference is refused', () => {
  it.each([
    [
      'latest~5',
      /the account has only 5 snapshots/,
      /the oldest is latest~4, 20261030T031500Z-000001/,
    ],
    [
      '2026-10-29',
      /the oldest snapshot is newer, taken at 2026-10-30 03:15:00 UTC/,
      /20261030T031500Z/,
    ],
    ['2026-02-30', /this date does not exist/, /use a name/],
    ['2026-11-01Tnoon', /this date does not exist/, /use a name/],
    ['3 fortnights ago', /it is not a time such as 3 days ago/, /use a name/],
    ['20261101', /2 names begin with it/, /000002, 20261101T151500Z-000003/],
  ])('such as %s', (reference, message, hint) => {
    expect(() => find(reference)).toThrow(message)
    expect(() => find(reference)).toThrow(
      expect.objectContaining({ kind: 'usage', hint: expect.stringMatching(hint) }),
    )
  })
})

describe('the names nearest to one that is not there', () => {
  it('are those of the same day, or those around it', () => {
    expect(nearestNames(items, '20261101T999999Z-ffffff')).toEqual(names.slice(1, 3))
    expect(nearestNames(items, '20261102T000000Z-ffffff')).toEqual(names.slice(1, 4))
    expect(nearestNames(items, '20300101T000000Z-ffffff')).toEqual(names.slice(3))
    expect(nearestNames(items, 'foo')).toEqual([])
  })
})
