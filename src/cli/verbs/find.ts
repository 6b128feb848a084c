import { type FoundObject, findObjects } from '../../archive/find.ts'
import { exportsOf, type StoredExport } from '../../archive/stored-export.ts'
import { DashkeepError } from '../../errors.ts'
import { excerpt } from '../../objects/match-object.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { fitText, roomBeside } from '../print/table.ts'
import { describeUnread } from '../print/unread-files.ts'
import {
  type ArchiveReader,
  openReader,
  readSelected,
  readWatchedTimeline,
} from '../select/archive-reader.ts'
import type { Terminal } from '../terminal.ts'

interface FindVerbOptions extends CommonOptions {
  readonly text: string
  readonly snapshot?: string
  readonly all?: boolean
  readonly account?: string
  readonly type?: readonly string[]
}

/** The exports to search, and the manifests that could not be read. */
interface Scope {
  readonly exports: readonly StoredExport[]
  /** What is searched, as messages call it. */
  readonly label: string
  readonly problems: readonly string[]
}

/** `dashkeep find`: finds the objects that contain a text, in one snapshot or in all. */
export async function find(terminal: Terminal, options: FindVerbOptions): Promise<number> {
  if (options.text === '') throw emptyText()
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const scope = options.all
    ? await allSnapshots(terminal, reader)
    : await oneSnapshot(reader, options.snapshot, terminal.now())
  const exports = chooseTypes(scope, options.type)
  const { length: total } = exports
  terminal.progress.begin('searching', { unit: 'file', total, counting: 'read' })
  const { objects, problems } = await findObjects(exports, options.text, reader.read)
  const allProblems = [...scope.problems, ...problems]
  for (const problem of allProblems) context.log.error(problem)
  if (terminal.json) terminal.printJson({ objects, problems: allProblems })
  else printObjects(terminal, objects, { ...scope, problems: allProblems, text: options.text })
  return allProblems.length > 0 ? exitCodes.partly : exitCodes.done
}

function emptyText(): DashkeepError {
  return new DashkeepError('Cannot search: the text to search for is empty', {
    kind: 'usage',
    hint: "give at least one character, or '*' for all objects",
  })
}

async function oneSnapshot(
  reader: ArchiveReader,
  reference: string | undefined,
  now: Date,
): Promise<Scope> {
  const manifest = await readSelected(reader, reference, now)
  const exports = exportsOf(reader.store, manifest)
  return { exports, label: `snapshot ${manifest.snapshot}`, problems: [] }
}

async function allSnapshots(terminal: Terminal, reader: ArchiveReader): Promise<Scope> {
  const timeline = await readWatchedTimeline(terminal, reader)
  return {
    exports: timeline.types.flatMap((type) => timeline.stretches(type)),
    label: timeline.snapshots === 1 ? 'the only snapshot' : `all ${timeline.snapshots} snapshots`,
    problems: timeline.unreadable.map(({ message }) => message),
  }
}

function chooseTypes(
  { exports, label }: Scope,
  asked: readonly string[] | undefined,
): readonly StoredExport[] {
  const held = new Set(exports.map(({ type }) => type))
  const missing = asked?.find((type) => !held.has(type))
  if (missing === undefined) return exports.filter(({ type }) => asked?.includes(type) ?? true)
  throw new DashkeepError(`Cannot search the type ${missing}: ${label} does not hold it`, {
    kind: 'usage',
    hint: `it holds ${[...held].join(', ')}`,
  })
}

function printObjects(
  terminal: Terminal,
  objects: readonly FoundObject[],
  { text, label, problems }: Scope & { text: string },
): void {
  const { colors } = terminal
  for (const { id, title, snapshot, since, matches } of objects) {
    const span = since === snapshot ? snapshot : `${since} to ${snapshot}`
    const line = `${colors.bold(id)}  ${title ?? ''}  ${colors.dim(span)}`
    const fits = roomBeside(terminal, line) > 0
    const name = `${colors.bold(id)}  ${fitText(terminal, title ?? '', `${id}  `)}`
    terminal.print(fits ? line : [name, `    ${colors.dim(span)}`])
    for (const { path, text: found } of matches) {
      const start = `    ${path.map((step) => String(step)).join(' › ')}: `
      const part = excerpt(found, text, roomBeside(terminal, start))
      terminal.print(`${start}${fitText(terminal, part, start)}`)
    }
  }
  if (objects.length > 0) terminal.print()
  const counts = `${plural(objects.length, 'object')} with ${text} in ${label}`
  terminal.print(counts + describeUnread(terminal, problems.length))
}
