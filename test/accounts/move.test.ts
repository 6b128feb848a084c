import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMoveJournal, type MoveRecord, readMoveRecord } from '../../src/accounts/journal.ts'
import { applyMove } from '../../src/accounts/move.ts'
import { planMove } from '../../src/accounts/move-plan.ts'
import { createScriptedService, type Fate, type ScriptedService } from './scripted-service.ts'

const mainId = 99
const pollLimits = { waitMs: 0, lists: 2 }
const start = new Map([
  [1, 5],
  [2, 1],
])
const wanted = new Map([
  [1, 3],
  [2, 3],
])

let folder = ''
let moves = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-move-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The move of `start` to `wanted`, or of others, with its journal begun. */
async function begin(service: ScriptedService, capacities: ReadonlyMap<number, number> = wanted) {
  moves += 1
  const journal = createMoveJournal(join(folder, `${moves}.json`))
  const plan = planMove(await service.listSubAccounts(), capacities, { minGb: 0, mainId })
  const record: MoveRecord = { formatVersion: 1, mainAccountId: mainId, plan, begun: 0 }
  await journal.begin(record)
  return { record, journal }
}

async function move(service: ScriptedService, capacities?: ReadonlyMap<number, number>) {
  const { record, journal } = await begin(service, capacities)
  const outcome = await applyMove(service, record, { journal, mainId, pollLimits })
  return { outcome, journal, left: await readMoveRecord(journal.path) }
}

