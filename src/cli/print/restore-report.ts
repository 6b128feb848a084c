import type { JsonDocument } from '../../objects/lossless-json.ts'
import type { MissingObject, Selection } from '../../restore/choose.ts'
import type { Restoring } from '../../restore/restoring.ts'
import { formatAge, formatTime, plural } from '../../wording.ts'
import type { Terminal } from '../terminal.ts'
import { listSome } from './list-some.ts'

/** Maximum number of lines or names of each kind; `--json` has them all. */
const MAX_SHOWN = 20

/** Prints the source of the objects. */
export function printSource(terminal: Terminal, { source, manifest }: Restoring): void {
  const takenAt = manifest && new Date(manifest.takenAt)
  const taken = takenAt
    ? `, taken ${formatTime(takenAt)} (${formatAge(takenAt, terminal.now())})`
    : ''
  terminal.print(`From ${source.label}${taken}`)
}

/** The source of a restore in a JSON document. Its members are stable. */
export function sourceToJson({ source, manifest }: Restoring): JsonDocument {
  return {
    label: source.label,
    accountId: source.account?.id,
    snapshot: manifest?.snapshot,
    takenAt: manifest?.takenAt,
  }
}

/** Prints the names of edited files that were neither replaced nor removed. */
export function printKept({ print, colors }: Terminal, kept: readonly string[]): void {
  if (kept.length === 0) return
  print(
    `${colors.yellow('kept')} ${plural(kept.length, 'file')} that another program changed or wrote: ${listSome(kept, MAX_SHOWN)}`,
  )
}

/** Prints the objects that the restored ones need and that the restore does not include. */
export function printNeeds(
  terminal: Terminal,
  { indexPatterns, others, unexplained }: Selection,
  missing: readonly MissingObject[],
): void {
  const { colors } = terminal
  printList(terminal, missing, (object) => {
    return `${colors.yellow('missing')} ${describe(object)}`
  })
  printList(terminal, unexplained, ({ id, names }) => {
    const list = names.join(', ')
    return `${colors.yellow('missing')} the object that ${id} calls ${list}: its references do not name it`
  })
  if (indexPatterns.length > 0) {
    terminal.print('Index patterns that must exist, because no export includes them:')
    printList(terminal, indexPatterns, ({ objectId, neededBy }) => {
      return `  ${objectId}  ${colors.dim(`for ${plural(neededBy.length, 'object')}`)}`
    })
  }
  if (others.length > 0) {
    terminal.print('Other objects that must exist, of types that were not backed up:')
    printList(terminal, others, (object) => `  ${describe(object)}`)
  }
}

function describe({ type, objectId, neededBy }: MissingObject): string {
  const [first = ''] = neededBy
  const more = neededBy.length > 1 ? ` and ${neededBy.length - 1} more` : ''
  return `${type}:${objectId}, needed by ${first}${more}`
}

/** Prints the lines of each item, up to a limit, and the number of hidden items. */
export function printList<Item>(
  terminal: Terminal,
  items: readonly Item[],
  linesOf: (item: Item) => string | readonly string[],
): void {
  for (const item of items.slice(0, MAX_SHOWN)) terminal.print(linesOf(item))
  const more = items.length - MAX_SHOWN
  if (more > 0) terminal.print(`  … and ${more} more (--json lists all)`)
}

/** The needed objects in a JSON document. Its members are stable. */
export function needsToJson(
  { added, indexPatterns, others, unexplained }: Selection,
  missing: readonly MissingObject[],
) {
  // TypeScript takes copies of the objects as JSON, but not the interfaces themselves.
  const toJson = (objects: readonly MissingObject[]) => objects.map((object) => ({ ...object }))
  return {
    added,
    missing: toJson(missing),
    indexPatterns: toJson(indexPatterns),
    others: toJson(others),
    unexplained: unexplained.map((object) => ({ ...object })),
  }
}
