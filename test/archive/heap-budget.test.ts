import { expect, it } from 'vitest'
import { createHeapBudget } from '../../src/archive/heap-budget.ts'

it('takes entries up to half of the memory, and says what to do about more', () => {
  const budget = createHeapBudget('restore snapshot x', 8 * 1024 ** 2)
  let held = 0
  while (budget.hold(`search:${held}`, undefined, 'A title of some length')) held += 1
  expect(held).toBeGreaterThan(10_000)
  expect(held).toBeLessThan(20_000)
  const overflow = () => budget.check()
  expect(overflow).toThrow(
    `Cannot restore snapshot x: ${held + 1} objects take more than half of the memory that Node may use (8 MiB)`,
  )
})

it('takes long texts for what they are', () => {
  const budget = createHeapBudget('compare', 8 * 1024 ** 2)
  expect(budget.hold('x'.repeat(4 * 1024 ** 2 - 1000))).toBe(true)
  expect(() => budget.check()).not.toThrow()
  expect(budget.hold('x'.repeat(1000))).toBe(false)
})
