import { join } from 'node:path'
import {
  createMoveJournal,
  type MoveJournal,
  type MoveRecord,
  moveUnderWay,
  readMoveRecord,
} from '../../accounts/journal.ts'
import { applyMove, ChangedMeanwhile, type MoveOutcome } from '../../accounts/move.ts'
import { bodiesOf, planMove, reviewMove, transfer } from '../../accounts/move-plan.ts'
import type { SubAccount } from '../../accounts/service.ts'
import { DashkeepError } from '../../errors.ts'
import { exitCodeOfInterruption, exitCodes } from '../../run/exit-codes.ts'
import {
  type NextCommands,
  outcomeToJson,
  printConflict,
  printOutcome,
  printPlan,
  printUnfinished,
  type UnfinishedMove,
  unfinishedToJson,
} from '../print/accounts-move-report.ts'
import { type Answer, confirm, notConfirmed, type Terminal } from '../terminal.ts'
import {
  type ManagementOptions,
  type Managing,
  openManagement,
  parseGb,
  parseSubAccountId,
  printBody,
} from './management.ts'

interface MoveVerbOptions extends ManagementOptions {
  readonly from?: string
  readonly to?: string
  readonly gb?: string
  readonly set?: readonly string[]
  readonly minGb?: string
  readonly journal?: string
  readonly resume?: boolean
  readonly discard?: boolean
}

/** Computes the wanted capacity of each account from the present list. */
type Wanted = (accounts: readonly SubAccount[], mainId: number) => ReadonlyMap<number, number>

/** What beginning, resuming and discarding a move have in common. */
interface Moving {
  readonly managing: Managing
  readonly options: MoveVerbOptions
  readonly journal: MoveJournal
  /** The accounts before anything is sent. */
  readonly accounts: readonly SubAccount[]
}

/** `dashkeep accounts move-capacity`: reduces first and increases then. An interrupted move can be resumed. */
export async function moveCapacity(terminal: Terminal, options: MoveVerbOptions): Promise<number> {
  refuseMixed(options)
  const { resume, discard } = options
  const wanted = resume || discard ? undefined : readWanted(options)
  const minGb = parseGb(options.minGb ?? '0')
  await using managing = await openManagement(terminal, options)
  const { service, mainId } = managing
  const path = options.journal ?? join('.', `dashkeep-move-${mainId}.json`)
  const left = await readMoveRecord(path)
  if (wanted && left) throw moveUnderWay(path)
  const accounts = await service.listSubAccounts(terminal)
  const moving = { managing, options, accounts, journal: createMoveJournal(path) }
  if (wanted === undefined) {
    const record = recordOf(left, path, mainId)
    const review = reviewMove(accounts, record.plan.steps)
    const found = { record, review, nextCommands: nextCommands(options, path) }
    if (!terminal.json) printUnfinished(terminal, found, managing)
    const takeUp = discard ? discardMove : resumeMove
    return await takeUp(terminal, moving, found)
  }
  const plan = planMove(accounts, wanted(accounts, mainId), { minGb, mainId })
  return await beginMove(terminal, moving, {
    formatVersion: 1,
    mainAccountId: mainId,
    plan,
    begun: 0,
  })
}

async function beginMove(terminal: Terminal, moving: Moving, record: MoveRecord): Promise<number> {
  const { managing, journal } = moving
  const { plan } = record
  if (!terminal.json) printPlan(terminal, plan, managing)
  const answer = await ask(terminal, moving, record)
  if (answer !== 'yes') {
    const bodies = bodiesOf(moving.accounts, plan, managing)
    if (terminal.json) terminal.printJson({ done: false, ...plan, bodies })
    if (answer === 'unasked') throw notConfirmed('move capacity')
    return exitCodes.done
  }
  await journal.begin(record)
  return carryOut(terminal, moving, { record, startGb: plan.startGb })
}

/** Resumes an unfinished move, unless somebody else has changed its accounts since. */
async function resumeMove(
  terminal: Terminal,
  moving: Moving,
  left: UnfinishedMove,
): Promise<number> {
  const { record, review } = left
  const [conflict] = review.conflicts
  if (conflict !== undefined) {
    const error = new ChangedMeanwhile(conflict)
    if (terminal.json) terminal.printJson(unfinishedToJson(left, { ended: 'unfinished', error }))
    else printConflict(terminal, error, left)
    return exitCodes.partly
  }
  const answer = await ask(terminal, moving, record)
  if (answer === 'yes') return carryOut(terminal, moving, { record, startGb: review.nowGb })
  const bodies = bodiesOf(moving.accounts, record.plan, moving.managing)
  if (terminal.json) terminal.printJson({ ...unfinishedToJson(left), bodies })
  if (answer === 'unasked') throw notConfirmed('resume the move')
  return exitCodes.done
}

