import { type TypeChanges, totalChanges } from '../../archive/changes.ts'
import type { NamedObject } from '../../archive/compare.ts'
import { adviseOnSuspect } from '../../archive/guard.ts'
import type { MissingObjects } from '../../archive/judge.ts'
import { countObjects, countStoredBytes } from '../../archive/manifest.ts'
import { isDoubtful, type TakenSnapshot } from '../../archive/take.ts'
import { hintOf } from '../../errors.ts'
import { createRunId } from '../../log.ts'
import { openArchive } from '../../open.ts'
import { type AccountBackup, backupAccounts } from '../../run/back-up.ts'
import { exitCodeOf, exitCodeOfRun } from '../../run/exit-codes.ts'
import { followUp } from '../../run/follow-up.ts'
import { createReporter } from '../../run/reporter.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatBytes, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { listSome } from '../print/list-some.ts'
import { countArrivals } from '../print/progress.ts'
import { formatObject, formatTable } from '../print/table.ts'
import { chooseAccounts, createIdentify } from '../select/choose-account.ts'
import { printHint, type Terminal } from '../terminal.ts'

interface BackupVerbOptions extends CommonOptions {
  readonly account?: readonly string[]
  readonly shard?: string
  readonly full?: boolean
  readonly acceptFall?: boolean
  readonly acceptService?: boolean
}

/** Objects printed for each kind of change; `--json` has up to 1,000. */
const MAX_SHOWN = 10

/** Missing objects printed for each type of a suspect snapshot; `--json` has up to 10. */
const MAX_MISSING = 3

/** `dashkeep backup`: takes a snapshot of every account and reports the results. */
export async function backup(terminal: Terminal, options: BackupVerbOptions): Promise<number> {
  const context = await createContext(terminal, options, ['accounts', 'store'])
  const identify = createIdentify(context, terminal)
  const chosen = await chooseAccounts(context.config, options.account, identify)
  const { config, configured, isPartial } = chosen
  const { shard, accounts } = config
  if (shard) context.log.info({ shard, accounts: accounts.length }, 'backing up one shard')
  const { env, now, signal } = terminal
  const run = createRunId()
  const log = context.log.child({ run })
  const reporter = createReporter({ env, now, signal, tail: context.tail })
  const report = reporter.begin(config, { run, log, configured, isPartial })
  let store: ObjectStore | undefined
  const { progress } = terminal
  progress.begin('backing up', { unit: 'account', total: accounts.length })
  const arrived = countArrivals(progress)
  try {
    store = await openArchive(config, { env, log })
    const about = { env, log, now, signal }
    const taken = await backupAccounts(config, store, {
      ...about,
      configured,
      full: options.full,
      acceptFall: options.acceptFall,
      acceptService: options.acceptService,
      onProgress: (account, step) => arrived(account.name, step),
      onDone(backup) {
        report.note(backup)
        progress.advance()
      },
    })
    if (config.copies.length > 0 || config.git) progress.begin('copying')
    const backups = await followUp(config, store, taken, { ...about, onWarning: report.warn })
    progress.end()
    if (terminal.json) terminal.printJson({ accounts: backups.map(toJson) })
    else printBackups(terminal, backups, store.url)
    const exitCode = exitCodeOfRun(backups.map(endingOf))
    terminal.onExitCode?.(exitCode)
    await report.end({ exitCode, store })
    return exitCode
  } catch (error) {
    await report.end({ exitCode: exitCodeOf(error), error: error as Error, store })
    throw error
  } finally {
    await store?.close()
  }
}

