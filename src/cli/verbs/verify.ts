import { listFolders, type SnapshotFolder, sizeOf } from '../../archive/archive.ts'
import { type DamagedFiles, noteDamage } from '../../archive/damage-note.ts'
import { type VerifiedSnapshot, verifySnapshots } from '../../archive/verify.ts'
import { DashkeepError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { openEncryption, scanLimitsOf } from '../../open.ts'
import { collectVerified } from '../../proofs/verified.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatBytes, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { describeAbsence, reportNothingProven } from '../print/nothing-proven.ts'
import {
  exitCodeOfRecorded,
  printRecorded,
  recordedToJson,
  recordProofs,
} from '../print/recorded.ts'
import { type FutureWatch, watchForFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { resolveAccountId } from '../select/choose-account.ts'
import { readSince } from '../select/read-since.ts'
import { selectSnapshots } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'

interface VerifyVerbOptions extends CommonOptions {
  readonly snapshots: readonly string[]
  readonly account?: string
  readonly since?: string
  readonly sample?: string
  readonly record?: boolean
}

interface Totals {
  snapshots: number
  /** Data files read; one that several snapshots share counts once. */
  files: number
  /** Bytes read. */
  bytes: number
  defects: number
  /** Encrypted files whose content was checked. */
  opened: number
  /** Encrypted files that no key decrypts; only their stored bytes were checked. */
  sealed: number
}

/** `dashkeep verify`: checks stored snapshots and prints a line for each defect; exit code 5 when there is one. */
export async function verify(terminal: Terminal, options: VerifyVerbOptions): Promise<number> {
  const now = terminal.now()
  const future = watchForFuture(now)
  const filter = createFilter(options, { now, future })
  const { config, log } = await createContext(terminal, options, ['store'])
  const { signal } = terminal
  const opener = await openEncryption(config, terminal.env)
  const { progress } = terminal
  await using store = await openWatchedArchive(terminal, { config, log })
  const totals: Totals = { snapshots: 0, files: 0, bytes: 0, defects: 0, opened: 0, sealed: 0 }
  const report: VerifiedSnapshot['defects'][number][] = []
  const warnings: string[] = []
  progress.begin('listing', { unit: 'file', counting: 'list' })
  const accountId = await resolveAccountId(store, config, options.account, { now, signal })
  const chosen = await choose(store, options.snapshots, {
    accountId,
    signal,
    now,
    log,
  })
  const scanLimits = scanLimitsOf(config)
  const folders = await Array.fromAsync(filter(chosen))
  const totalBytes = folders.reduce((sum, folder) => sum + sizeOf(folder), 0)
  progress.begin('verifying', { unit: 'snapshot', total: folders.length, totalBytes })
  const verified = verifySnapshots(store, folders, { scanLimits, opener, signal })
  const collected = collectVerified({ startedAt: now, scope: scopeOf(options) })
  const note = createNotes(store, { foundAt: terminal.now(), signal })
  let unopened: Error | undefined
  for await (const one of verified) {
    const { snapshot, defects, damaged } = one
    addTo(totals, one)
    collected.add(one)
    report.push(...defects)
    unopened ??= one.unopened
    if (damaged !== undefined) warnings.push(...(await note(damaged)))
    progress.note(`${one.accountId}/${snapshot}`)
    progress.advance()
  }
  progress.end()
  if (options.snapshots.length === 0) future.warn(log)
  const fromFuture = future.names()
  const document = { ...totals, report, warnings, fromFuture }
  if (totals.snapshots === 0) {
    const since = options.since === undefined ? '' : ` taken since ${options.since}`
    const absence = describeAbsence(store.url, `snapshot${since}`, accountId)
    return reportNothingProven(terminal, absence, document)
  }
  // A key that decrypts no file is probably the wrong key.
  const wrongKey = opener !== undefined && totals.opened === 0 ? unopened : undefined
  const isRecorded = options.record && (wrongKey === undefined || totals.defects > 0)
  const recorded = isRecorded
    ? await recordProofs(terminal, store, collected.toProofs(terminal.now()))
    : undefined
  if (terminal.json) terminal.printJson({ ...document, ...recordedToJson(recorded) })
  else {
    printReport(terminal, totals, { report, warnings, hasKey: opener !== undefined })
    printRecorded(terminal, recorded)
  }
  if (totals.defects > 0) return exitCodes.unverified
  if (wrongKey !== undefined) throw wrongKey
  return exitCodeOfRecorded(exitCodes.done, recorded)
}

function scopeOf({ snapshots, since, sample }: VerifyVerbOptions): 'all' | 'some' {
  const isWhole = snapshots.length === 0 && since === undefined && sample === undefined
  return isWhole ? 'all' : 'some'
}

function addTo(totals: Totals, verified: VerifiedSnapshot): void {
  totals.snapshots += 1
  totals.files += verified.files
  totals.bytes += verified.bytesRead
  totals.defects += verified.defects.length
  totals.opened += verified.opened
  totals.sealed += verified.sealed
}

/**
 * Records damaged files in the archive, once for each folder, so that later backups do not share them.
 * Returns a warning when this fails: `verify` may have only the right to read.
 */
function createNotes(store: ObjectStore, options: { foundAt: Date; signal: AbortSignal }) {
  const noted = new Set<string>()
  return async (damaged: DamagedFiles): Promise<string[]> => {
    const folder = `${damaged.accountId}/${damaged.snapshot}`
    if (noted.has(folder)) return []
    noted.add(folder)
    try {
      await noteDamage(store, damaged, options)
      return []
    } catch (error) {
      options.signal.throwIfAborted()
      if (!(error instanceof DashkeepError)) throw error
      return [
        `${error.message}: run \`dashkeep backup --full\`, or later backups may share the damaged files`,
      ]
    }
  }
}

async function choose(
  store: ObjectStore,
  names: readonly string[],
  options: { accountId: number | undefined; signal: AbortSignal; now: Date; log: Logger },
): Promise<AsyncIterable<SnapshotFolder> | SnapshotFolder[]> {
  return names.length === 0 ? listFolders(store, options) : selectSnapshots(store, names, options)
}

type Folders = AsyncIterable<SnapshotFolder> | Iterable<SnapshotFolder>

/** Applies `--since` and `--sample`. A sample has at least one snapshot. */
function createFilter(
  { since, sample }: VerifyVerbOptions,
  { now, future }: { now: Date; future: FutureWatch },
) {
  const from = since === undefined ? undefined : readSince(since, now)
  const share = sample === undefined ? 1 : parseShare(sample)
  return async function* filter(folders: Folders): AsyncGenerator<SnapshotFolder> {
    let eligible = 0
    let spare: SnapshotFolder | undefined
    let sampled = false
    for await (const folder of folders) {
      if (!folder.complete || (from !== undefined && folder.takenAt < from)) continue
      future.see(folder)
      eligible += 1
      if (Math.random() < share) {
        sampled = true
        yield folder
        // Every snapshot so far has the same probability of being the spare one.
      } else if (Math.random() < 1 / eligible) spare = folder
    }
    if (!sampled && spare !== undefined) yield spare
  }
}

function parseShare(text: string): number {
  const percent = /^\d{1,3}(\.\d+)?%$/.test(text) ? Number.parseFloat(text) : 0
  if (percent > 0 && percent <= 100) return percent / 100
  throw new DashkeepError(`Cannot use --sample ${text}: it is not a percentage`, {
    kind: 'usage',
    hint: 'use for example --sample 10%',
  })
}

function printReport(
  terminal: Terminal,
  totals: Totals,
  {
    report,
    warnings,
    hasKey,
  }: { report: VerifiedSnapshot['defects']; warnings: readonly string[]; hasKey: boolean },
): void {
  const { colors } = terminal
  for (const { accountId, snapshot, problem } of report) {
    terminal.print(`${colors.red('damaged')} ${accountId}/${snapshot}: ${problem}`)
  }
  for (const warning of warnings) terminal.print(`${colors.yellow('warning')} ${warning}`)
  const { snapshots, files, bytes } = totals
  const read = `${plural(snapshots, 'snapshot')} with ${plural(files, 'stored file')}, ${formatBytes(bytes)} read`
  terminal.print(
    totals.defects === 0
      ? `${colors.green('verified')} ${read}: every file matches its manifest`
      : `${read}: ${plural(totals.defects, 'defect')}`,
  )
  if (totals.sealed > 0) terminal.print(describeSealed(totals, hasKey))
}

function describeSealed({ opened, sealed }: Totals, hasKey: boolean): string {
  const reason = hasKey ? 'the configured key does not decrypt them' : 'no key is configured'
  const rest = `only as stored bytes: ${reason}`
  if (opened === 0) return `${plural(sealed, 'encrypted file')} checked ${rest}`
  return `${plural(opened, 'encrypted file')} checked with content, ${sealed} ${rest}`
}
