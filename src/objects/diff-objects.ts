import { findGaps } from './list-gaps.ts'
import { asJsonObject, equalJson, type JsonObject, type JsonValue } from './lossless-json.ts'
import { comparableView } from './open-nested.ts'
import { parseSavedObject, type Reference } from './saved-object.ts'

/** The member that identifies the items of an array. Every item has it, with a unique value. */
type KeyName = 'panelIndex' | 'name' | 'id'

/** A step of a path: a member, an index of an array, or an item of an array with its key. */
export type Step =
  | string
  | number
  | { readonly by: KeyName; readonly key: string; readonly item: JsonObject }

/** Position and size of a panel on its dashboard, in the units of its service. */
export interface PanelPlace {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One difference, in the form that people read. */
export type Difference =
  | { readonly kind: 'added'; readonly path: readonly Step[]; readonly after: JsonValue }
  | { readonly kind: 'removed'; readonly path: readonly Step[]; readonly before: JsonValue }
  | {
      readonly kind: 'changed'
      readonly path: readonly Step[]
      readonly before: JsonValue
      readonly after: JsonValue
    }
  /** A panel has another position or size. */
  | {
      readonly kind: 'moved'
      readonly path: readonly Step[]
      readonly before: PanelPlace
      readonly after: PanelPlace
    }
  /** The same items are in another order. */
  | { readonly kind: 'reordered'; readonly path: readonly Step[] }

/** An operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly path: string }

/** The differences of two values, for people and for programs. Both are empty for equal values. */
interface ValueDiff {
  readonly differences: readonly Difference[]
  /** Operations that change the first value into the second, in this order. */
  readonly patch: readonly PatchOperation[]
}

/**
 * Compares two values member by member. Items of an array are matched by their key: panels by
 * `panelIndex`, references by `name`, others by `id`. Without keys, equal items in the same order are
 * matched first, and the items between them by index.
 */
export function diffValues(before: JsonValue, after: JsonValue): ValueDiff {
  const comparison: Comparison = { differences: [], patch: [] }
  compare(comparison, before, after, { path: [], pointer: '' })
  return comparison
}

interface Comparison {
  readonly differences: Difference[]
  readonly patch: PatchOperation[]
}

/** A place in both values. `pointer` is valid after all earlier operations of the patch. */
interface Place {
  readonly path: readonly Step[]
  readonly pointer: string
}

function compare(to: Comparison, before: JsonValue, after: JsonValue, at: Place): void {
  if (equalJson(before, after)) return
  const [objectBefore, objectAfter] = [asJsonObject(before), asJsonObject(after)]
  if (objectBefore && objectAfter) compareMembers(to, objectBefore, objectAfter, at)
  else if (Array.isArray(before) && Array.isArray(after)) compareArrays(to, before, after, at)
  else {
    to.differences.push({ kind: 'changed', path: at.path, before, after })
    to.patch.push({ op: 'replace', path: at.pointer, value: after })
  }
}

function compareMembers(to: Comparison, before: JsonObject, after: JsonObject, at: Place): void {
  for (const [name, value] of before) {
    const other = after.get(name)
    if (other === undefined) remove(to, value, into(at, name))
    else compare(to, value, other, into(at, name))
  }
  for (const [name, value] of after) {
    if (!before.has(name)) add(to, value, into(at, name))
  }
}

function add(to: Comparison, after: JsonValue, { path, pointer }: Place): void {
  to.differences.push({ kind: 'added', path, after })
  to.patch.push({ op: 'add', path: pointer, value: after })
}

function remove(to: Comparison, before: JsonValue, { path, pointer }: Place): void {
  to.differences.push({ kind: 'removed', path, before })
  to.patch.push({ op: 'remove', path: pointer })
}

function into({ path, pointer }: Place, step: string | number, shown: Step = step): Place {
  const token = String(step).replaceAll('~', '~0').replaceAll('/', '~1')
  return { path: [...path, shown], pointer: `${pointer}/${token}` }
}

function compareArrays(
  to: Comparison,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  at: Place,
): void {
  for (const by of at.path.at(-1) === 'references' ? (['name'] as const) : keyNames) {
    const [keyedBefore, keyedAfter] = [keyed(before, by), keyed(after, by)]
    if (keyedBefore && keyedAfter) {
      compareKeyed(to, keyedBefore, keyedAfter, at, by)
      return
    }
  }
  comparePlaces(to, before, after, at)
}

const keyNames: readonly KeyName[] = ['panelIndex', 'id']

type Keyed = Map<string, JsonObject>

/** Longer arrays are compared without keys, because the time grows with the square of their length. */
const MAX_KEYED = 10_000

/** The items by key; undefined when an item has no key or two have the same key. */
function keyed(items: readonly JsonValue[], by: KeyName): Keyed | undefined {
  if (items.length > MAX_KEYED) return undefined
  const found: Keyed = new Map()
  for (const item of items) {
    const object = asJsonObject(item)
    const key = object?.get(by)
    if (object === undefined || (typeof key !== 'string' && typeof key !== 'number'))
      return undefined
    found.set(String(key), object)
  }
  return found.size === items.length ? found : undefined
}

function compareKeyed(to: Comparison, before: Keyed, after: Keyed, at: Place, by: KeyName): void {
  const place = (index: number, key: string, item: JsonObject) => into(at, index, { by, key, item })
  const order = [...before.keys()]
  for (const [key, item] of [...before].reverse()) {
    if (after.has(key)) continue
    const index = order.indexOf(key)
    remove(to, item, place(index, key, item))
    order.splice(index, 1)
  }
  arrange(to, order, before, after, at, place)
  for (const [index, [key, item]] of [...after].entries()) {
    const old = before.get(key)
    if (old !== undefined) compareItems(to, old, item, place(index, key, item))
  }
}

/** Sorts the remaining items like the second array, and inserts its new items. */
function arrange(
  to: Comparison,
  order: string[],
  before: Keyed,
  after: Keyed,
  at: Place,
  place: (index: number, key: string, item: JsonObject) => Place,
): void {
  let reordered = false
  for (const [index, [key, item]] of [...after].entries()) {
    if (order[index] === key) continue
    if (before.has(key)) {
      const from = order.indexOf(key)
      to.patch.push({ op: 'move', from: `${at.pointer}/${from}`, path: `${at.pointer}/${index}` })
      order.splice(from, 1)
      reordered = true
    } else {
      add(to, item, place(index, key, item))
    }
    order.splice(index, 0, key)
  }
  if (reordered) to.differences.push({ kind: 'reordered', path: at.path })
}

function compareItems(to: Comparison, before: JsonObject, after: JsonObject, at: Place): void {
  const [from, target] = [statedPlaceOf(before), statedPlaceOf(after)]
  if (from === undefined || target === undefined || from.grid !== target.grid) {
    compare(to, before, after, at)
    return
  }
  const inner: Comparison = { differences: [], patch: to.patch }
  compare(inner, before, after, at)
  const isPlace = ({ path }: Difference) => {
    const [first, second] = path.slice(at.path.length)
    return from.grid
      ? first === 'gridData' && gridMembers.includes(String(second))
      : columnMembers.includes(String(first))
  }
  const places = { before: from.place, after: target.place }
  if (inner.differences.some(isPlace)) {
    to.differences.push({ kind: 'moved', path: at.path, ...places })
  }
  to.differences.push(...inner.differences.filter((difference) => !isPlace(difference)))
}

const gridMembers = ['x', 'y', 'w', 'h']
const columnMembers = ['col', 'row', 'size_x', 'size_y']

/** Position and size of a panel, from `gridData` or the older `col`, `row`, `size_x` and `size_y`. */
export function statedPlaceOf(panel: JsonObject): { grid: boolean; place: PanelPlace } | undefined {
  const grid = asJsonObject(panel.get('gridData'))
  const members = grid ? gridMembers : columnMembers
  const numbers = members.map((name) => (grid ?? panel).get(name))
  if (!numbers.every((number) => typeof number === 'number')) return undefined
  const [x = 0, y = 0, width = 0, height = 0] = numbers
  return { grid: grid !== undefined, place: { x, y, width, height } }
}

/** Skips equal items in the same order. Compares the items between them by index. */
function comparePlaces(
  to: Comparison,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  at: Place,
): void {
  for (const gap of findGaps(before, after, equalJson)) {
    // The patch has already made everything before the gap equal to the second list. So its indexes count.
    const shared = Math.min(gap.removed, gap.added)
    for (let nth = 0; nth < shared; nth += 1) {
      const [old, item] = [before[gap.from + nth], after[gap.to + nth]]
      compare(to, old as JsonValue, item as JsonValue, into(at, gap.to + nth))
    }
    for (let nth = gap.removed - 1; nth >= shared; nth -= 1) {
      remove(to, before[gap.from + nth] as JsonValue, into(at, gap.to + nth, gap.from + nth))
    }
    for (let nth = shared; nth < gap.added; nth += 1) {
      add(to, after[gap.to + nth] as JsonValue, into(at, gap.to + nth))
    }
  }
}

/** The differences of two versions of an object. */
export interface ObjectDiff extends ValueDiff {
  readonly type: string
  /** The `references` of both versions, to name panels by the objects that they show. */
  readonly references: readonly Reference[]
}

/** Compares two versions of an object, given as the bytes of their hits. Ignores unstable members. */
export function diffHits(before: Uint8Array, after: Uint8Array, type: string): ObjectDiff {
  const [older, newer] = [parseSavedObject(before, type), parseSavedObject(after, type)]
  return {
    ...diffValues(comparableView(older.hit), comparableView(newer.hit)),
    type,
    references: [...newer.references, ...older.references],
  }
}
