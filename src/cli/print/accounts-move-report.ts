import type { MoveRecord } from '../../accounts/journal.ts'
import type { MovedAccount, MoveOutcome } from '../../accounts/move.ts'
import type { ListedStep, MovePlan, MoveReview } from '../../accounts/move-plan.ts'
import { hintOf } from '../../errors.ts'
import { printHint, type Terminal } from '../terminal.ts'
import { type Managing, nameAccount } from '../verbs/management.ts'
import { formatTable } from './table.ts'

/** A move that was begun and not finished. */
export interface LeftMove {
  readonly record: MoveRecord
  readonly review: MoveReview
  readonly waysOn: WaysOn
}

/** The command lines that finish a move, and that give it up. */
export interface WaysOn {
  readonly finish: string
  readonly discard: string
}

/** Shows what a new move is going to do. */
export function printPlan(terminal: Terminal, plan: MovePlan, { service }: Managing): void {
  terminal.print(`Sub accounts of main account ${nameAccount(service.main)}`)
  const rows = plan.steps.map((step, place) => [
    ...beginning(terminal, step, place),
    String(step.fromGb),
    String(step.toGb),
  ])
  const header = ['', '', 'ACCOUNT', 'NAME', 'GB/DAY', 'THEN']
  const layout = { right: [2, 4, 5], flexible: ['NAME'] }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  terminal.print(`Together ${plan.startGb} GB per day before, ${plan.endGb} after, never more`)
  warnOfNothing(terminal, plan.steps)
}

/** Shows a move that was begun, with what its accounts have by the list. */
export function printLeft(
  terminal: Terminal,
  { review: { steps, nowGb, endGb } }: LeftMove,
  { service }: Managing,
): void {
  terminal.print(`A move that was begun, of main account ${nameAccount(service.main)}`)
  const rows = steps.map((step, place) => [
    ...beginning(terminal, step, place),
    String(step.fromGb),
    formatListed(step),
    String(step.toGb),
  ])
  const header = ['', '', 'ACCOUNT', 'NAME', 'WAS', 'GB/DAY', 'THEN']
  const layout = { right: [2, 4, 5, 6], flexible: ['NAME'] }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  terminal.print(
    `Together ${nowGb} GB per day now, as the list shows, ${endGb} once it is finished`,
  )
  warnOfNothing(terminal, steps)
}

function beginning(
  { colors }: Terminal,
  step: ListedStep | MovePlan['steps'][number],
  place: number,
) {
  const { accountId, accountName, fromGb, toGb } = step
  const action = toGb < fromGb ? colors.yellow('reduce') : colors.green('increase')
  return [String(place + 1), action, String(accountId), accountName]
}

function formatListed({ listedGb }: ListedStep): string {
  if (listedGb === undefined) return 'gone'
  return listedGb === null ? 'flexible' : String(listedGb)
}

function warnOfNothing({ colors, print }: Terminal, steps: MovePlan['steps']): void {
  for (const { accountId, fromGb, toGb } of steps) {
    if (toGb > 0 || fromGb === 0) continue
    print(
      `${colors.yellow('warning')} account ${accountId} will take no logs at all with 0 GB per day`,
    )
  }
}

/** Says that a move cannot be finished, and what can be done instead. */
export function printConflict(terminal: Terminal, error: Error, { waysOn }: LeftMove): void {
  terminal.print(`${terminal.colors.red('failed')} ${error.message}`)
  printHint(terminal, error)
  printWaysOn(terminal, waysOn)
}

/** Says how a move has ended and, where it is unfinished, what can be done. */
export function printOutcome(terminal: Terminal, outcome: MoveOutcome, ways: WaysOn): void {
  const { colors } = terminal
  if (outcome.ended === 'moved') {
    const shown = outcome.shown ? 'as the list shows' : 'but the list does not show it yet'
    terminal.print(`${colors[outcome.shown ? 'green' : 'yellow']('moved')}, ${shown}`)
    return
  }
  const { error } = outcome
  terminal.print(`${colors.red('failed')} ${error.message}`)
  printHint(terminal, error)
  if (outcome.ended === 'undone') {
    terminal.print('Every account has what it had before')
    return
  }
  if (outcome.undoError) {
    terminal.print(`${colors.red('not undone')} ${outcome.undoError.message}`)
  }
  for (const account of outcome.accounts) {
    const { accountId, fromGb, toGb } = account
    const now = describeNow(account)
    terminal.print(`  account ${accountId}: ${now}, was ${fromGb}, is to be ${toGb}`)
  }
  printWaysOn(terminal, ways)
}

/** What was acknowledged counts more than a list, which may be late, unless others have changed it. */
function describeNow({ fromGb, toGb, nowGb, listedGb }: MovedAccount): string {
  const isOthers = listedGb !== fromGb && listedGb !== toGb
  if (listedGb !== undefined && (isOthers || nowGb === undefined)) {
    return `${listedGb ?? 'no'} GB per day by the list`
  }
  return `${nowGb ?? `${fromGb} or ${toGb} (nobody knows)`} GB per day now`
}

function printWaysOn({ print }: Terminal, { finish, discard }: WaysOn): void {
  print(`To finish: ${finish}`)
  print(`To give it up, with the accounts as they are: ${discard}`)
}

/** Stable members for programs; docs/json-output.md documents them. */
export function outcomeToJson(plan: MovePlan, outcome: MoveOutcome, ways: WaysOn): object {
  const base = { done: outcome.ended === 'moved', ended: outcome.ended, ...plan }
  const accounts = outcome.accounts.map(({ accountId, nowGb, listedGb }) => {
    return { accountId, nowGb: nowGb ?? null, listedGb: listedGb ?? null }
  })
  if (outcome.ended === 'moved') return { ...base, accounts, shown: outcome.shown }
  const { error } = outcome
  const told = { ...base, accounts, error: error.message, hint: hintOf(error) }
  if (outcome.ended === 'undone') return told
  return { ...told, undoError: outcome.undoError?.message, ...ways }
}

/** Stable members for programs; docs/json-output.md documents them. */
export function leftToJson(
  { review, waysOn }: LeftMove,
  { ended, error }: { ended?: 'unfinished' | 'discarded'; error?: Error } = {},
): object {
  const { steps, nowGb, endGb } = review
  return {
    done: ended === 'discarded',
    ...(ended && { ended }),
    steps: steps.map((step) => ({ ...step, listedGb: step.listedGb ?? null })),
    startGb: nowGb,
    endGb,
    ...(error && { error: error.message, hint: hintOf(error) }),
    ...(ended !== 'discarded' && waysOn),
  }
}
