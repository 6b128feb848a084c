import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFromFuture } from '../../src/archive/future.ts'
import { planRemoval, planRetention, type RetentionCandidate } from '../../src/archive/retention.ts'
import { timePrefix } from '../../src/archive/snapshot-name.ts'

const now = new Date('2026-11-20T16:31:00Z')

function candidate(time: string | Date, more: Partial<RetentionCandidate> = {}) {
  const takenAt = new Date(time)
  const snapshot = `${timePrefix(takenAt)}-000000`
  const plain = { suspect: false, sameAs: undefined, pinned: false, types: ['search'] }
  return { snapshot, takenAt, ...plain, ...more }
}

function kept(...args: Parameters<typeof planRetention>): string[] {
  return planRetention(...args)
    .filter(({ keep }) => keep)
    .map(({ candidate: { takenAt } }) => takenAt.toISOString().slice(0, 10))
}

function reasonsOf(decisions: ReturnType<typeof planRetention>, day: string): readonly string[] {
  const found = decisions.find(({ candidate: { takenAt } }) =>
    takenAt.toISOString().startsWith(day),
  )
  return found?.reasons ?? ['not there']
}

describe('retention', () => {
  it('keeps the newest of each of the newest periods that have one', () => {
    const days = [
      '2025-12-31',
      '2026-01-01',
      '2026-03-05',
      '2026-03-06',
      '2026-03-30',
      '2026-04-02',
    ]
    const all = days.map((day) => candidate(`${day}T08:00:00Z`))
    expect(kept(all, { daily: 2 }, { now })).toEqual(['2026-04-02', '2026-03-30'])
    expect(kept(all, { weekly: 3 }, { now })).toEqual(['2026-04-02', '2026-03-06', '2026-01-01'])
    expect(kept(all, { monthly: 2 }, { now })).toEqual(['2026-04-02', '2026-03-30'])
    expect(kept(all, { yearly: 5 }, { now })).toEqual(['2026-04-02', '2025-12-31'])
  })

  it('knows that a week belongs to the year of its Thursday', () => {
    const all = ['2026-12-31T10:00:00Z', '2027-01-03T10:00:00Z', '2027-01-04T10:00:00Z'].map(
      (day) => candidate(day),
    )
    const decisions = planRetention(all, { weekly: 9 }, { now: new Date('2027-02-01') })
    expect(reasonsOf(decisions, '2027-01-04')).toContain('newest of week 2027-W01')
    expect(reasonsOf(decisions, '2027-01-03')).toContain('newest of week 2026-W53')
    expect(reasonsOf(decisions, '2026-12-31')).toEqual(['no rule keeps it'])
  })

  it('gives every reason', () => {
    const decisions = planRetention(
      [candidate('2026-05-01T08:00:00Z', { pinned: true })],
      { last: 3, hourly: 1, daily: 1, withinMs: 36 * 3600_000 },
      { now },
    )
    expect(reasonsOf(decisions, '2026-05-01')).toEqual([
      'among the newest 3',
      'newest of hour 2026-05-01 08h',
      'newest of day 2026-05-01',
      'newest good snapshot',
      'pinned',
      'within 1.5 days of the newest',
    ])
  })

  it('measures an age from the newest snapshot, so that a clock set forward removes nothing', () => {
    const all = ['2026-01-01', '2026-01-20', '2026-01-31'].map((day) => candidate(day))
    const far = new Date('2099-01-01')
    expect(kept(all, { withinMs: 15 * 86_400_000 }, { now: far })).toEqual([
      '2026-01-31',
      '2026-01-20',
    ])
  })

  it('gives a suspect snapshot no place that a good one could have', () => {
    const all = [
      candidate('2026-05-01T08:00:00Z'),
      candidate('2026-05-01T20:00:00Z', { suspect: true }),
      candidate('2026-05-02T08:00:00Z'),
    ]
    const decisions = planRetention(all, { daily: 2 }, { now })
    expect(decisions.map(({ keep }) => keep)).toEqual([true, false, true])
  })

  it('keeps a suspect snapshot until a good one has followed', () => {
    const all = [candidate('2026-05-01'), candidate('2026-05-02', { suspect: true })]
    expect(kept(all, { last: 1 }, { now })).toEqual(['2026-05-02', '2026-05-01'])
    const followed = planRetention([...all, candidate('2026-05-03')], { last: 1 }, { now })
    expect(followed.map(({ keep }) => keep)).toEqual([true, false, false])
    expect(reasonsOf(followed, '2026-05-02')).toEqual([
      'suspect or damaged, and a good one has followed',
    ])
  })

  it('keeps the files that a kept snapshot shares', () => {
    const holder = candidate('2026-05-01')
    const sharer = candidate('2026-05-02', { sameAs: holder.snapshot })
    const decisions = planRetention([holder, sharer], { last: 1 }, { now })
    expect(reasonsOf(decisions, '2026-05-01')).toEqual(['1 kept snapshot shares its files'])
  })

  it('keeps what was the newest within the last hour, since a run may refer to it', () => {
    const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
    const all = [90, 61, 59, 10].map((minutes) => candidate(before(minutes)))
    const decisions = planRetention(all, { last: 1 }, { now })
    expect(decisions.map(({ reasons }) => reasons)).toEqual([
      ['among the newest 1', 'newest good snapshot'],
      ['was the newest within the last hour'],
      ['was the newest within the last hour'],
      ['no rule keeps it'],
    ])
  })

  it('keeps everything when no rule is given, and what claims to be from the future', () => {
    expect(kept([candidate('2020-01-01'), candidate('2021-01-01')], {}, { now })).toHaveLength(2)
    const decisions = planRetention(
      [candidate('2026-01-01'), candidate('2030-01-01'), candidate('2030-01-02')],
      { last: 1 },
      { now },
    )
    expect(reasonsOf(decisions, '2030-01-01')).toContain('from the future')
    expect(reasonsOf(decisions, '2026-01-01')).toContain('newest good snapshot')
  })
})

