import { listFolders, type SnapshotFolder, sizeOf } from '../../archive/archive.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatAge, formatBytes, formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { describeAbsence } from '../print/nothing-proven.ts'
import { formatTable } from '../print/table.ts'
import { watchForFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { configuredName, resolveAccountId } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'

/** `dashkeep list`: lists the snapshots, oldest first; `--json` prints one per line at once. */
export async function list(
  terminal: Terminal,
  options: CommonOptions & { account?: string },
): Promise<number> {
  const { config, log } = await createContext(terminal, options, ['store'])
  await using store = await openWatchedArchive(terminal, { config, log })
  terminal.progress.begin('listing', { unit: 'file', counting: 'list' })
  const rows: string[][] = []
  let found = 0
  const { signal } = terminal
  const now = terminal.now()
  const future = watchForFuture(now)
  const accountId = await resolveAccountId(store, config, options.account, { now, signal })
  for await (const folder of listFolders(store, { accountId, signal })) {
    if (!folder.complete) continue
    found += 1
    const fromFuture = future.see(folder)
    const name = configuredName(config, folder.accountId)
    if (terminal.json) terminal.printJson(toJson(folder, { name, fromFuture }))
    else rows.push(toRow(folder, { name, fromFuture }, terminal))
  }
  if (found === 0) {
    const absence = describeAbsence(store.url, 'snapshot', accountId)
    if (!terminal.json) terminal.print(absence)
    else if (accountId !== undefined) log.warn(absence)
  } else if (!terminal.json) printRows(terminal, rows, store.url)
  future.warn(log)
  return exitCodes.done
}

/** Facts about a snapshot that its keys do not show. */
interface Known {
  /** The configured name of its account. */
  readonly name: string | undefined
  readonly fromFuture: boolean
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson(
  { accountId, snapshot, takenAt, files }: SnapshotFolder,
  { name, fromFuture }: Known,
): object {
  return {
    accountId,
    configuredAs: name,
    snapshot,
    takenAt: takenAt.toISOString(),
    files: files.size,
    bytes: sizeOf({ files }),
    fromFuture,
  }
}

function toRow(
  { accountId, snapshot, takenAt, files }: SnapshotFolder,
  { name = '', fromFuture }: Known,
  { colors, now }: Terminal,
): string[] {
  return [
    String(accountId),
    name,
    snapshot,
    formatTime(takenAt),
    fromFuture ? colors.red('from the future') : formatAge(takenAt, now()),
    // A snapshot without data files records that nothing changed.
    files.size === 1 ? 'unchanged' : plural(files.size, 'file'),
    formatBytes(sizeOf({ files })),
  ]
}

function printRows(terminal: Terminal, rows: string[][], url: string): void {
  const header = ['ACCOUNT', 'NAME', 'SNAPSHOT', 'TAKEN (UTC)', 'AGE', 'HOLDS', 'SIZE']
  const isNamed = rows.some(([, name]) => name !== '')
  const lines = isNamed ? [header, ...rows] : [header, ...rows].map((row) => row.toSpliced(1, 1))
  const [first = [], ...others] = lines
  const right = [0, first.length - 1]
  // The name of a snapshot contains its time.
  const narrow = { flexible: ['NAME'], optional: ['TAKEN (UTC)'] }
  terminal.print(formatTable(terminal, first, others, { right, ...narrow }))
  terminal.print()
  terminal.print(`${plural(rows.length, 'snapshot')} in ${url}`)
}
