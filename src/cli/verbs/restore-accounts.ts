// Tested by test/e2e/promote-accounts.test.ts

import type { AccountConfig } from '../../config/config.ts'
import { hintOf, InterruptedError } from '../../errors.ts'
import { type JsonDocument, stringifyLossless } from '../../objects/lossless-json.ts'
import { objectsToSend, type RestoreAction } from '../../restore/plan.ts'
import { promote } from '../../restore/promote.ts'
import { combineExitCodes, exitCodeOf, exitCodes } from '../../run/exit-codes.ts'
import { sourceToJson } from '../print/restore-report.ts'
import { formatTable } from '../print/table.ts'
import { createIdentify } from '../select/choose-account.ts'
import { chooseTargets } from '../select/choose-targets.ts'
import { notConfirmed, printHint, type Terminal } from '../terminal.ts'
import type { RestoreOptions } from './restore-options.ts'
import { type GivenPromotion, type RestoredInto, restoreInto } from './restore-service.ts'

/**
 * How the promotion into one account ended:
 * - `promoted`: all objects of the plan are in the account.
 * - `unchanged`: there was nothing to send.
 * - `planned`: nothing was sent, because of `--dry-run` or without a confirmation.
 * - `partly`, `failed`: some objects, or none, are in the account.
 * - `not begun`: the command was interrupted before.
 */
type Ending = 'promoted' | 'unchanged' | 'planned' | 'partly' | 'failed' | 'not begun'

/** The result of one account. Leaves out the plan, because the plans of many accounts need much memory. */
interface AccountResult {
  readonly name: string
  readonly ended: Ending
  /** Number of objects for each of `actions`; undefined without a plan. */
  readonly counts?: readonly number[] | undefined
  readonly error?: Error | undefined
  readonly exitCode?: number | undefined
  readonly isUnasked?: boolean | undefined
  readonly document?: JsonDocument | undefined
}

const actions: readonly RestoreAction[] = ['create', 'overwrite', 'leave', 'same']

/** Promotes into several accounts, one after the other, each with a plan and a question of its own. */
export async function restoreToAccounts(
  terminal: Terminal,
  options: RestoreOptions,
  given: GivenPromotion,
): Promise<number> {
  const { context, chosen } = given
  const { accounts, leftOut } = await chooseTargets(
    context.config,
    options.toAccounts ?? [],
    chosen.source.account?.id,
    createIdentify(context, terminal),
  )
  const results: AccountResult[] = []
  for (const account of accounts) {
    const isOver = terminal.signal.aborted || findInterruption(results) !== undefined
    const { name } = account
    results.push(
      isOver
        ? { name, ended: 'not begun' }
        : await promoteInto(terminal, options, { ...given, account }),
    )
    if (!terminal.json) terminal.print()
  }
  if (terminal.json) {
    const document = { source: sourceToJson(chosen), leftOut, accounts: results.map(toJson) }
    terminal.printJson<JsonDocument>(document, stringifyLossless)
  } else printResults(terminal, results, leftOut)
  terminal.signal.throwIfAborted()
  const interruption = findInterruption(results)
  if (interruption !== undefined) throw interruption
  if (results.some(({ isUnasked }) => isUnasked)) throw notConfirmed('promote')
  return combineExitCodes(results.map(exitCodeOfResult))
}

/** The key that interrupted a question, which no signal reports. */
function findInterruption(results: readonly AccountResult[]): Error | undefined {
  return results.find(({ error }) => error instanceof InterruptedError)?.error
}

/** Promotes into one account. Never throws. */
async function promoteInto(
  terminal: Terminal,
  options: RestoreOptions,
  given: GivenPromotion & { readonly account: AccountConfig },
): Promise<AccountResult> {
  const { chosen, map, account } = given
  const { name } = account
  try {
    const restoring = await promote(chosen, map(name))
    const restored = await restoreInto(terminal, options, { ...given, restoring, into: account })
    if (restored.error !== undefined) printError(terminal, name, restored.error)
    const { exitCode, isUnasked, document, error } = restored
    const counts = countActions(restored)
    return { name, ended: endingOf(restored), counts, error, exitCode, isUnasked, document }
  } catch (error) {
    if (error instanceof InterruptedError) return { name, ended: 'not begun', error }
    if (!terminal.signal.aborted) printError(terminal, name, error as Error)
    return { name, ended: 'failed', error: error as Error }
  }
}

function endingOf({ plan, applied, error, exitCode }: RestoredInto): Ending {
  if (error !== undefined) return 'failed'
  if (applied === undefined) return objectsToSend(plan).length === 0 ? 'unchanged' : 'planned'
  if (exitCode === exitCodes.done) return 'promoted'
  return exitCode === exitCodes.partly ? 'partly' : 'failed'
}

function countActions({ plan }: RestoredInto): number[] {
  return actions.map((action) => plan.objects.filter((planned) => planned.action === action).length)
}

function exitCodeOfResult({ error, exitCode = exitCodes.failed }: AccountResult): number {
  return error === undefined ? exitCode : exitCodeOf(error)
}

function printError(terminal: Terminal, name: string, error: Error): void {
  if (terminal.json) return
  const [first = '', ...problems] = error.message.split('\n')
  terminal.print([`${terminal.colors.red('failed')} ${name}: ${first}`, ...problems])
  printHint(terminal, error)
}

function printResults(
  terminal: Terminal,
  results: readonly AccountResult[],
  leftOut: readonly string[],
): void {
  const { colors } = terminal
  const rows = results.map(({ name, ended, counts }) => {
    const isBad = ended === 'partly' || ended === 'failed' || ended === 'not begun'
    return [
      name,
      (isBad ? colors.red : colors.green)(ended),
      ...(counts ?? actions.map(() => '')).map(String),
    ]
  })
  const header = ['ACCOUNT', 'RESULT', ...actions.map((action) => action.toUpperCase())]
  const layout = { right: [2, 3, 4, 5], flexible: ['ACCOUNT'] }
  terminal.print(formatTable(terminal, header, rows, layout))
  for (const name of leftOut) {
    terminal.print(`left out ${name}: it is the account that the objects come from`)
  }
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson({ name, ended, document, error }: AccountResult): JsonDocument {
  return {
    name,
    ended,
    error: error?.message,
    hint: hintOf(error),
    restore: document,
  }
}
