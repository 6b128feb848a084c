import { readManifest } from '../../archive/archive.ts'
import { type FoundObject, findObjects } from '../../archive/find.ts'
import { exportsOf, type StoredExport } from '../../archive/stored-export.ts'
import { DashkeepError } from '../../errors.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { fitText, roomBeside } from '../print/table.ts'
import { type ArchiveReader, openReader, readWatchedTimeline } from '../select/archive-reader.ts'
import { selectFolder } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'

interface FindVerbOptions extends CommonOptions {
  readonly text: string
  readonly snapshot?: string
  readonly all?: boolean
  readonly account?: string
  readonly type?: readonly string[]
}

/** Where a search goes, and what could not be read of it. */
interface Scope {
  readonly exports: readonly StoredExport[]
  /** For people. */
  readonly label: string
  readonly problems: readonly string[]
}

/** Characters of a text shown around what was found. */
const CONTEXT = 40

/** `dashkeep find`: objects that hold a text, in one snapshot or in all of them. */
export async function find(terminal: Terminal, options: FindVerbOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const scope = options.all
    ? await allSnapshots(terminal, reader)
    : await oneSnapshot(reader, options.snapshot ?? 'latest', terminal.now())
  const exports = chooseTypes(scope, options.type)
  const { length: total } = exports
  terminal.progress.begin('searching', { unit: 'file', total, counting: 'read' })
  const { objects, problems } = await findObjects(exports, options.text, reader.read)
  const allProblems = [...scope.problems, ...problems]
  for (const problem of allProblems) context.log.error(problem)
  if (terminal.json) terminal.printJson({ objects, problems: allProblems })
  else printObjects(terminal, objects, { ...scope, text: options.text })
  return allProblems.length > 0 ? exitCodes.partly : exitCodes.done
}

async function oneSnapshot(
  { store, folders, read }: ArchiveReader,
  reference: string,
  now: Date,
): Promise<Scope> {
  const { accountId, snapshot } = selectFolder(folders, reference, now)
  const { manifest } = await readManifest(store, accountId, snapshot, read)
  const exports = exportsOf(store, manifest)
  return { exports, label: `snapshot ${snapshot}`, problems: [] }
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
  throw new DashkeepError(`Cannot look into ${missing}: ${label} holds no such type`, {
    kind: 'usage',
    hint: `it holds ${[...held].join(', ')}`,
  })
}

function printObjects(
  terminal: Terminal,
  objects: readonly FoundObject[],
  { text, label }: Scope & { text: string },
): void {
  const { colors } = terminal
  for (const { id, title, snapshot, since, matches } of objects) {
    const span = since === snapshot ? snapshot : `${since} to ${snapshot}`
    const line = `${colors.bold(id)}  ${title ?? ''}  ${colors.dim(span)}`
    const fits = roomBeside(terminal, line) > 0
    const name = `${colors.bold(id)}  ${fitText(terminal, title ?? '', `${id}  `)}`
    terminal.print(fits ? line : [name, `    ${colors.dim(span)}`])
    for (const { path, text: found } of matches) {
      const place = `    ${path.map((step) => String(step)).join(' › ')}: `
      const part = excerpt(found, text, roomBeside(terminal, place))
      terminal.print(`${place}${fitText(terminal, part, place)}`)
    }
  }
  if (objects.length > 0) terminal.print()
  terminal.print(`${plural(objects.length, 'object')} with ${text} in ${label}`)
}

/**
 * The part of a text in which the pattern, or the beginning of a glob, is found. In a line that has
 * room for little, less stands before it.
 */
function excerpt(text: string, pattern: string, room: number): string {
  const literal = pattern.split(/[*?]/).find((part) => part !== '') ?? ''
  const at = Math.max(text.toLowerCase().indexOf(literal.toLowerCase()), 0)
  const context = Math.min(CONTEXT, Math.max(Math.floor((room - literal.length) / 2) - 1, 0))
  const from = Math.max(at - context, 0)
  const to = at + literal.length + CONTEXT
  const part = text.slice(from, to).replaceAll(/\s+/g, ' ')
  return `${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`
}
