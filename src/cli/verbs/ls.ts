import type { Manifest } from '../../archive/manifest.ts'
import { exportOf, readObjects } from '../../archive/read-objects.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatBytes, formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { formatTable } from '../print/table.ts'
import { type ArchiveReader, openReader, readSelected } from '../select/archive-reader.ts'
import type { Terminal } from '../terminal.ts'

interface LsOptions extends CommonOptions {
  readonly snapshot?: string
  readonly account?: string
  readonly type?: readonly string[]
}

/** An object of a snapshot as `ls` shows it. */
interface ListedObject {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  readonly bytes: number
  /** Time of the last change that the object records; null when it records none. */
  readonly updatedAt: string | null
}

/** `dashkeep ls`: every object of a snapshot, by type and title. */
export async function ls(terminal: Terminal, options: LsOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const manifest = await readSelected(reader, options.snapshot, terminal.now())
  const types = options.type ?? manifest.exports.map(({ type }) => type)
  for (const type of types) exportOf(manifest, type)
  terminal.progress.begin('reading the objects', {
    unit: 'file',
    total: types.length,
    counting: 'read',
  })
  const lists: ListedObject[][] = []
  for (const type of types) lists.push(await listObjects(reader, manifest, type))
  const objects = lists.flat()
  const { snapshot, account } = manifest
  if (terminal.json) terminal.printJson({ snapshot, accountId: account.id, objects })
  else printObjects(terminal, objects, snapshot)
  return exitCodes.done
}

async function listObjects(
  { store, read }: ArchiveReader,
  manifest: Manifest,
  type: string,
): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  for await (const { id, title, bytes } of readObjects(store, manifest, type, read)) {
    objects.push({ type, id, title, bytes: bytes.length, updatedAt: updateTimeOf(bytes) })
  }
  return objects.toSorted((a, b) => compare(a.title ?? '', b.title ?? '') || compare(a.id, b.id))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The time in `updated_at` or, in the oldest form, `_updatedAt`: epoch milliseconds or ISO text. */
function updateTimeOf(bytes: Uint8Array): string | null {
  const { _source: source } = JSON.parse(Buffer.from(bytes).toString())
  const recorded: unknown = source?.updated_at ?? source?._updatedAt
  if (typeof recorded !== 'number' && typeof recorded !== 'string') return null
  const time = new Date(/^\d+$/.test(String(recorded)) ? Number(recorded) : recorded)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

function printObjects(terminal: Terminal, objects: readonly ListedObject[], snapshot: string) {
  const { colors } = terminal
  const rows = objects.map(({ type, id, title, bytes, updatedAt }) => [
    title ?? colors.dim('(no title)'),
    id.startsWith(`${type}:`) ? id : `${type}: ${id}`,
    formatBytes(bytes),
    updatedAt === null ? '' : formatTime(new Date(updatedAt)),
  ])
  const header = ['TITLE', 'ID', 'SIZE', 'CHANGED']
  const layout = { right: [2], flexible: ['TITLE'], optional: ['CHANGED', 'SIZE'] }
  if (rows.length > 0) terminal.print([...formatTable(terminal, header, rows, layout), ''])
  terminal.print(`${plural(objects.length, 'object')} in snapshot ${snapshot}`)
}
