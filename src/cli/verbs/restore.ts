import { readManifest } from '../../archive/archive.ts'
import { countFileBytes } from '../../archive/manifest.ts'
import type { ConfigNeed } from '../../config/load.ts'
import { type MapFile, readMapFile } from '../../config/map-file.ts'
import { expandHome } from '../../config/paths.ts'
import { DashkeepError } from '../../errors.ts'
import { openEncryption, scanLimitsOf } from '../../open.ts'
import { folderSource } from '../../restore/folder-source.ts'
import { writeOpened } from '../../restore/opened-folder.ts'
import { chooseFrom, chooseToPromote, type Restoring } from '../../restore/restoring.ts'
import { refuseSuspect, snapshotSource } from '../../restore/source.ts'
import { type WrittenFiles, writeDocuments, writeNdjson } from '../../restore/to-files.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { plural } from '../../wording.ts'
import { type Context, createContext } from '../context.ts'
import {
  needsToJson,
  printKept,
  printNeeds,
  printSource,
  sourceToJson,
} from '../print/restore-report.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { selectByOptions } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'
import type { RestoreOptions } from './restore-options.ts'
import type { GivenPromotion } from './restore-service.ts'

/** `dashkeep restore`: restores objects of a snapshot or a folder to files or to the service. */
export async function restore(terminal: Terminal, options: RestoreOptions): Promise<number> {
  checkOptions(options)
  if (options.drill) {
    const { drill } = await import('./restore-drill.ts')
    return drill(terminal, options)
  }
  if (options.git) {
    const { restoreToGit } = await import('./restore-git.ts')
    return restoreToGit(terminal, options)
  }
  const context = await createContext(terminal, options, needsOf(options))
  const map = await readMap(options, context)
  await using store = context.config.store && (await openWatchedArchive(terminal, context))
  terminal.progress.begin('listing', { unit: 'file', counting: 'list' })
  const opened = await openSource(terminal, options, context, store)
  const totalBytes = opened.manifest && countFileBytes(opened.manifest)
  terminal.progress.begin('reading the objects', { totalBytes })
  const choice = { names: options.object, withNeeds: !options.withoutReferences }
  if (map !== undefined) {
    const promoted = await chooseToPromote(opened.source, opened.manifest, choice)
    return await promoteToService(terminal, options, { context, store, chosen: promoted, map })
  }
  const chosen = await chooseFrom(opened.source, opened.manifest, choice)
  if (options.toService) {
    const { restoreToService } = await import('./restore-service.ts')
    return await restoreToService(terminal, options, { context, store, chosen })
  }
  terminal.progress.begin('writing', { totalBytes })
  const written = await writeFiles(chosen, options)
  report(terminal, chosen, written)
  return exitCodes.done
}

async function promoteToService(
  terminal: Terminal,
  options: RestoreOptions,
  given: GivenPromotion,
): Promise<number> {
  if (options.toAccounts === undefined) {
    const { restoreToService } = await import('./restore-service.ts')
    return restoreToService(terminal, options, given)
  }
  const { restoreToAccounts } = await import('./restore-accounts.ts')
  return restoreToAccounts(terminal, options, given)
}

/** Reads the map of a promotion before anything else is read, so that its problems show at once. */
function readMap({ map }: RestoreOptions, { config }: Context): Promise<MapFile> | undefined {
  const names = config.accounts.map(({ name }) => name)
  return map === undefined ? undefined : readMapFile(expandHome(map), names)
}

const targets = [
  ['to', '--to <folder>'],
  ['pretty', '--pretty <folder>'],
  ['ndjson', '--ndjson <file>'],
  ['toService', '--to-service'],
  ['drill', '--drill'],
] as const

function checkOptions(options: RestoreOptions): void {
  const given = targets.filter(([name]) => options[name] !== undefined)
  if (given.length !== 1) {
    const flags = (given.length === 0 ? targets : given).map(([, flag]) => flag).join(', ')
    throw usage(
      given.length === 0 ? 'no target is given' : 'several targets are given',
      `use one of ${flags}`,
    )
  }
  checkGitOptions(options)
  if (options.dryRun && !options.toService) {
    throw usage(
      '--dry-run needs --to-service',
      'leave it out; without --overwrite no file is replaced',
    )
  }
  if (options.record && !options.drill) {
    throw usage('--record needs --drill', 'use restore --drill --record')
  }
  checkAccountOptions(options)
  if (options.from !== undefined && (options.snapshot !== undefined || options.drill)) {
    throw usage('--from and a snapshot exclude each other', 'use one of them')
  }
  if (options.drill && (options.snapshot !== undefined || options.object !== undefined)) {
    throw usage(
      '--drill restores the newest good snapshot of every account completely',
      'leave out the snapshot and --object; --account selects an account',
    )
  }
}

