import type { MoveRecord } from '../../accounts/journal.ts'
import type { MovedAccount, MoveOutcome } from '../../accounts/move.ts'
import type { ListedStep, MovePlan, MoveReview } from '../../accounts/move-plan.ts'
import { hintOf } from '../../errors.ts'
import { printHint, type Terminal } from '../terminal.ts'
import { type Managing, nameAccount } from '../verbs/management.ts'
import { formatTable } from './table.ts'

/** An unfinished move. */
export interface UnfinishedMove {
  readonly record: MoveRecord
  readonly review: MoveReview
  readonly nextCommands: NextCommands
}

/** The command lines that finish and discard a move. */
export interface NextCommands {
  readonly finish: string
  readonly discard: string
}

/** Prints the plan of a new move. */
export function printPlan(terminal: Terminal, plan: MovePlan, { service }: Managing): void {
  terminal.print(`Sub accounts of main account ${nameAccount(service.main)}`)
  const rows = plan.steps.map((step, index) => [
    ...stepCells(terminal, step, index),
    String(step.fromGb),
    String(step.toGb),
  ])
  const header = ['', '', 'ACCOUNT', 'NAME', 'GB/DAY', 'THEN']
  const layout = { right: [2, 4, 5], flexible: ['NAME'] }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  terminal.print(
    `In total ${plan.startGb} GB per day before and ${plan.endGb} after; never more in between`,
  )
  warnOfZero(terminal, plan.steps)
}

/** Prints an unfinished move with the present capacities of its accounts. */
export function printUnfinished(
  terminal: Terminal,
  { review: { steps, nowGb, endGb } }: UnfinishedMove,
  { service }: Managing,
): void {
  terminal.print(`Unfinished move of main account ${nameAccount(service.main)}`)
  const rows = steps.map((step, index) => [
    ...stepCells(terminal, step, index),
    String(step.fromGb),
    formatListed(step),
    String(step.toGb),
  ])
  const header = ['', '', 'ACCOUNT', 'NAME', 'WAS', 'GB/DAY', 'THEN']
  const layout = { right: [2, 4, 5, 6], flexible: ['NAME'] }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  terminal.print(`In total ${nowGb} GB per day now, and ${endGb} after the move`)
  warnOfZero(terminal, steps)
}

function stepCells(
  { colors }: Terminal,
  step: ListedStep | MovePlan['steps'][number],
  index: number,
) {
  const { accountId, accountName, fromGb, toGb } = step
  const action = toGb < fromGb ? colors.yellow('reduce') : colors.green('increase')
  return [String(index + 1), action, String(accountId), accountName]
}

function formatListed({ listedGb }: ListedStep): string {
  if (listedGb === undefined) return 'gone'
  return listedGb === null ? 'flexible' : String(listedGb)
}

function warnOfZero({ colors, print }: Terminal, steps: MovePlan['steps']): void {
  for (const { accountId, fromGb, toGb } of steps) {
    if (toGb > 0 || fromGb === 0) continue
    print(`${colors.yellow('warning')} account ${accountId} will accept no logs with 0 GB per day`)
  }
}

/** Prints why a move cannot be finished, and the commands to continue with. */
export function printConflict(
  terminal: Terminal,
  error: Error,
  { nextCommands }: UnfinishedMove,
): void {
  terminal.print(`${terminal.colors.red('failed')} ${error.message}`)
  printHint(terminal, error)
  printNextCommands(terminal, nextCommands)
}

/** Prints the result of a move and, when it is unfinished, the commands to continue with. */
export function printOutcome(terminal: Terminal, outcome: MoveOutcome, ways: NextCommands): void {
  const { colors } = terminal
  if (outcome.ended === 'moved') {
    const shown = outcome.shown
      ? 'and the service lists the new capacities'
      : 'but the service does not list the new capacities yet'
    terminal.print(`${colors[outcome.shown ? 'green' : 'yellow']('moved')}, ${shown}`)
    return
  }
  const { error } = outcome
  terminal.print(`${colors.red('failed')} ${error.message}`)
  printHint(terminal, error)
  if (outcome.ended === 'undone') {
    terminal.print('Every account has its capacity from before the move')
    return
  }
  if (outcome.undoError) {
    terminal.print(`${colors.red('not undone')} ${outcome.undoError.message}`)
  }
  for (const account of outcome.accounts) {
    const { accountId, fromGb, toGb } = account
    const now = describeNow(account)
    terminal.print(`  account ${accountId}: ${now}, was ${fromGb}, wanted ${toGb}`)
  }
  printNextCommands(terminal, ways)
}

/** The capacity now. An accepted request counts more than a late list, unless somebody else changed it. */
function describeNow({ fromGb, toGb, nowGb, listedGb }: MovedAccount): string {
  const isOthers = listedGb !== fromGb && listedGb !== toGb
  if (listedGb !== undefined && (isOthers || nowGb === undefined)) {
    return `${listedGb ?? 'no'} GB per day in the list`
  }
  return `${nowGb ?? `${fromGb} or ${toGb} (unknown)`} GB per day now`
}

function printNextCommands({ print }: Terminal, { finish, discard }: NextCommands): void {
  print(`To finish: ${finish}`)
  print(`To discard it and leave the accounts as they are: ${discard}`)
}

/** Stable members for programs; docs/json-output.md documents them. */
export function outcomeToJson(plan: MovePlan, outcome: MoveOutcome, ways: NextCommands): object {
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
export function unfinishedToJson(
  { review, nextCommands }: UnfinishedMove,
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
    ...(ended !== 'discarded' && nextCommands),
  }
}
