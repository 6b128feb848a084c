import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBaselines, findSuspicions, remember } from '../../src/archive/guard.ts'
import type { Manifest, ManifestExport } from '../../src/archive/manifest.ts'

const dayMs = 24 * 3600_000
const begin = Date.UTC(2026, 10, 1)

function entryOf(sound: number, more: Partial<ManifestExport> = {}): ManifestExport {
  const print = { bytes: 1, sha256: '0'.repeat(64) }
  return {
    type: 'search',
    kibanaVersion: '7.10.2',
    exportedAt: new Date(begin).toISOString(),
    objects: sound,
    sound,
    hollow: 0,
    contentDigest: '0'.repeat(64),
    remarks: {},
    file: { name: 'search.json', compression: 'none', stored: print, content: print },
    ...more,
  }
}

function manifestOf(entry: ManifestExport, takenAt: Date, memory?: Manifest['memory']): Manifest {
  return {
    formatVersion: 1,
    snapshot: '20261101T000000Z-000000',
    takenAt: takenAt.toISOString(),
    account: { id: 1, name: 'Shop' },
    service: 'https://service.example',
    exports: [entry],
    dashkeepVersion: '1',
    ...(memory && { memory }),
  }
}

interface Step {
  readonly sound: number
  readonly takenAt: Date
  readonly acceptFall?: boolean
}

/** Which steps are suspect, and the largest memory of any. */
function walk(steps: readonly Step[], { windowMs = 7 * dayMs, maxFall = 0.5 } = {}) {
  let lastGood: Manifest | undefined
  let highs = 0
  const suspect = steps.map(({ sound, takenAt, acceptFall = false }) => {
    const rules = { takenAt, windowMs, maxFall }
    const entry = entryOf(sound)
    const baselines = findBaselines(lastGood)
    const reasons = findSuspicions({ entry, baseline: baselines.get('search') }, rules)
    if (reasons.length > 0 && !acceptFall) return true
    const memory = remember([entry], baselines, { ...rules, acceptFall })
    highs = Math.max(highs, memory?.search?.highs.length ?? 0)
    lastGood = manifestOf(entry, takenAt, memory)
    return false
  })
  return { suspect, highs }
}

/** The same by the plain rule: at most half may vanish of what any good step of 7 days had. */
function judgeByAll(steps: readonly Step[]): boolean[] {
  const good: Step[] = []
  return steps.map((step) => {
    const from = step.takenAt.getTime() - 7 * dayMs
    // After nine tenths of the window without a good snapshot, another rule applies.
    fc.pre((good.at(-1) ?? step).takenAt.getTime() >= from + 0.7 * dayMs)
    const counting = good.filter((one) => one === good.at(-1) || one.takenAt.getTime() >= from)
    const high = Math.max(0, ...counting.map(({ sound }) => sound))
    const isSuspect = high > 0 && (step.sound === 0 || step.sound < high / 2)
    if (!isSuspect) good.push(step)
    return isSuspect
  })
}

describe('the highest number of a window', () => {
  it('is what a look at every good snapshot of the window gives', () => {
    const step = fc.record({ sound: fc.nat(40), hoursAfter: fc.integer({ min: 6, max: 60 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (drawn) => {
        let hours = 0
        const steps = drawn.map(({ sound, hoursAfter }) => {
          hours += hoursAfter
          return { sound, takenAt: new Date(begin + hours * 3600_000) }
        })
        expect(walk(steps).suspect).toEqual(judgeByAll(steps))
      }),
    )
  })

  it('takes a few numbers, however many runs there are', () => {
    const steps = Array.from({ length: 10_005 }, (_, minute) => ({
      sound: 20_000 - minute,
      takenAt: new Date(begin + minute * 60_000),
    }))
    const { suspect, highs } = walk(steps)
    expect(suspect.indexOf(true)).toBe(10_001)
    expect(highs).toBeLessThanOrEqual(33)
  })
})

describe('a manifest from a wrong clock', () => {
  it('lends no number of the future to the window, and carries none forward', () => {
    const takenAt = new Date(begin)
    const future = { takenAt: new Date(begin + 30 * dayMs).toISOString(), sound: 100 }
    const lastGood = manifestOf(entryOf(10), takenAt, { search: { highs: [future] } })
    const rules = { takenAt: new Date(begin + dayMs) }
    const baselines = findBaselines(lastGood)
    const entry = entryOf(9)
    expect(findSuspicions({ entry, baseline: baselines.get('search') }, rules)).toEqual([])
    const carried = [{ takenAt: takenAt.toISOString(), sound: 10 }]
    expect(remember([entry], baselines, rules)).toEqual({ search: { highs: carried } })
  })
})

describe('objects that lose members', () => {
  const judge = (remarks: ManifestExport['remarks'], kibanaVersion = '7.10.2') => {
    const lastGood = manifestOf(entryOf(10, { remarks: { 'missing-member': 2 } }), new Date(begin))
    const entry = entryOf(10, { remarks, kibanaVersion })
    const baseline = findBaselines(lastGood).get('search')
    return findSuspicions({ entry, baseline }, { takenAt: new Date(begin + dayMs) })
  }

  it('are suspect when more than half of those that had all have some no longer', () => {
    const reasons = ['search: 3 of 10 objects have every member, down from 8']
    expect(judge({ 'missing-member': 7 })).toEqual(reasons)
    expect(judge({ 'missing-member': 2, 'member-form': 7 })).toEqual(reasons)
    expect(judge({ 'missing-member': 6 })).toEqual([])
  })

  it('are not with another kibanaVersion, whose objects may have other members', () => {
    expect(judge({ 'missing-member': 10 }, '8.0.0')).toEqual([])
  })
})
