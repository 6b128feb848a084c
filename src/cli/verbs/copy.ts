import { sizeOf } from '../../archive/archive.ts'
import { copyPins } from '../../archive/pins.ts'
import type { Config, CopyConfig } from '../../config/config.ts'
import { storeUrl } from '../../config/fields.ts'
import { toStoreUrl } from '../../config/paths.ts'
import { findOverlap } from '../../config/store-addresses.ts'
import type { Direction, FileDefect } from '../../copy/copy-files.ts'
import { copySnapshots } from '../../copy/copy-snapshots.ts'
import { type AccountCopyPlan, planCopy } from '../../copy/plan-copy.ts'
import { DashkeepError } from '../../errors.ts'
import { openCopy } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatBytes, plural } from '../../wording.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { describeAbsence, reportNothingProven } from '../print/nothing-proven.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { resolveAccountId } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'
import { repair } from './copy-repair.ts'

interface CopyVerbOptions extends CommonOptions {
  readonly to: string
  readonly account?: string
  readonly repair?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** What was found and copied. In a dry run, `bytes` is what is missing. */
interface Totals {
  accounts: number
  there: number
  missing: number
  snapshots: number
  files: number
  bytes: number
  pins: number
  readonly defects: (FileDefect & { accountId: number; snapshot: string })[]
}

/** `dashkeep copy`: copies what another store lacks, or repairs the archive from there. */
export async function copy(terminal: Terminal, options: CopyVerbOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  const { env, now, signal } = terminal
  const chosen = chooseCopy(context.config, options.to)
  await using archive = await openWatchedArchive(terminal, context)
  const accountId = await resolveAccountId(archive, context.config, options.account, {
    now: now(),
    signal,
  })
  await using copyStore = await openCopy(chosen, context.config, { env, log: context.log })
  if (options.repair)
    return await repair(terminal, options, { archive, copy: copyStore, accountId })
  const stores = { source: archive, target: copyStore }
  return await copyMissing(terminal, options, { stores, accountId, newerOnly: chosen.newerOnly })
}

/** A store to copy to. The verb has no deadline. */
type ChosenCopy = Omit<CopyConfig, 'deadlineMs'>

/** A configured store by its name or address, or a store at another address, reached as the archive is. */
function chooseCopy({ stores, store }: Context['config'], to: string): ChosenCopy {
  const url = toStoreUrl(to, '.') as string
  const known =
    stores.find(({ name }) => name === to) ??
    stores.find((one) => findOverlap({ url: one.url }, { url }) === 'same')
  if (known) return known
  if (!storeUrl.safeParse(to).success) {
    const names = stores.map(({ name }) => name).join(', ')
    throw new DashkeepError(
      `Cannot copy to ${to}: it is neither an address nor a configured store`,
      {
        kind: 'usage',
        hint: `use s3://bucket/prefix or a folder such as ./copy${names === '' ? '' : `, or one of ${names}`}`,
      },
    )
  }
  const { endpoint, region, pathStyle, caBundle, profile } = store as NonNullable<Config['store']>
  return { name: url, url, endpoint, region, pathStyle, caBundle, profile }
}

async function copyMissing(
  terminal: Terminal,
  { dryRun = false }: CopyVerbOptions,
  {
    stores,
    accountId,
    newerOnly,
  }: { stores: Direction; accountId: number | undefined; newerOnly: boolean | undefined },
): Promise<number> {
  const { signal, progress, now } = terminal
  const only = accountId === undefined ? undefined : new Set([accountId])
  const document = { from: stores.source.url, to: stores.target.url }
  const totals = emptyTotals()
  progress.begin(dryRun ? 'listing' : 'copying', { unit: 'snapshot' })
  // Account by account, so that memory does not grow with the archive.
  for await (const plan of planCopy(stores, { only, newerOnly, now: now(), signal })) {
    totals.accounts += 1
    totals.there += plan.there
    totals.missing += plan.missing.length
    if (dryRun) addPlanned(terminal, plan, totals)
    else await copyAccount(terminal, plan, { stores, totals })
  }
  if (totals.accounts === 0) {
    const absence = describeAbsence(stores.source.url, 'snapshot', accountId)
    return reportNothingProven(terminal, absence, { ...document, ...totals })
  }
  if (!dryRun) totals.pins = await copyPins(stores, { only, signal })
  progress.end()
  if (terminal.json) terminal.printJson({ ...document, dryRun, ...totals })
  else if (dryRun) terminal.print(`${plural(totals.missing, 'snapshot')} to copy`)
  else printTotals(terminal, totals, document)
  return totals.defects.length > 0 ? exitCodes.unverified : exitCodes.done
}

function emptyTotals(): Totals {
  const planned = { accounts: 0, there: 0, missing: 0 }
  return { ...planned, snapshots: 0, files: 0, bytes: 0, pins: 0, defects: [] }
}

function addPlanned(terminal: Terminal, plan: AccountCopyPlan, totals: Totals): void {
  for (const { folder } of plan.missing) {
    totals.bytes += sizeOf(folder)
    if (terminal.json) continue
    terminal.print(`${terminal.colors.green('copy')} ${plan.accountId}/${folder.snapshot}`)
  }
}

async function copyAccount(
  { signal, now, progress }: Terminal,
  plan: AccountCopyPlan,
  { stores, totals }: { stores: Direction; totals: Totals },
): Promise<void> {
  for await (const one of copySnapshots(stores, plan, { now: now(), signal })) {
    const { accountId, snapshot, defects } = one
    totals.files += one.files
    totals.bytes += one.bytes
    totals.snapshots += defects.length === 0 && one.files > 0 ? 1 : 0
    totals.defects.push(...defects.map((defect) => ({ accountId, snapshot, ...defect })))
    progress.note(`${accountId}/${snapshot}`)
    progress.advance()
  }
}

function printTotals(
  terminal: Terminal,
  { snapshots, files, bytes, pins, there, defects }: Totals,
  { to }: { to: string },
): void {
  const { colors } = terminal
  for (const { accountId, snapshot, side, key, problem } of defects) {
    const place = side === 'source' ? 'in the archive' : 'in the copy'
    terminal.print(
      `${colors.red('not copied')} ${accountId}/${snapshot}: ${key} ${place}: ${problem}`,
    )
  }
  const pinned = pins > 0 ? ` and ${plural(pins, 'pin')}` : ''
  terminal.print(
    `${colors.green('copied')} ${plural(snapshots, 'snapshot')}${pinned} to ${to}: ${plural(files, 'file')}, ${formatBytes(bytes)}; ${there} were already there`,
  )
  const sides = new Set(defects.map(({ side }) => side))
  if (sides.has('source')) {
    terminal.print(
      '  hint: `dashkeep verify` shows what is damaged in the archive; `dashkeep copy --repair` with a sound copy replaces it',
    )
  }
  if (sides.has('target')) {
    terminal.print(
      '  hint: `dashkeep copy --store <copy> --to <archive> --repair` replaces damaged files of the copy; then copy again',
    )
  }
}
