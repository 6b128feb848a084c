import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planMove, sumGb, transfer } from '../../src/accounts/move-plan.ts'
import { DashkeepError } from '../../src/errors.ts'
import { subAccount } from './scripted-service.ts'

const limits = { minGb: 0, mainId: 99 }
const gb = fc.integer({ min: 0, max: 4000 }).map((quarters) => quarters / 4)

/** Accounts with what they have and what they are to have. */
const moves = fc
  .array(fc.record({ from: gb, to: gb }), { minLength: 1, maxLength: 6 })
  .map((pairs) => ({
    accounts: pairs.map(({ from }, place) => subAccount(place + 1, from)),
    wanted: new Map(pairs.map(({ to }, place) => [place + 1, to])),
    startGb: sumGb(pairs.map(({ from }) => from)),
    endGb: sumGb(pairs.map(({ to }) => to)),
  }))

describe('a planned move', () => {
  it('ends at what is wanted, and never takes more on the way than at the start', () => {
    fc.assert(
      fc.property(moves, ({ accounts, wanted, startGb, endGb }) => {
        fc.pre(endGb <= startGb)
        const plan = planMove(accounts, wanted, limits)
        const present = new Map(
          accounts.map(({ accountId, maxDailyGB }) => [accountId, maxDailyGB]),
        )
        for (const { accountId, fromGb, toGb } of plan.steps) {
          expect(present.get(accountId)).toBe(fromGb)
          expect(toGb).not.toBe(fromGb)
          present.set(accountId, toGb)
          expect(sumGb([...present.values()].map(Number))).toBeLessThanOrEqual(startGb)
        }
        expect(present).toEqual(wanted)
      }),
    )
  })

  it('reduces before it increases, the account with the higher maxDailyGB first', () => {
    fc.assert(
      fc.property(moves, ({ accounts, wanted, startGb, endGb }) => {
        fc.pre(endGb <= startGb)
        const { steps } = planMove(accounts, wanted, limits)
        const reductions = steps.filter(({ fromGb, toGb }) => toGb < fromGb)
        expect(steps.slice(0, reductions.length)).toEqual(reductions)
        const before = reductions.map(({ fromGb }) => fromGb)
        expect(before).toEqual(before.toSorted((one, other) => other - one))
      }),
    )
  })

  it('is refused when the accounts would take more at the end', () => {
    fc.assert(
      fc.property(moves, ({ accounts, wanted, startGb, endGb }) => {
        fc.pre(endGb > startGb)
        expect(() => planMove(accounts, wanted, limits)).toThrow(
          /would have .* in total instead of/,
        )
      }),
    )
  })

  it('moves an amount from one account to another, whichever is higher', () => {
    fc.assert(
      fc.property(gb, gb, gb, (one, other, amount) => {
        fc.pre(amount > 0 && amount <= one)
        const accounts = [subAccount(1, one), subAccount(2, other)]
        const move = { from: 1, to: 2, gb: amount, mainId: 99 }
        const { steps, startGb, endGb } = planMove(accounts, transfer(accounts, move), limits)
        expect(steps.map(({ accountId }) => accountId)).toEqual([1, 2])
        expect(endGb).toBe(startGb)
      }),
    )
  })

  it('knows no noise of binary fractions', () => {
    const accounts = [subAccount(1, 0.3), subAccount(2, 0.1)]
    const wanted = transfer(accounts, { from: 1, to: 2, gb: 0.1, mainId: 99 })
    expect([...wanted.values()]).toEqual([0.2, 0.2])
  })

  it.each([
    ['below 0', { from: 1, to: 2, gb: 6 }, 0, 'account 1 would keep -1 of 5 GB'],
    ['below a set least', { from: 1, to: 2, gb: 4 }, 2, 'account 1 would keep 1 of 5 GB'],
    ['into itself', { from: 1, to: 1, gb: 1 }, 0, 'both are the same account'],
    ['of nothing', { from: 1, to: 2, gb: 0 }, 0, 'nothing to move'],
    ['to a flexible account', { from: 1, to: 3, gb: 1 }, 0, 'account 3 is flexible'],
    ['from the main account', { from: 99, to: 1, gb: 1 }, 0, 'it is the main account itself'],
    ['to an unknown account', { from: 1, to: 77, gb: 1 }, 0, 'Cannot find sub account 77'],
  ])('is refused %s', (_what, move, minGb, state) => {
    const accounts = [subAccount(1, 5), subAccount(2, 1), subAccount(3, null), subAccount(99, 0)]
    const plan = () => {
      return planMove(accounts, transfer(accounts, { ...move, mainId: 99 }), { minGb, mainId: 99 })
    }
    expect(plan).toThrow(state)
    expect(plan).toThrow(expect.objectContaining({ kind: 'usage', hint: expect.any(String) }))
    expect(plan).toThrow(DashkeepError)
  })

  it('has no step for an account that has what it is to have', () => {
    const accounts = [subAccount(1, 3), subAccount(2, 3)]
    expect(planMove(accounts, new Map([[1, 3]]), limits).steps).toEqual([])
  })
})
