import { DashkeepError } from '../errors.ts'

const units = {
  w: 7 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
} as const

/** Matches the durations that `parseDuration` reads, also those above the maximum. */
export const durationPattern = /^(\d+[smhdw])+$/

/** The longest duration: 100 years. A date moved by more may be invalid. */
export const maxDurationMs = 36_500 * units.d

/** The longest that a timer can wait. */
export const maxTimerMs = 2 ** 31 - 1

/** Reads `26h`, `30d` or `1d12h` as milliseconds. Throws a `usage` error for anything else. */
export function parseDuration(text: string): number {
  if (!durationPattern.test(text)) {
    throw new DashkeepError(`Cannot read the duration ${text}: it is not like 26h, 30d or 1d12h`, {
      kind: 'usage',
      hint: 'the units are s, m, h, d and w',
    })
  }
  const total = addUp(text)
  if (total <= maxDurationMs) return total
  throw new DashkeepError(`Cannot use the duration ${text}: it is longer than 36500d`, {
    kind: 'usage',
    hint: 'give a duration of at most 100 years',
  })
}

/** Adds up the parts of a text that matches `durationPattern`. Has no maximum. */
export function addUp(text: string): number {
  const parts = text.matchAll(/(\d+)([smhdw])/g)
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as 's'], 0)
}

/** Formats milliseconds, a multiple of 1000, for `parseDuration`. */
export function formatDuration(ms: number): string {
  let rest = ms
  const parts = Object.entries(units).map(([unit, length]) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count > 0 ? `${count}${unit}` : ''
  })
  return parts.join('') || '0s'
}