/** Deletes the journal of an unfinished move and leaves the accounts as they are. */
async function discardMove(
  terminal: Terminal,
  moving: Moving,
  left: UnfinishedMove,
): Promise<number> {
  const { options, journal } = moving
  const question = 'Delete the journal of this move?'
  const answer = options.dryRun ? 'no' : await confirm(terminal, question, options)
  const agreed = answer === 'yes'
  if (agreed) await journal.end()
  const discarded = terminal.colors.green('discarded')
  if (terminal.json)
    terminal.printJson(unfinishedToJson(left, agreed ? { ended: 'discarded' } : {}))
  else if (agreed) {
    terminal.print(`${discarded} ${journal.path}; the accounts stay as they are`)
  } else terminal.print('The journal was not deleted')
  if (answer === 'unasked') throw notConfirmed('delete the journal of the move')
  return exitCodes.done
}

/** Asks whether to move. Says when nothing is moved, and prints the bodies for `--dry-run`. */
async function ask(
  terminal: Terminal,
  { managing, options, accounts }: Moving,
  { plan }: MoveRecord,
): Promise<Answer> {
  const isEmpty = plan.steps.length === 0
  const mayAsk = !isEmpty && !options.dryRun
  const answer = mayAsk ? await confirm(terminal, 'Move the capacity?', options) : 'no'
  if (answer === 'yes' || terminal.json) return answer
  if (options.dryRun) {
    for (const body of bodiesOf(accounts, plan, managing)) printBody(terminal, body)
  }
  const dryRun = options.dryRun ? '; these are the bodies of the requests' : ''
  terminal.print(isEmpty ? 'Nothing to move' : `Nothing was moved${dryRun}`)
  return answer
}

async function carryOut(
  terminal: Terminal,
  { managing, options, journal }: Moving,
  { record, startGb }: { record: MoveRecord; startGb: number },
): Promise<number> {
  const { service, mainId, pollLimits } = managing
  const { signal } = terminal
  terminal.progress.begin('moving the capacity')
  const outcome = await applyMove(service, record, { journal, mainId, pollLimits, signal })
  const ways = nextCommands(options, journal.path)
  if (terminal.json) terminal.printJson(outcomeToJson({ ...record.plan, startGb }, outcome, ways))
  else printOutcome(terminal, outcome, ways)
  return exitCodeFor(outcome, signal)
}

function refuseMixed({ resume, discard, from, to, gb, set }: MoveVerbOptions): void {
  if (resume && discard) throw usage('--resume and --discard exclude each other', 'use one of them')
  if (!(resume || discard) || (from ?? to ?? gb ?? set) === undefined) return
  const flag = resume ? '--resume' : '--discard'
  throw usage(`${flag} uses the move in the journal`, 'leave out --from, --to, --gb and --set')
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
    'the options do not say what to move',
    'use --from ID --to ID --gb N, or --set ID=GB for each account, or --resume',
  )
}

function parseSet(pairs: readonly string[]): Map<number, number> {
  const wanted = new Map<number, number>()
  for (const pair of pairs) {
    const [, id, gb] = /^([^=]+)=([^=]+)$/.exec(pair) ?? []
    if (id === undefined || gb === undefined) {
      throw usage(`--set ${pair} is not ID=GB`, 'use an account id and GB per day, such as 12345=3')
    }
    const accountId = parseSubAccountId(id)
    if (wanted.has(accountId)) throw usage(`account ${accountId} is set twice`, 'set it once')
    wanted.set(accountId, parseGb(gb))
  }
  return wanted
}

function recordOf(left: MoveRecord | undefined, path: string, mainId: number): MoveRecord {
  if (left === undefined) {
    throw usage(
      `there is no journal ${path}`,
      'no move is unfinished, or its journal is elsewhere: name it with --journal',
    )
  }
  if (left.mainAccountId === mainId) return left
  throw usage(
    `${path} belongs to main account ${left.mainAccountId}, the token to ${mainId}`,
    `use the token of account ${left.mainAccountId}`,
  )
}

function usage(state: string, hint: string): DashkeepError {
  return new DashkeepError(`Cannot move capacity: ${state}`, { kind: 'usage', hint })
}

/** The command lines that finish and discard an unfinished move. */
function nextCommands({ account, config }: MoveVerbOptions, path: string): NextCommands {
  const given = [
    ...(config === undefined ? [] : ['--config', config]),
    ...(account === undefined ? [] : ['--account', account]),
    '--journal',
    path,
  ]
  const words = given.map((word) => (/^[\w./:=-]+$/.test(word) ? word : JSON.stringify(word)))
  const command = (flag: string) => `dashkeep accounts move-capacity ${flag} ${words.join(' ')}`
  return { finish: command('--resume'), discard: command('--discard') }
}

function exitCodeFor(outcome: MoveOutcome, signal: AbortSignal): number {
  if (outcome.ended === 'moved') return outcome.shown ? exitCodes.done : exitCodes.partly
  if (signal.aborted) return exitCodeOfInterruption(signal)
  return outcome.ended === 'undone' ? exitCodes.failed : exitCodes.partly
}
