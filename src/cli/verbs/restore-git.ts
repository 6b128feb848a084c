import type { SnapshotFolder } from '../../archive/archive.ts'
import { readManifest } from '../../archive/archive.ts'
import { DashkeepError } from '../../errors.ts'
import { formatCounts } from '../../restore/git/commit-message.ts'
import { type GitFolder, openGitFolder } from '../../restore/git/git-folder.ts'
import {
  newestCommitted,
  type ReplayStep,
  refuseOtherAccount,
  replay,
} from '../../restore/git/replay.ts'
import { refuseSuspect } from '../../restore/source.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import { printKept } from '../print/restore-report.ts'
import { type ArchiveReader, openReader } from '../select/archive-reader.ts'
import { selectFolder } from '../select/select-snapshots.ts'
import { printHint, type Terminal } from '../terminal.ts'
import type { RestoreOptions } from './restore-options.ts'

/** The snapshots to commit, and how many are committed already or older than a committed one. */
interface Chosen {
  readonly folders: readonly SnapshotFolder[]
  readonly there: number
}

/** `dashkeep restore --pretty --git`: commits one snapshot or all snapshots of an account to git. */
export async function restoreToGit(terminal: Terminal, options: RestoreOptions): Promise<number> {
  const { env, signal, progress } = terminal
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  using folder = await openGitFolder(options.pretty ?? '', { env, signal })
  const chosen = await chooseSnapshots(terminal, options, reader, folder)
  progress.begin('committing', { unit: 'snapshot', total: chosen.folders.length })
  const steps: ReplayStep[] = []
  if (!terminal.json) printFolder(terminal, folder)
  const { store, read } = reader
  for await (const step of replay(folder, { store, folders: chosen.folders, read }, options)) {
    steps.push(step)
    progress.advance()
    if (!terminal.json) printStep(terminal, step)
  }
  progress.end()
  const pushError = options.push ? await tryPush(folder, signal) : undefined
  const pushed = options.push ? pushError === undefined : undefined
  const ending = { steps, there: chosen.there, pushed, pushError }
  if (terminal.json) terminal.printJson(toJson(folder, ending))
  else printEnding(terminal, ending)
  const results = new Set(steps.map(({ result }) => result))
  if (results.has('damaged')) return exitCodes.unverified
  return results.has('suspect') || pushError !== undefined ? exitCodes.partly : exitCodes.done
}

async function chooseSnapshots(
  { now }: Terminal,
  { all, snapshot = 'latest', allowSuspect }: RestoreOptions,
  { store, folders, past, read }: ArchiveReader,
  folder: GitFolder,
): Promise<Chosen> {
  const accountId = folders[0]?.accountId ?? 0
  await refuseOtherAccount(folder, accountId)
  const newest = newestCommitted(folder.snapshots, now()).get(accountId) ?? ''
  if (all) {
    const open = past.filter((one) => one.snapshot > newest)
    return { folders: open, there: past.length - open.length }
  }
  const chosen = selectFolder(folders, snapshot, now())
  if (folder.snapshots.has(`${chosen.accountId}/${chosen.snapshot}`)) {
    return { folders: [], there: 1 }
  }
  if (chosen.snapshot < newest) {
    throw new DashkeepError(
      `Cannot commit snapshot ${chosen.snapshot}: the newer snapshot ${newest} is committed already`,
      { kind: 'usage', hint: 'give a newer snapshot, or another folder' },
    )
  }
  const { manifest } = await readManifest(store, chosen.accountId, chosen.snapshot, read)
  refuseSuspect(manifest, { allowSuspect })
  return { folders: [chosen], there: 0 }
}

async function tryPush(folder: GitFolder, signal: AbortSignal): Promise<Error | undefined> {
  try {
    await folder.push()
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    return error as Error
  }
}

function printFolder({ print }: Terminal, { path, root, created }: GitFolder): void {
  print(`Into ${path}, in the ${created ? 'new ' : ''}git repository ${root}`)
}

function printStep({ print, colors }: Terminal, step: ReplayStep): void {
  const { snapshot } = step
  if (step.result === 'committed') {
    const { commit, takenAt, counts } = step
    const taken = formatTime(new Date(takenAt))
    print(
      `${colors.green('committed')} ${snapshot}, taken ${taken}, as ${commit.slice(0, 10)}: ${formatCounts(counts)}`,
    )
  } else if (step.result === 'suspect') {
    print(`${colors.yellow('skipped')} ${snapshot}: it is suspect (${step.reasons.join('; ')})`)
  } else if (step.result === 'damaged') {
    print(`${colors.red('damaged')} ${snapshot}: ${step.problem}`)
  }
}

interface Ending {
  readonly steps: readonly ReplayStep[]
  readonly there: number
  readonly pushed: boolean | undefined
  readonly pushError: Error | undefined
}

function printEnding(terminal: Terminal, { steps, there, pushed, pushError }: Ending): void {
  const { print, colors } = terminal
  const count = (result: ReplayStep['result']) =>
    steps.filter((step) => step.result === result).length
  print(
    `${plural(count('committed'), 'commit')}; ${plural(count('unchanged'), 'unchanged snapshot')}; ${there} committed before`,
  )
  printKept(terminal, steps.findLast((step) => step.result === 'committed')?.kept ?? [])
  if (count('suspect') > 0) print('  hint: --allow-suspect commits suspect snapshots too')
  if (pushed) print(`${colors.green('pushed')}`)
  if (pushError === undefined) return
  print(`${colors.yellow('not pushed')}: ${pushError.message}`)
  printHint(terminal, pushError)
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson({ path, root, created }: GitFolder, { steps, there, pushed, pushError }: Ending) {
  return {
    path,
    repository: root,
    created,
    snapshots: steps.map((step) => {
      if (step.result !== 'committed') return step
      const { counts, ...others } = step
      return { ...others, ...counts }
    }),
    there,
    pushed,
    pushError: pushError?.message,
  }
}