function endingOf({ taken, error }: AccountBackup) {
  return { error, doubtful: taken !== undefined && isDoubtful(taken) }
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson({ account, taken, error }: AccountBackup): object {
  if (error !== undefined) {
    return {
      name: account.name,
      accountId: account.accountId,
      result: 'failed',
      error: error.message,
      hint: hintOf(error),
    }
  }
  const { manifest, changes, warnings, missing } = taken
  return {
    name: account.name,
    accountId: manifest.account.id,
    result: resultOf(taken),
    snapshot: manifest.snapshot,
    sameAs: manifest.sameAs,
    exports: manifest.exports,
    suspect: manifest.suspect?.reasons,
    missing: manifest.suspect && missing,
    changes: changes?.map(({ type, added, removed, changed }) => ({
      type,
      added,
      removed,
      changed,
    })),
    warnings,
  }
}

function resultOf({ manifest, changes }: TakenSnapshot): string {
  if (manifest.suspect !== undefined) return 'suspect'
  if (manifest.sameAs !== undefined) return 'unchanged'
  if (changes === undefined) return 'first'
  const altered = Object.values(totalChanges(changes)).some((number) => number > 0)
  return altered || changes.length < manifest.exports.length ? 'changed' : 'full'
}

function printBackups(terminal: Terminal, backups: readonly AccountBackup[], url: string): void {
  const { colors } = terminal
  const rows = backups.map(({ account, taken, error }) => {
    if (error !== undefined) return [account.name, colors.red('failed'), '', '', '', '']
    const { manifest } = taken
    const result = resultOf(taken)
    return [
      account.name,
      result === 'suspect' ? colors.yellow(result) : colors.green(result),
      manifest.snapshot,
      String(countObjects(manifest)),
      formatBytes(countStoredBytes(manifest)),
      summarize(taken.changes),
    ]
  })
  const header = ['ACCOUNT', 'RESULT', 'SNAPSHOT', 'OBJECTS', 'STORED', 'CHANGES']
  terminal.print(
    formatTable(terminal, header, rows, {
      right: [3, 4],
      flexible: ['ACCOUNT'],
      wrapped: 'CHANGES',
    }),
  )
  for (const backup of backups) printDetails(terminal, backup)
  const kept = backups.filter(({ taken }) => taken !== undefined).length
  terminal.print()
  terminal.print(`${kept} of ${plural(backups.length, 'account')} in ${url}`)
}

function printDetails(terminal: Terminal, { account, taken, error }: AccountBackup): void {
  const { colors } = terminal
  if (error !== undefined) {
    terminal.print()
    terminal.print(`${colors.red('failed')} ${account.name}: ${error.message}`)
    printHint(terminal, error)
    return
  }
  const { exports, suspect } = taken.manifest
  if (suspect !== undefined) {
    terminal.print()
    terminal.print(`${colors.yellow('suspect')} ${account.name}: ${suspect.reasons.join('; ')}`)
    for (const missing of taken.missing) terminal.print(`  ${describeMissing(missing)}`)
    terminal.print(`  hint: ${adviseOnSuspect(exports)}`)
  }
  for (const warning of taken.warnings) terminal.print(`${colors.yellow('warning')} ${warning}`)
  for (const change of taken.changes ?? []) printChanges(terminal, change)
}

function describeMissing({ type, count, objects }: MissingObjects): string {
  const names = objects.map(({ id, title }) => (title === undefined ? id : `${id} (${title})`))
  return `missing ${type}: ${listSome(names, MAX_MISSING, count)}`
}

function printChanges(terminal: Terminal, change: TypeChanges): void {
  const { colors } = terminal
  const kinds: [string, readonly NamedObject[], number][] = [
    [colors.green('+'), change.added, change.counts.added],
    [colors.red('-'), change.removed, change.counts.removed],
    [colors.yellow('~'), change.changed, change.counts.changed],
  ]
  for (const [sign, objects, count] of kinds) {
    for (const object of objects.slice(0, MAX_SHOWN)) {
      terminal.print(formatObject(terminal, sign, object))
    }
    const hidden = count - Math.min(objects.length, MAX_SHOWN)
    if (hidden > 0) terminal.print(`  ${sign} … and ${hidden} more of ${change.type}`)
  }
}

function summarize(changes: readonly TypeChanges[] | undefined): string {
  if (changes === undefined) return 'first snapshot'
  const parts = Object.entries(totalChanges(changes)).filter(([, number]) => number > 0)
  return parts.length === 0 ? 'none' : parts.map(([kind, number]) => `${number} ${kind}`).join(', ')
}
