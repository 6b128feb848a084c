import { readManifest, type SnapshotFolder } from '../../archive/archive.ts'
import type { NamedObject } from '../../archive/compare.ts'
import { diffType, type SnapshotSide, sharedTypes, type TypeDiff } from '../../archive/diff.ts'
import { type Candidate, findNamed } from '../../archive/find.ts'
import type { Manifest } from '../../archive/manifest.ts'
import { exportsOf } from '../../archive/stored-export.ts'
import type { TakeProgress } from '../../archive/take-options.ts'
import type { AccountConfig, Config } from '../../config/config.ts'
import { DashkeepError } from '../../errors.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { exportLive } from '../../run/live-snapshot.ts'
import { findOwner } from '../../run/owners.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { type Comparison, printComparison } from '../print/print-comparison.ts'
import { countArrivals } from '../print/progress.ts'
import { type ArchiveReader, openReader } from '../select/archive-reader.ts'
import { selectFolder } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'

interface DiffVerbOptions extends CommonOptions {
  readonly before: string
  /** Undefined for the present objects of the service. */
  readonly after?: string
  readonly account?: string
  /** The account of the newer side, when it is not the same. */
  readonly otherAccount?: string
  readonly type?: readonly string[]
  readonly object?: string
  readonly stat?: boolean
}

/** `dashkeep diff`: compares two snapshots, or a snapshot with the service. */
export async function diff(terminal: Terminal, options: DiffVerbOptions): Promise<number> {
  const { after: reference, account, otherAccount } = options
  const needs = reference === undefined ? (['accounts', 'store'] as const) : (['store'] as const)
  const context = await createContext(terminal, options, needs)
  await using reader = await openReader(terminal, context, account)
  await using other =
    otherAccount === undefined ? undefined : await openReader(terminal, context, otherAccount)
  const { read } = reader
  const select = ({ folders }: ArchiveReader, named: string) =>
    selectFolder(folders, named, terminal.now())
  const newer = reference === undefined ? undefined : select(other ?? reader, reference)
  const before = await openSide(reader, select(reader, options.before))
  await using after = newer
    ? await openSide(other ?? reader, newer)
    : await openLive(context, terminal, other ? await openNewest(other, terminal.now()) : before)
  const types = chooseTypes(before, after, options.type)
  terminal.progress.begin('comparing', { unit: 'file', counting: 'read' })
  await report(terminal, { before, after, isLive: !newer, types, read }, options)
  return exitCodes.done
}

async function openSide(
  { store, read }: ArchiveReader,
  { accountId, snapshot }: SnapshotFolder,
): Promise<SnapshotSide & AsyncDisposable> {
  const { manifest } = await readManifest(store, accountId, snapshot, read)
  return { store, manifest, async [Symbol.asyncDispose]() {} }
}

function openNewest(reader: ArchiveReader, now: Date) {
  return openSide(reader, selectFolder(reader.folders, 'latest', now))
}

/** Exports the present objects of a snapshot's account. */
async function openLive(
  { config, log }: Context,
  { env, now, signal, progress }: Terminal,
  { manifest }: SnapshotSide,
): Promise<SnapshotSide & AsyncDisposable> {
  const { id } = manifest.account
  const account = accountOf(config, manifest.account)
  const types = manifest.exports.map(({ type }) => type)
  progress.begin('reading the service')
  const arrived = countArrivals(progress)
  const onProgress = (step: TakeProgress) => arrived(account.name, step)
  return exportLive(account, config, { env, log, now, accountId: id, types, signal, onProgress })
}

function accountOf(config: Config, owner: Manifest['account']): AccountConfig {
  const { id } = owner
  const found = findOwner(config, owner)
  if (found !== undefined) return found
  throw new DashkeepError(
    `Cannot compare with the service: no configured account has the accountId ${id}`,
    {
      kind: 'usage',
      hint: `set accountId: ${id} for the account that \`dashkeep whoami\` shows with this id`,
    },
  )
}

function chooseTypes(
  before: SnapshotSide,
  after: SnapshotSide,
  asked: readonly string[] | undefined,
): readonly string[] {
  const { shared, onlyBefore, onlyAfter } = sharedTypes(before.manifest, after.manifest)
  const missing = asked?.find((type) => !shared.includes(type))
  if (missing === undefined) return asked ?? shared
  const holder = [...onlyBefore, ...onlyAfter].includes(missing) ? 'only one side' : 'neither side'
  throw new DashkeepError(`Cannot compare ${missing}: ${holder} holds this type`, {
    kind: 'usage',
    hint: `both sides hold ${shared.join(', ')}`,
  })
}

async function report(
  terminal: Terminal,
  comparison: Comparison,
  options: DiffVerbOptions,
): Promise<void> {
  const { before, after, types, read } = comparison
  const only =
    options.object === undefined ? undefined : await findObject(comparison, options.object)
  const diffs: TypeDiff[] = []
  for (const type of only === undefined ? types : [only.type]) {
    const found = await diffType(before, after, type, read)
    diffs.push(only === undefined ? found : keepObject(found, only.id))
  }
  await printComparison(terminal, comparison, diffs, {
    stat: options.stat === true,
    whole: only !== undefined,
  })
}

/** Looks for the object on both sides. */
function findObject({ before, after, types, read }: Comparison, text: string): Promise<Candidate> {
  const exports = [before, after].flatMap(({ store, manifest }) =>
    exportsOf(store, manifest, types),
  )
  return findNamed(exports, text, read)
}

function keepObject(found: TypeDiff, id: string): TypeDiff {
  const only = (objects: readonly NamedObject[]) => objects.filter((object) => object.id === id)
  const kept = {
    added: only(found.added),
    removed: only(found.removed),
    changed: only(found.changed),
    touched: only(found.touched),
  }
  const differs = Object.values(kept).some((objects) => objects.length > 0)
  return { type: found.type, ...kept, unchanged: differs ? 0 : 1 }
}
