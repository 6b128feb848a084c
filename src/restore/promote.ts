import { createHeapBudget } from '../archive/heap-budget.ts'
import { DashkeepError } from '../errors.ts'
import { deriveId } from '../objects/derive-id.ts'
import { stringifyLossless } from '../objects/lossless-json.ts'
import { namesIndexInText } from '../objects/own-text.ts'
import { type PatternKey, type Rename, rewriteObject } from '../objects/rewrite-object.ts'
import { parseSavedObject, type SavedObject } from '../objects/saved-object.ts'
import { type ObjectEntry, toEntry } from './catalogue.ts'
import { describeSelection } from './choose.ts'
import { readChosen } from './read-chosen.ts'
import type { ChosenRestoring, PromotedParts, PromotedPattern, Restoring } from './restoring.ts'
import type { RestoreSource } from './source.ts'
import { sameObject } from './target.ts'

/** How objects change on their way into another account. */
export interface Promotion {
  /** `derive` gives each object an id made from the source account and its own id. */
  readonly ids: 'keep' | 'derive'
  /** Goes before the title of each object; may be empty. */
  readonly titlePrefix: string
  /** From the id or the name of an index pattern of the source to those of the target. */
  readonly indexPatterns: ReadonlyMap<string, Partial<Record<PatternKey, string | undefined>>>
  /** Whether index patterns that `indexPatterns` lacks stay as they are. Otherwise, they are refused. */
  readonly keepsUnmapped: boolean
  /** The name of the map, for messages. */
  readonly label: string
}

/** Largest number of names in a hint. */
const MAX_NAMED = 20

/**
 * Makes a restore of the chosen objects as a promotion changes them. All of its objects, ids and
 * titles are those of the target.
 *
 * Throws a `usage` error when an index pattern is not mapped, when two objects would get the same id, and
 * when the ids cannot be derived.
 */
export async function promote(
  chosen: ChosenRestoring,
  promotion: Promotion,
): Promise<Restoring & { readonly promoted: PromotedParts }> {
  const { source, selection } = chosen
  const renameObject = createRename(chosen, promotion)
  const uses = createUses(promotion)
  const budget = createHeapBudget(`promote ${source.label}`)
  const entries: ObjectEntry[] = []
  const ownTexts: string[] = []
  for (const { type } of source.exports) {
    for await (const { entry: from, hit } of readChosen(source, type, selection.objects)) {
      const original = parseSavedObject(hit, type)
      if (original.id === '') throw withoutId(from, source)
      const rename = uses.record(renameObject, from.id)
      const bytes = rewriteHit(original, hit, { rename, titlePrefix: promotion.titlePrefix })
      const object = parseSavedObject(bytes, type)
      if (namesIndexInText(object)) ownTexts.push(object.id)
      if (promotion.ids === 'derive' && object.id === original.id) throw withoutType(from, source)
      const entry = toEntry(object, {
        exportType: type,
        index: from.index,
        state: sameObject(object, bytes),
      })
      budget.hold(entry.id, entry.title, from.id, from.title)
      budget.check()
      entries.push({ ...entry, from: { id: from.id, title: from.title } })
    }
  }
  refuseSharedIds(entries)
  const patterns = uses.list()
  refuseUnmapped(patterns, promotion)
  return {
    ...chosen,
    source: promotedSource(source, uses.record(renameObject), promotion),
    selection: describeSelection(source, entries, { ...selection, known: entries }),
    promoted: { patterns, ownTexts },
  }
}

/** The source with every hit as the promotion changes it. */
function promotedSource(
  source: RestoreSource,
  rename: Rename,
  { titlePrefix }: Promotion,
): RestoreSource {
  return {
    ...source,
    async *readHits(type) {
      for await (const hit of source.readHits(type)) {
        yield rewriteHit(parseSavedObject(hit, type), hit, { rename, titlePrefix })
      }
    },
  }
}

