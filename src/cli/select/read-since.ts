import { durationPattern, parseDuration } from '../../config/duration.ts'
import { DashkeepError } from '../../errors.ts'
import { readDate } from './read-date.ts'

/** Reads the value of `--since`: a date, or a duration before now such as `7d`. */
export function readSince(text: string, now: Date): Date {
  if (durationPattern.test(text)) return new Date(now.getTime() - parseDuration(text))
  const date = readDate(text)
  if (date !== undefined) return date
  throw new DashkeepError(`Cannot use --since ${text}: it is neither a date nor a duration`, {
    kind: 'usage',
    hint: 'use for example --since 2026-11-01 or --since 7d',
  })
}