describe('a move', () => {
  it('makes 3 and 3 of 5 and 1, the higher account first', async () => {
    const service = createScriptedService(start)
    const { outcome, left } = await move(service)
    expect(outcome).toMatchObject({ ended: 'moved', shown: true })
    expect(service.replaced).toEqual(['1=3', '2=3'])
    expect(service.capacities).toEqual(wanted)
    expect(left).toBeUndefined()
  })

  it('undoes the reduction when the increase is refused, and leaves no journal', async () => {
    const service = createScriptedService(start, ['done', 'refused'])
    const { outcome, left } = await move(service)
    expect(outcome).toMatchObject({ ended: 'undone', error: { message: 'refused' } })
    expect(service.replaced).toEqual(['1=3', '2=3', '1=5'])
    expect(service.capacities).toEqual(start)
    expect(left).toBeUndefined()
  })

  it('takes an increase back before it raises the other again when its answer was lost', async () => {
    const service = createScriptedService(start, ['done', 'lost'])
    const { outcome } = await move(service)
    expect(outcome.ended).toBe('undone')
    expect(service.replaced).toEqual(['1=3', '2=3', '2=1', '1=5'])
    expect(service.capacities).toEqual(start)
    expect(service.highestGb).toBe(6)
  })

  it('raises nothing again while it is not known whether the increase was taken back', async () => {
    const service = createScriptedService(start, ['done', 'lost', 'not sent'])
    const { outcome, left } = await move(service)
    expect(outcome).toMatchObject({
      ended: 'unfinished',
      accounts: [
        { accountId: 1, nowGb: 3 },
        { accountId: 2, nowGb: undefined },
      ],
      undoError: { message: 'broke off' },
    })
    expect(service.highestGb).toBe(6)
    expect(left?.begun).toBe(2)
  })

  it('stops, and undoes nothing, when somebody else changes an account in between', async () => {
    const service = createScriptedService(start)
    const replaceSubAccount: ScriptedService['replaceSubAccount'] = async (...call) => {
      await service.replaceSubAccount(...call)
      service.capacities.set(1, 4)
    }
    const { record, journal } = await begin(service)
    const meddled = { ...service, replaceSubAccount }
    const outcome = await applyMove(meddled, record, { journal, mainId, pollLimits })
    expect(outcome).toMatchObject({ ended: 'unfinished' })
    expect((outcome as { error: Error }).error.message).toContain('somebody else has set account 1')
    expect(service.replaced).toEqual(['1=3'])
  })

  it('sends nothing when somebody else has changed an account since the plan was made', async () => {
    const service = createScriptedService(start)
    const { record, journal } = await begin(service)
    service.capacities.set(2, 2)
    const outcome = await applyMove(service, record, { journal, mainId, pollLimits })
    expect(outcome.ended).toBe('undone')
    expect(service.replaced).toEqual([])
    expect(await readMoveRecord(journal.path)).toBeUndefined()
  })

  it('increases nothing while the list does not show the reduction', async () => {
    const service = createScriptedService(start)
    const old = await service.listSubAccounts()
    const stale = { ...service, listSubAccounts: async () => old }
    const { record, journal } = await begin(service)
    const outcome = await applyMove(stale, record, { journal, mainId, pollLimits })
    expect(outcome).toMatchObject({ ended: 'undone' })
    expect(service.replaced).toEqual(['1=3', '1=5'])
  })

  it('undoes what was done before a kill, too, when it is resumed and refused', async () => {
    const { record, journal } = await begin(createScriptedService(start))
    const service = createScriptedService(wanted, ['refused'])
    const killed = { ...record, begun: 2 }
    const outcome = await applyMove(service, killed, { journal, mainId, pollLimits })
    expect(outcome.ended).toBe('undone')
    expect(service.replaced).toEqual(['1=3', '2=1', '1=5'])
    expect(service.capacities).toEqual(start)
  })

  it('stops between two steps when interrupted, and keeps its journal', async () => {
    const service = createScriptedService(start)
    const interruption = new AbortController()
    const replaceSubAccount: ScriptedService['replaceSubAccount'] = async (...call) => {
      await service.replaceSubAccount(...call)
      interruption.abort(new Error('told to stop'))
    }
    const { record, journal } = await begin(service)
    const { signal } = interruption
    const options = { journal, mainId, pollLimits, signal }
    const outcome = await applyMove({ ...service, replaceSubAccount }, record, options)
    expect(outcome).toMatchObject({ ended: 'unfinished', error: { message: 'told to stop' } })
    expect(service.replaced).toEqual(['1=3'])
    expect(await readMoveRecord(journal.path)).toMatchObject({ begun: 1 })
  })

  const fates = fc.array(fc.constantFrom<Fate>('done', 'refused', 'lost', 'not sent'), {
    maxLength: 8,
  })
  const capacities = fc.array(fc.record({ from: fc.nat(50), to: fc.nat(50) }), {
    minLength: 2,
    maxLength: 4,
  })

  it('never uses more than at the start, with any failure, and ends as it reports', async () => {
    await fc.assert(
      fc.asyncProperty(capacities, fates, async (pairs, failures) => {
        const from = new Map(pairs.map((pair, place) => [place + 1, pair.from]))
        const to = new Map(pairs.map((pair, place) => [place + 1, pair.to]))
        const sum = (gb: ReadonlyMap<number, number>) => [...gb.values()].reduce((a, b) => a + b, 0)
        fc.pre(sum(to) <= sum(from))
        const service = createScriptedService(from, failures)
        const { outcome, journal, left } = await move(service, to)
        expect(service.highestGb).toBe(sum(from))
        expect(left === undefined).toBe(outcome.ended !== 'unfinished')
        if (outcome.ended === 'moved') expect(service.capacities).toEqual(to)
        if (outcome.ended === 'undone') expect(service.capacities).toEqual(from)
        if (left === undefined) return
        const healed = createScriptedService(service.capacities)
        const resumed = await applyMove(healed, left, { journal, mainId, pollLimits })
        expect(resumed).toMatchObject({ ended: 'moved', shown: true })
        expect(healed.capacities).toEqual(to)
        expect(Math.max(service.highestGb, healed.highestGb)).toBe(sum(from))
      }),
      { numRuns: 200 },
    )
    expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('.part'))
  })
})

describe('the journal', () => {
  it('is begun once only, so that a second move at the same time is refused', async () => {
    const service = createScriptedService(start)
    const { record, journal } = await begin(service)
    await expect(journal.begin(record)).rejects.toThrow('running or unfinished')
    expect(await readMoveRecord(journal.path)).toEqual(record)
  })
})
