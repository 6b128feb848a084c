import { openArchive } from '../app.ts'
import { listFolders } from '../snapshot/archive.ts'
import { type VerifiedSnapshot, verifySnapshots } from '../snapshot/verify.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { createContext, parseAccountId } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommonOptions } from './program.ts'
import { selectSnapshots } from './select-snapshots.ts'
import { createStatusLine, formatBytes, plural, type Terminal } from './terminal.ts'

interface VerifyOptions extends CommonOptions {
  readonly snapshots: readonly string[]
  readonly account?: string
}

/** `dashkeep verify`: proves what is stored; every defect is a line, and exit code 5. */
export async function verify(terminal: Terminal, options: VerifyOptions): Promise<number> {
  const accountId = parseAccountId(options.account)
  const { config } = await createContext(terminal, options, ['store'])
  const store = await openArchive(config)
  const status = createStatusLine(terminal)
  const totals = { snapshots: 0, bytes: 0, defects: 0 }
  const report: VerifiedSnapshot['defects'][number][] = []
  try {
    const folders = await choose(store, options.snapshots, { accountId, signal: terminal.signal })
    const scanLimits = { maxHitBytes: config.limits.maxHitBytes, maxDepth: 1000 }
    const verified = verifySnapshots(store, folders, { scanLimits, signal: terminal.signal })
    for await (const { snapshot, bytesRead, defects } of verified) {
      totals.snapshots += 1
      totals.bytes += bytesRead
      totals.defects += defects.length
      report.push(...defects)
      status.show(
        `${plural(totals.snapshots, 'snapshot')} · ${formatBytes(totals.bytes)} · ${snapshot}`,
      )
    }
    status.clear()
    if (terminal.json) terminal.printJson({ ...totals, report })
    else printReport(terminal, totals, report)
    return totals.defects > 0 ? exitCodes.unverified : exitCodes.done
  } finally {
    status.clear()
    await store.close()
  }
}

async function choose(
  store: ObjectStore,
  names: readonly string[],
  options: { accountId: number | undefined; signal: AbortSignal },
) {
  return names.length === 0 ? listFolders(store, options) : selectSnapshots(store, names, options)
}

function printReport(
  terminal: Terminal,
  totals: { snapshots: number; bytes: number; defects: number },
  report: VerifiedSnapshot['defects'],
): void {
  const { colors } = terminal
  for (const { accountId, snapshot, problem } of report) {
    terminal.print(`${colors.red('damaged')} ${accountId}/${snapshot}: ${problem}`)
  }
  const read = `${plural(totals.snapshots, 'snapshot')}, ${formatBytes(totals.bytes)} read`
  terminal.print(
    totals.defects === 0
      ? `${colors.green('verified')} ${read}: every file is as its manifest says`
      : `${read}: ${plural(totals.defects, 'defect')}`,
  )
}