/** Returns the same bytes when nothing changes. */
function rewriteHit(
  object: SavedObject,
  hit: Uint8Array,
  { rename, titlePrefix }: { rename: Rename; titlePrefix: string },
): Uint8Array {
  const retitle = (title: string) => titlePrefix + title
  const rewritten = stringifyLossless(rewriteObject(object, { rename, retitle }))
  return rewritten === stringifyLossless(object.hit) ? hit : Buffer.from(rewritten)
}

/**
 * Renames the objects of the source, also those that are not chosen: they have their new ids in the
 * target if they were promoted before. Other ids stay.
 */
function createRename(
  { source, ids: known }: ChosenRestoring,
  { ids, label }: Promotion,
): Rename['object'] {
  if (ids === 'keep') return (_type, id) => id
  const { account } = source
  if (account === undefined) {
    throw new DashkeepError(
      `Cannot derive ids: ${source.label} does not name the account of its objects`,
      { kind: 'usage', hint: `set ids: keep in ${label}, or promote from a snapshot` },
    )
  }
  return (type, id) => (known.has(`${type}:${id}`) ? deriveId(account.id, type, id) : id)
}

/** Renames index patterns and records which objects use them. */
function createUses({ indexPatterns }: Promotion) {
  const uses = new Map<string, Omit<PromotedPattern, 'neededBy'> & { neededBy: Set<string> }>()
  const use = (from: string, by: PatternKey, user: string) => {
    const to = indexPatterns.get(from)?.[by]
    const found = uses.get(`${by} ${from}`) ?? {
      ...{ from, to: to ?? from, by, isMapped: to !== undefined },
      neededBy: new Set<string>(),
    }
    found.neededBy.add(user)
    uses.set(`${by} ${from}`, found)
  }
  return {
    record: (object: Rename['object'], user?: string): Rename => ({
      object,
      pattern(text, key) {
        if (user !== undefined) use(text, key, user)
        return indexPatterns.get(text)?.[key] ?? text
      },
    }),
    list: (): PromotedPattern[] =>
      [...uses.values()].map((found) => ({ ...found, neededBy: [...found.neededBy] })),
  }
}

function withoutId({ title }: ObjectEntry, { label }: RestoreSource): DashkeepError {
  const named = title === undefined ? 'an object' : `the object ${JSON.stringify(title)}`
  return new DashkeepError(`Cannot promote ${named} of ${label}: it has no id`, {
    kind: 'usage',
    hint: 'choose other objects with --object',
  })
}

/** The error for an object whose copy would keep its id, and so could meet an object of the target. */
function withoutType({ id }: ObjectEntry, { label }: RestoreSource): DashkeepError {
  return new DashkeepError(
    `Cannot promote ${id} of ${label}: its id does not begin with its type, so no other id can be derived`,
    { kind: 'usage', hint: 'choose other objects with --object, or set ids: keep in the map' },
  )
}

function refuseSharedIds(entries: readonly ObjectEntry[]): void {
  const groups = [...Map.groupBy(entries, ({ id }) => id)].filter(([, { length }]) => length > 1)
  if (groups.length === 0) return
  throw new DashkeepError('Cannot promote: several objects would get the same id', {
    kind: 'usage',
    problems: groups.slice(0, MAX_NAMED).map(([id, group]) => {
      const from = group.map(({ from, title }) => `${from?.id} (${title ?? 'no title'})`)
      return `${id}: ${from.join(', ')}`
    }),
    hint: 'the source has several objects with the same id; choose other objects with --object',
  })
}

function refuseUnmapped(
  patterns: readonly PromotedPattern[],
  { keepsUnmapped, label }: Promotion,
): void {
  const unmapped = patterns.filter(({ isMapped }) => !isMapped)
  if (keepsUnmapped || unmapped.length === 0) return
  throw new DashkeepError(`Cannot promote: ${label} does not map all index patterns`, {
    kind: 'usage',
    problems: unmapped.map(({ from, by, neededBy: [first, ...others] }) => {
      const more = others.length > 0 ? ` and ${others.length} more` : ''
      return `${JSON.stringify(from)}: used as ${by} by ${first}${more}`
    }),
    hint: 'add them to indexPatterns, or set unmapped: keep to leave them as they are',
  })
}
