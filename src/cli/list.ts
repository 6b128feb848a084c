import { openArchive } from '../app.ts'
import { listFolders, type SnapshotFolder, sizeOf } from '../snapshot/archive.ts'
import { createContext, parseAccountId } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommonOptions } from './program.ts'
import { formatTable } from './table.ts'
import { formatAge, formatBytes, formatTime, plural, type Terminal } from './terminal.ts'
import { watchForFuture } from './warn-of-future.ts'

/** `dashkeep list`: the snapshots, oldest first; with `--json` one per line, as they are found. */
export async function list(
  terminal: Terminal,
  options: CommonOptions & { account?: string },
): Promise<number> {
  const accountId = parseAccountId(options.account)
  const { config, log } = await createContext(terminal, options, ['store'])
  const store = await openArchive(config, { env: terminal.env, log })
  try {
    const rows: string[][] = []
    const future = watchForFuture(terminal.now())
    for await (const folder of listFolders(store, { accountId, signal: terminal.signal })) {
      if (!folder.complete) continue
      const fromFuture = future.see(folder)
      if (terminal.json) terminal.printJson(toJson(folder, fromFuture))
      else rows.push(toRow(folder, fromFuture, terminal))
    }
    if (!terminal.json) printRows(terminal, rows, store.url)
    future.warn(log)
    return exitCodes.done
  } finally {
    await store.close()
  }
}

/** Stable members for programs; documented in the README. */
function toJson(
  { accountId, snapshot, takenAt, files }: SnapshotFolder,
  fromFuture: boolean,
): object {
  return {
    accountId,
    snapshot,
    takenAt: takenAt.toISOString(),
    files: files.size,
    bytes: sizeOf({ files }),
    fromFuture,
  }
}

function toRow(
  { accountId, snapshot, takenAt, files }: SnapshotFolder,
  fromFuture: boolean,
  { colors, now }: Terminal,
): string[] {
  return [
    String(accountId),
    snapshot,
    formatTime(takenAt),
    fromFuture ? colors.red('from the future') : formatAge(takenAt, now()),
    // A manifest alone says that nothing had changed.
    files.size === 1 ? 'unchanged' : plural(files.size, 'file'),
    formatBytes(sizeOf({ files })),
  ]
}

function printRows(terminal: Terminal, rows: string[][], url: string): void {
  if (rows.length === 0) {
    terminal.print(`No snapshots in ${url}`)
    return
  }
  const header = ['ACCOUNT', 'SNAPSHOT', 'TAKEN (UTC)', 'AGE', 'HOLDS', 'SIZE']
  terminal.print(formatTable(header, rows, { colors: terminal.colors, right: [0, 5] }))
  terminal.print()
  terminal.print(`${plural(rows.length, 'snapshot')} in ${url}`)
}