const archives = fc
  .array(
    fc.record({
      minute: fc.integer({ min: 0, max: 5_000_000 }),
      suspect: fc.boolean(),
      pinned: fc.boolean(),
      shares: fc.option(fc.nat(), { nil: undefined }),
    }),
    { maxLength: 60 },
  )
  .map((entries) => {
    const minutes = new Map(entries.map((entry) => [entry.minute, entry]))
    const oldestFirst = [...minutes.values()].sort((a, b) => a.minute - b.minute)
    const holders: RetentionCandidate[] = []
    return oldestFirst.map(({ minute, suspect, pinned, shares }) => {
      const holder = shares === undefined ? undefined : holders[shares % (holders.length || 1)]
      const takenAt = new Date(Date.UTC(2017, 0, 1) + minute * 60_000)
      const made = candidate(takenAt, { suspect, pinned, sameAs: holder?.snapshot })
      if (holder === undefined) holders.push(made)
      return made
    })
  })

const rule = fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined })
const policies = fc.record({ last: rule, hourly: rule, daily: rule, weekly: rule, monthly: rule })

describe('a plan for any archive and policy', () => {
  it('keeps the newest good snapshot, pinned ones, and those whose files a kept one shares', () => {
    fc.assert(
      fc.property(archives, policies, (all, policy) => {
        const decisions = planRetention(all, policy, { now })
        const keptNames = new Set(
          decisions.filter(({ keep }) => keep).map(({ candidate: { snapshot } }) => snapshot),
        )
        const newestGood = all.findLast(({ suspect, takenAt }) => !suspect && takenAt <= now)
        if (newestGood !== undefined) expect(keptNames).toContain(newestGood.snapshot)
        if (all.length > 0) expect(keptNames.size).toBeGreaterThan(0)
        for (const { snapshot, pinned, sameAs } of all) {
          if (pinned) expect(keptNames).toContain(snapshot)
          if (keptNames.has(snapshot) && sameAs !== undefined) expect(keptNames).toContain(sameAs)
        }
      }),
    )
  })

  it('never removes by name what the archive needs', () => {
    fc.assert(
      fc.property(archives, fc.infiniteStream(fc.boolean()), (all, coins) => {
        const isNamed = () => coins.next().value as boolean
        const named = new Set(all.filter(isNamed).map(({ snapshot }) => snapshot))
        const decisions = planRemoval(all, named, { now })
        const removed = decisions.filter(({ keep }) => !keep).map(({ candidate }) => candidate)
        const gone = new Set(removed.map(({ snapshot }) => snapshot))
        const newestGood = all.findLast((one) => !one.suspect && !isFromFuture(one, now))
        if (newestGood === undefined) expect(removed).toEqual([])
        else expect(gone).not.toContain(newestGood.snapshot)
        for (const { snapshot, pinned } of removed)
          expect([named.has(snapshot), pinned]).toEqual([true, false])
        for (const { snapshot, sameAs } of all)
          if (!gone.has(snapshot)) expect(gone).not.toContain(sameAs)
      }),
    )
  })

  it('decides the same for snapshots in any order', () => {
    fc.assert(
      fc.property(archives, policies, fc.infiniteStream(fc.nat()), (all, policy, numbers) => {
        const shuffled = all
          .map((one) => ({ one, at: numbers.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ one }) => one)
        expect(planRetention(shuffled, policy, { now })).toEqual(
          planRetention(all, policy, { now }),
        )
      }),
    )
  })

  it('never keeps less when a rule is loosened', () => {
    fc.assert(
      fc.property(archives, fc.integer({ min: 1, max: 8 }), (all, number) => {
        const fewer = new Set(kept(all, { daily: number }, { now }))
        const more = new Set(kept(all, { daily: number + 1 }, { now }))
        for (const day of fewer) expect(more).toContain(day)
      }),
    )
  })
})
