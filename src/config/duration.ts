import { DashkeepError } from '../errors.ts'

const units: Record<string, number> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

/** Matches what `parseDuration` reads. */
export const durationPattern = /^(\d+[smhdw])+$/

/** Reads `26h`, `30d` or `1d12h` as milliseconds. Throws a `usage` error for anything else. */
export function parseDuration(text: string): number {
  if (!durationPattern.test(text)) {
    throw new DashkeepError(`Cannot read the duration ${text}: it is not like 26h, 30d or 1d12h`, {
      kind: 'usage',
      hint: 'the units are s, m, h, d and w',
    })
  }
  let total = 0
  for (const [, digits, unit] of text.matchAll(/(\d+)([smhdw])/g)) {
    total += Number(digits) * (units[unit ?? ''] ?? 0)
  }
  return total
}