/** Checks the options for other accounts. */
function checkAccountOptions({ toService, intoAccount, toAccounts, map }: RestoreOptions): void {
  const other = intoAccount !== undefined ? '--into-account' : '--to-accounts'
  const isOther = intoAccount !== undefined || toAccounts !== undefined
  if (intoAccount !== undefined && toAccounts !== undefined) {
    throw usage('--into-account and --to-accounts exclude each other', 'use one of them')
  }
  if (isOther && !toService) throw usage(`${other} needs --to-service`, 'add --to-service')
  if (map !== undefined && !isOther) {
    throw usage('--map needs --into-account or --to-accounts', 'name the accounts to promote into')
  }
  if (toAccounts !== undefined && map === undefined) {
    throw usage('--to-accounts needs --map', 'docs/promotion.md describes the map')
  }
}

/** Checks the options for commits to git. */
function checkGitOptions({ git, pretty, all, push, snapshot, object, from }: RestoreOptions): void {
  if (!git && (all || push)) {
    throw usage(`${all ? '--all' : '--push'} needs --git`, 'add --pretty <folder> --git')
  }
  if (!git) return
  if (pretty === undefined) throw usage('--git needs --pretty', 'add --pretty <folder>')
  if (object !== undefined || from !== undefined) {
    throw usage('--git commits whole snapshots of the archive', 'leave out --object and --from')
  }
  if (all && snapshot !== undefined) {
    throw usage('--all and a snapshot exclude each other', 'use one of them')
  }
}

function usage(state: string, hint: string): DashkeepError {
  return new DashkeepError(`Cannot restore: ${state}`, { kind: 'usage', hint })
}

/** The parts of the configuration that are needed. Before overwriting, the present state is backed up. */
function needsOf({ from, toService, overwrite }: RestoreOptions): ConfigNeed[] {
  const needsStore = from === undefined || (toService && overwrite)
  return [...(needsStore ? ['store' as const] : []), ...(toService ? ['accounts' as const] : [])]
}

async function openSource(
  terminal: Terminal,
  options: RestoreOptions,
  context: Context,
  store: ObjectStore | undefined,
): Promise<Omit<Restoring, 'selection'>> {
  const { signal } = terminal
  const { config } = context
  const limits = scanLimitsOf(config)
  if (options.from !== undefined || store === undefined) {
    const source = await folderSource(options.from ?? '', { limits, signal })
    return { source, manifest: undefined }
  }
  const folder = await selectByOptions(terminal, context, store, options)
  const { manifest } = await readManifest(store, folder.accountId, folder.snapshot, { signal })
  refuseSuspect(manifest, options)
  const opener = await openEncryption(config, terminal.env)
  return { source: snapshotSource(store, manifest, { opener, limits, signal }), manifest }
}

function writeFiles(
  { source, selection }: Restoring,
  { to, pretty, ndjson, overwrite }: RestoreOptions,
): Promise<WrittenFiles> {
  if (to !== undefined) return writeDocuments(source, selection, to, { overwrite })
  if (pretty !== undefined) return writeOpened(source, selection, pretty, { overwrite })
  return writeNdjson(source, selection, ndjson ?? '', { overwrite })
}

function report(terminal: Terminal, restoring: Restoring, written: WrittenFiles): void {
  const { selection } = restoring
  if (terminal.json) {
    terminal.printJson({
      source: sourceToJson(restoring),
      written,
      ...needsToJson(selection, selection.missing),
    })
    return
  }
  const { colors } = terminal
  printSource(terminal, restoring)
  const added =
    selection.added > 0 ? `, ${selection.added} of them because other objects need them` : ''
  terminal.print(
    `${colors.green('restored')} ${plural(written.objects, 'object')}${added} into ${written.path} (${plural(written.files, 'file')})`,
  )
  for (const id of written.leftOut) {
    terminal.print(`${colors.yellow('left out')} ${id}: the stored hit contains no object`)
  }
  printKept(terminal, written.kept)
  printNeeds(terminal, selection, selection.missing)
}
