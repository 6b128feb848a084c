import { join } from 'node:path'
import {
  createMoveJournal,
  type MoveRecord,
  moveUnderWay,
  readMoveRecord,
} from '../accounts/journal.ts'
import { applyMove, type MoveOutcome } from '../accounts/move.ts'
import { type MovePlan, planMove, transfer } from '../accounts/move-plan.ts'
import type { SubAccount } from '../accounts/service.ts'
import { DashkeepError, hintOf } from '../errors.ts'
import { exitCodeOf, exitCodeOfInterruption, exitCodes } from './exit-codes.ts'
import {
  type ManagementOptions,
  type Managing,
  nameAccount,
  openManagement,
  parseGb,
  parseSubAccountId,
} from './management.ts'
import { formatTable } from './table.ts'
import { confirm, printHint, type Terminal, unasked } from './terminal.ts'

interface MoveVerbOptions extends ManagementOptions {
  readonly from?: string
  readonly to?: string
  readonly gb?: string
  readonly set?: readonly string[]
  readonly minGb?: string
  readonly journal?: string
  readonly resume?: boolean
}

/** What somebody asks for: a journal, or capacities made from what the list shows. */
type Wanted = (accounts: readonly SubAccount[], mainId: number) => ReadonlyMap<number, number>

/** `dashkeep accounts move-capacity`: reduces first, then increases, and can be taken up again. */
export async function moveCapacity(terminal: Terminal, options: MoveVerbOptions): Promise<number> {
  const wanted = options.resume ? undefined : readWanted(options)
  const minGb = parseGb(options.minGb ?? '0')
  refuseMixed(options)
  await using managing = await openManagement(terminal, options)
  const path = options.journal ?? join('.', `dashkeep-move-${managing.mainId}.json`)
  const left = await readMoveRecord(path)
  const record = wanted
    ? await planRecord(terminal, managing, { wanted, minGb, left, path })
    : recordOf(left, path, managing.mainId)
  const { plan } = record
  if (!terminal.json) printPlan(terminal, plan, managing)
  const toMove = plan.steps.length > 0
  const answer = toMove ? await confirm(terminal, 'Move the capacity?', options) : 'no'
  if (answer !== 'yes') {
    if (terminal.json) terminal.printJson({ done: false, ...plan })
    else terminal.print(toMove ? 'Nothing was moved' : 'Nothing to move')
    if (answer === 'unasked') throw unasked('move capacity')
    return exitCodes.done
  }
  const journal = createMoveJournal(path)
  if (wanted) await journal.begin(record)
  const { service, mainId, patience } = managing
  const { signal } = terminal
  const outcome = await applyMove(service, record, { journal, mainId, patience, signal })
  const finish = finishCommand(options, path)
  if (terminal.json) terminal.printJson(toJson(plan, outcome, finish))
  else printOutcome(terminal, outcome, finish)
  return exitCodeFor(outcome, signal)
}

function refuseMixed({ resume, from, to, gb, set }: MoveVerbOptions): void {
  if (!resume || (from ?? to ?? gb ?? set) === undefined) return
  throw usage('--resume takes up the move of the journal', 'leave out --from, --to, --gb and --set')
}

function readWanted({ from, to, gb, set }: MoveVerbOptions): Wanted {
  if (set !== undefined && (from ?? to ?? gb) === undefined) {
    const wantedGb = parseSet(set)
    return () => wantedGb
  }
  if (set === undefined && from !== undefined && to !== undefined && gb !== undefined) {
    const move = { from: parseSubAccountId(from), to: parseSubAccountId(to), gb: parseGb(gb) }
    return (accounts, mainId) => transfer(accounts, { ...move, mainId })
  }
  throw usage(
    'it is not clear what to move',
    'say --from ID --to ID --gb N, or --set ID=GB for each account, or --resume',
  )
}

function parseSet(pairs: readonly string[]): Map<number, number> {
  const wanted = new Map<number, number>()
  for (const pair of pairs) {
    const [, id, gb] = /^([^=]+)=([^=]+)$/.exec(pair) ?? []
    if (id === undefined || gb === undefined) {
      throw usage(`--set ${pair} is not like 12345=3`, 'give the id of an account and GB per day')
    }
    const accountId = parseSubAccountId(id)
    if (wanted.has(accountId)) throw usage(`account ${accountId} is set twice`, 'set it once')
    wanted.set(accountId, parseGb(gb))
  }
  return wanted
}

