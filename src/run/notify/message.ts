import { cleanLine } from '../../clean-text.ts'
import { formatAge, formatTime, plural } from '../../wording.ts'
import {
  type AccountOutcome,
  countResults,
  type GoodSnapshot,
  type RunOutcome,
} from '../outcome.ts'
import type { Announcement } from './events.ts'

/** Accounts that a message describes; the others are counted. */
const MAX_DESCRIBED = 20

/** Longest line in characters. Receivers accept a few ten thousand characters per message. */
const MAX_LINE = 1000

/** The message as plain text: what happened, since when, and what to do. */
export function composeText(announcement: Announcement): string {
  return composeLines(announcement).join('\n')
}

/** The lines of a message. Text of the service and the archive cannot add line breaks. */
export function composeLines(announcement: Announcement): string[] {
  const { run } = announcement
  const accounts = announcement.accounts.filter(({ outcome }) => !isFailureOfRun(outcome, run))
  const described = accounts
    .slice(0, MAX_DESCRIBED)
    .flatMap(({ outcome }) => describeAccount(outcome, run))
  const hidden = Math.max(0, accounts.length - MAX_DESCRIBED)
  const lines = [
    headline(run),
    ...(run.error ? describeError(run.error) : []),
    ...described,
    ...(hidden > 0 ? [`… and ${plural(hidden, 'more account')}`] : []),
    `run ${run.run}, ${formatTime(run.startedAt)} to ${formatTime(run.endedAt)} UTC, exit status ${run.exitCode}`,
  ]
  return lines.map((line) => cleanLine(line, MAX_LINE))
}

/** Whether an account failed only because the whole run failed. That error is reported once. */
function isFailureOfRun({ result, reasons }: AccountOutcome, { error }: RunOutcome): boolean {
  return result === 'failed' && error !== undefined && reasons[0] === error.message
}

/** Such as `dashkeep: of 40 accounts 1 failed, 2 suspect, 37 good`. */
function headline({ accounts, error }: RunOutcome): string {
  const { failed, suspect, good } = countResults(accounts)
  const all = plural(accounts.length, 'account')
  if (error !== undefined && good + suspect === 0) return 'dashkeep: the backup failed'
  const bad = [failed > 0 && `${failed} failed`, suspect > 0 && `${suspect} suspect`]
  const parts = [...bad.filter(Boolean), `${good} good`]
  return `dashkeep: of ${all} ${parts.join(', ')}`
}

function describeError({ message, hint }: { message: string; hint: string | undefined }): string[] {
  return hint === undefined ? [message] : [message, `  to do: ${hint}`]
}

function describeAccount(outcome: AccountOutcome, run: RunOutcome): string[] {
  const { account, result, reasons, hint, taken, recovered, badSince } = outcome
  const state = recovered ? 'recovered' : result
  const lines = [`${state} ${account}: ${reasons.join('; ') || describeTaken(outcome)}`]
  if (reasons.length > 0 && taken !== undefined) lines.push(`  ${describeTaken(outcome)}`)
  if (result !== 'good') lines.push(`  since: ${describeSince(outcome, run)}`)
  else if (badSince)
    lines.push(`  had not been good since ${describeMoment(badSince, run.endedAt)}`)
  if (hint !== undefined) lines.push(`  to do: ${hint}`)
  return lines
}

function describeTaken({ taken }: AccountOutcome): string {
  if (taken === undefined) return 'no snapshot'
  const { added = 0, removed = 0, changed = 0 } = taken.changes ?? {}
  const parts = [
    `snapshot ${taken.snapshot}`,
    plural(taken.objects, 'object'),
    added > 0 && `${added} added`,
    removed > 0 && `${removed} removed`,
    changed > 0 && `${changed} changed`,
  ]
  return parts.filter(Boolean).join(', ')
}

function describeSince(
  { badSince, lastGood }: AccountOutcome,
  { startedAt, endedAt: now }: RunOutcome,
): string {
  const isOld = badSince !== undefined && badSince < startedAt
  const begun = isOld && `not good since ${describeMoment(badSince, now)}`
  return [begun, describeGood(lastGood, now)].filter(Boolean).join('; ')
}

function describeGood(good: GoodSnapshot | undefined, now: Date): string {
  if (good === undefined) return 'no good snapshot is known'
  return `last good snapshot ${good.snapshot} of ${describeMoment(good.takenAt, now)}`
}

function describeMoment(time: Date, now: Date): string {
  return `${formatTime(time)} UTC (${formatAge(time, now)})`
}
