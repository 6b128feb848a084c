import { applyChange, type PlannedChange } from '../../accounts/change.ts'
import { decodeHit, subAccountsType } from '../../accounts/list-document.ts'
import { planSettings } from '../../accounts/restore.ts'
import type { Settings } from '../../accounts/service.ts'
import type { Manifest } from '../../archive/manifest.ts'
import { readObjects } from '../../archive/read-objects.ts'
import { DashkeepError } from '../../errors.ts'
import { exitCodeOf, exitCodes } from '../../run/exit-codes.ts'
import { plural } from '../../wording.ts'
import { openReader, readSelected } from '../select/archive-reader.ts'
import { confirm, notConfirmed, printHint, type Terminal } from '../terminal.ts'
import { printChanges } from './accounts-change.ts'
import {
  type ManagementOptions,
  type Managing,
  nameAccount,
  openManagement,
  parseSubAccountId,
  printBody,
} from './management.ts'

interface RestoreOptions extends ManagementOptions {
  readonly snapshot?: string
  readonly only?: readonly string[]
}

/** The result of restoring settings. */
interface Outcome {
  readonly replaced: readonly number[]
  /** Accounts whose new settings the service does not list yet. */
  readonly unshown: readonly number[]
  readonly error?: Error | undefined
}

/** `dashkeep accounts restore`: replaces settings with those of a snapshot, reductions first. */
export async function restoreSettings(
  terminal: Terminal,
  options: RestoreOptions,
): Promise<number> {
  const only = options.only?.map(parseSubAccountId)
  await using managing = await openManagement(terminal, options, ['store'])
  const { service, mainId } = managing
  const { manifest, settings } = await readSettings(terminal, managing, options)
  const wanted = chooseSettings(settings, only, { manifest, mainId })
  const plan = planSettings(await service.listSubAccounts(terminal), wanted, { mainId })
  if (!terminal.json) printPlan(terminal, manifest, { plan, options })
  const question = `Replace the settings of ${plural(plan.length, 'sub account')}?`
  const mayAsk = plan.length > 0 && !options.dryRun
  const answer = mayAsk ? await confirm(terminal, question, options) : 'no'
  const agreed = answer === 'yes'
  if (agreed) terminal.progress.begin('sending the settings')
  const outcome = agreed ? await apply(terminal, managing, plan) : undefined
  if (terminal.json) {
    const accounts = plan.map(({ accountId, changes, after }) => {
      return { accountId, changes, body: after }
    })
    const { error, ...ended } = outcome ?? {}
    const { snapshot } = manifest
    terminal.printJson({ done: agreed, snapshot, accounts, ...ended, error: error?.message })
  } else printOutcome(terminal, outcome, { plan, options })
  terminal.signal.throwIfAborted()
  if (answer === 'unasked') throw notConfirmed('restore the settings')
  return exitCodeFor(outcome)
}

async function readSettings(
  terminal: Terminal,
  { context, mainId }: Managing,
  { snapshot }: RestoreOptions,
): Promise<{ manifest: Manifest; settings: Map<number, Settings> }> {
  await using reader = await openReader(terminal, context, mainId)
  const { store, read } = reader
  const manifest = await readSelected(reader, snapshot, terminal.now())
  const hits = await Array.fromAsync(readObjects(store, manifest, subAccountsType, read))
  const decoded = hits.map(({ bytes }) => decodeHit(bytes))
  return {
    manifest,
    settings: new Map(decoded.map(({ accountId, settings }) => [accountId, settings])),
  }
}

/** Chooses the settings to restore. The main account, which some lists include, is never replaced. */
function chooseSettings(
  settings: ReadonlyMap<number, Settings>,
  only: readonly number[] | undefined,
  { manifest, mainId }: { manifest: Manifest; mainId: number },
): Map<number, Settings> {
  const known = [...settings].filter(([id]) => id !== mainId)
  const absent = only?.find((id) => !known.some(([other]) => other === id))
  if (absent !== undefined) {
    throw new DashkeepError(
      `Cannot restore sub account ${absent}: snapshot ${manifest.snapshot} does not hold it`,
      { kind: 'usage', hint: `it holds ${known.map(([id]) => id).join(', ')}` },
    )
  }
  return new Map(known.filter(([id]) => only === undefined || only.includes(id)))
}

/** Replaces one account after the other and stops at the first failure. */
async function apply(
  { signal }: Terminal,
  managing: Managing,
  plan: readonly PlannedChange[],
): Promise<Outcome> {
  const replaced: number[] = []
  const unshown: number[] = []
  try {
    for (const change of plan) {
      const applied = await applyChange(managing.service, change, { ...managing, signal })
      replaced.push(change.accountId)
      if (applied.unshown.length > 0) unshown.push(change.accountId)
    }
    return { replaced, unshown }
  } catch (error) {
    return { replaced, unshown, error: error as Error }
  }
}

function exitCodeFor(outcome: Outcome | undefined): number {
  if (outcome === undefined) return exitCodes.done
  const { replaced, unshown, error } = outcome
  if (error && replaced.length === 0) return exitCodeOf(error)
  return error || unshown.length > 0 ? exitCodes.partly : exitCodes.done
}

function printPlan(
  terminal: Terminal,
  { snapshot, account }: Manifest,
  { plan, options }: { plan: readonly PlannedChange[]; options: RestoreOptions },
): void {
  terminal.print(
    `From snapshot ${snapshot} of main account ${nameAccount({ accountId: account.id, accountName: account.name })}`,
  )
  for (const change of plan) {
    terminal.print(`Sub account ${nameAccount(change)}`)
    printChanges(terminal, change.changes)
    if (options.dryRun) printBody(terminal, change.after)
  }
}

function printOutcome(
  terminal: Terminal,
  outcome: Outcome | undefined,
  { plan, options }: { plan: readonly PlannedChange[]; options: RestoreOptions },
): void {
  const { colors } = terminal
  if (plan.length === 0) terminal.print('Nothing to change')
  else if (options.dryRun) {
    terminal.print('Nothing was changed; these are the bodies of the requests')
  } else if (outcome === undefined) terminal.print('Nothing was changed')
  else {
    const { replaced, unshown, error } = outcome
    terminal.print(
      `${colors.green('replaced')} the settings of ${replaced.length} of ${plural(plan.length, 'sub account')}`,
    )
    if (unshown.length > 0) {
      terminal.print(
        `${colors.yellow('not listed')} yet with the new settings: ${unshown.join(', ')}`,
      )
    }
    if (error === undefined) return
    terminal.print(`${colors.red('failed')} ${error.message}`)
    printHint(terminal, error)
    terminal.print('To finish, run the same command again')
  }
}