async function planRecord(
  { signal }: Terminal,
  { service, mainId }: Managing,
  given: { wanted: Wanted; minGb: number; left: MoveRecord | undefined; path: string },
): Promise<MoveRecord> {
  if (given.left) throw moveUnderWay(given.path)
  const accounts = await service.listSubAccounts({ signal })
  const plan = planMove(accounts, given.wanted(accounts, mainId), { minGb: given.minGb, mainId })
  return { formatVersion: 1, mainAccountId: mainId, plan, begun: 0 }
}

function recordOf(left: MoveRecord | undefined, path: string, mainId: number): MoveRecord {
  if (left === undefined) {
    throw usage(
      `${path} is not there`,
      'without a journal no move is unfinished; --journal names it',
    )
  }
  if (left.mainAccountId === mainId) return left
  throw usage(
    `${path} is of main account ${left.mainAccountId}, the token belongs to ${mainId}`,
    'use the token of that account',
  )
}

function usage(state: string, hint: string): DashkeepError {
  return new DashkeepError(`Cannot move capacity: ${state}`, { kind: 'usage', hint })
}

/** The command line that takes up what this one has left. */
function finishCommand({ account, config }: MoveVerbOptions, path: string): string {
  const given = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(account === undefined ? [] : ['--account', account]),
    '--journal',
    path,
  ]
  const words = given.map((word) => (/^[\w./:=-]+$/.test(word) ? word : JSON.stringify(word)))
  return `dashkeep accounts move-capacity --resume ${words.join(' ')}`
}

function exitCodeFor(outcome: MoveOutcome, signal: AbortSignal): number {
  if (outcome.ended === 'moved') return outcome.shown ? exitCodes.done : exitCodes.partly
  if (signal.aborted) return exitCodeOfInterruption(signal)
  return outcome.ended === 'undone' ? exitCodeOf(outcome.error) : exitCodes.partly
}

/** Stable members for programs; documented in the README. */
function toJson(plan: MovePlan, outcome: MoveOutcome, finish: string): object {
  const base = { done: outcome.ended === 'moved', ended: outcome.ended, ...plan }
  const accounts = outcome.accounts.map(({ accountId, nowGb }) => {
    return { accountId, nowGb: nowGb ?? null }
  })
  if (outcome.ended === 'moved') return { ...base, accounts, shown: outcome.shown }
  const { error } = outcome
  const told = { ...base, accounts, error: error.message, hint: hintOf(error) }
  if (outcome.ended === 'undone') return told
  return { ...told, undoError: outcome.undoError?.message, finish }
}

function printPlan(terminal: Terminal, plan: MovePlan, { service }: Managing): void {
  const { colors } = terminal
  terminal.print(`Sub accounts of main account ${nameAccount(service.main)}`)
  const rows = plan.steps.map(({ accountId, accountName, fromGb, toGb }, place) => [
    String(place + 1),
    toGb < fromGb ? colors.yellow('reduce') : colors.green('increase'),
    String(accountId),
    accountName,
    String(fromGb),
    String(toGb),
  ])
  const header = ['', '', 'ACCOUNT', 'NAME', 'GB/DAY', 'THEN']
  if (rows.length > 0) terminal.print(formatTable(header, rows, { colors, right: [2, 4, 5] }))
  terminal.print(`Together ${plan.startGb} GB per day before, ${plan.endGb} after, never more`)
  for (const { accountId, fromGb, toGb } of plan.steps) {
    if (toGb > 0 || fromGb === 0) continue
    terminal.print(
      `${colors.yellow('warning')} account ${accountId} will take no logs at all with 0 GB per day`,
    )
  }
}

function printOutcome(terminal: Terminal, outcome: MoveOutcome, finish: string): void {
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
  for (const { accountId, fromGb, toGb, nowGb } of outcome.accounts) {
    const now = nowGb ?? `${fromGb} or ${toGb} (nobody knows)`
    terminal.print(`  account ${accountId}: ${now} GB per day now, was ${fromGb}, is to be ${toGb}`)
  }
  terminal.print(`To finish: ${finish}`)
}
