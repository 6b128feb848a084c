import { type ListedObject, listObjects } from '../../archive/list-objects.ts'
import { exportOf } from '../../archive/read-objects.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatBytes, formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { formatTable } from '../print/table.ts'
import { openReader, readSelected } from '../select/archive-reader.ts'
import type { Terminal } from '../terminal.ts'

interface LsOptions extends CommonOptions {
  readonly snapshot?: string
  readonly account?: string
  readonly type?: readonly string[]
}

/** `dashkeep ls`: every object of a snapshot, by type and title. */
export async function ls(terminal: Terminal, options: LsOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const { store, read } = reader
  const manifest = await readSelected(reader, options.snapshot, terminal.now())
  const types = options.type ?? manifest.exports.map(({ type }) => type)
  for (const type of types) exportOf(manifest, type)
  terminal.progress.begin('reading the objects', {
    unit: 'file',
    total: types.length,
    counting: 'read',
  })
  const lists: ListedObject[][] = []
  for (const type of types) lists.push(await listObjects(store, manifest, type, read))
  const objects = lists.flat()
  const { snapshot, account } = manifest
  if (terminal.json) terminal.printJson({ snapshot, accountId: account.id, objects })
  else printObjects(terminal, objects, snapshot)
  return exitCodes.done
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
