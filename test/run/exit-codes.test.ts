import { expect, it } from 'vitest'
import { combineExitCodes } from '../../src/run/exit-codes.ts'

it.each([
  [[], 0],
  [[0, 0], 0],
  [[2, 2], 2],
  [[3, 3], 3],
  [[0, 1], 3],
  [[1, 3], 3],
  [[1, 2], 1],
])('combines the exit codes %j of several accounts to %i', (codes, expected) => {
  expect(combineExitCodes(codes)).toBe(expected)
})
