import type { SnapshotFolder } from '../../archive/archive.ts'
import { readManifest } from '../../archive/archive.ts'
import { diffType, sharedTypes } from '../../archive/diff.ts'
import type { ListedObject } from '../../archive/list-objects.ts'
import { countContentBytes, type Manifest } from '../../archive/manifest.ts'
import { createTextMatcher } from '../../objects/match-object.ts'
import { compareValues } from '../../order.ts'
import type { Library, TextPlaces } from '../library.ts'

/** What the address of a snapshot's page asks for. */
export interface SnapshotQuery {
  /** Text in title, id or nested text. */
  readonly q: string
  readonly type: string
  /** A column; `-` before it turns the order. */
  readonly sort: string
  readonly changed: boolean
  readonly page: string
}

/** How an object differs from the previous snapshot. */
type Change = 'added' | 'changed' | 'removed'

/** An object in the table of a snapshot. */
export interface Row extends ListedObject {
  readonly change: Change | undefined
  /** The snapshot that holds it. */
  readonly snapshot: string
}

/** The objects that a page of a snapshot shows. */
export interface FoundRows {
  readonly rows: readonly Row[]
  /** Where objects contain the text; undefined when their texts were not searched. */
  readonly places: TextPlaces | undefined
}

/** Reads, filters and sorts the objects of a snapshot as the address of its page asks. */
export async function readRows(
  library: Library,
  manifest: Manifest,
  {
    query,
    previous,
    signal,
  }: { query: SnapshotQuery; previous: SnapshotFolder | undefined; signal: AbortSignal },
): Promise<FoundRows> {
  const { snapshot } = manifest
  const all = query.changed
    ? await readChanged(library, { manifest, previous, signal })
    : (await library.objects(manifest)).map((one) => ({ ...one, change: undefined, snapshot }))
  const places =
    query.q === '' ? undefined : await findNested(library, manifest, { text: query.q, signal })
  return { rows: filterRows(all, query, places), places }
}

/** Reads what differs from the previous snapshot that the archive still has, with what is gone. */
async function readChanged(
  library: Library,
  {
    manifest,
    previous,
    signal,
  }: { manifest: Manifest; previous: SnapshotFolder | undefined; signal: AbortSignal },
): Promise<Row[]> {
  const { store, read } = library
  const { snapshot } = manifest
  const own = await library.objects(manifest)
  const all = (change: Change) => own.map((one): Row => ({ ...one, change, snapshot }))
  if (previous === undefined) return all('added')
  const before = (await readManifest(store, previous.accountId, previous.snapshot, { signal }))
    .manifest
  const { shared, onlyAfter } = sharedTypes(before, manifest)
  const changes = new Map<string, Change>()
  const gone = new Set<string>()
  for (const type of shared) {
    const sides = [
      { store, manifest: before },
      { store, manifest },
    ] as const
    const { added, changed, removed } = await diffType(...sides, type, { ...read, signal })
    for (const { id } of added) changes.set(`${type} ${id}`, 'added')
    for (const { id } of changed) changes.set(`${type} ${id}`, 'changed')
    for (const { id } of removed) gone.add(`${type} ${id}`)
  }
  const old = gone.size === 0 ? [] : await library.objects(before)
  const rows = own.flatMap((one): Row[] => {
    const change = onlyAfter.includes(one.type) ? 'added' : changes.get(`${one.type} ${one.id}`)
    return change === undefined ? [] : [{ ...one, change, snapshot }]
  })
  const removed = old.filter(({ type, id }) => gone.has(`${type} ${id}`))
  return [
    ...rows,
    ...removed.map((one): Row => ({ ...one, change: 'removed', snapshot: before.snapshot })),
  ]
}

/** What the columns sort by. */
const sortKeys: Record<string, (row: Row) => string | number> = {
  title: ({ title }) => (title ?? '').toLowerCase(),
  type: ({ type }) => type,
  size: ({ bytes }) => bytes,
  changed: ({ updatedAt }) => updatedAt ?? '',
}

/** Largest snapshot, in bytes of its exports, whose whole text is searched for a table. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024

/** Searches the nested text of a snapshot; undefined when it is too large. */
async function findNested(
  library: Library,
  manifest: Manifest,
  { text, signal }: { text: string; signal: AbortSignal },
): Promise<TextPlaces | undefined> {
  if (countContentBytes(manifest) > MAX_SEARCHED_BYTES) return undefined
  const places = await library.search(manifest, text)
  signal.throwIfAborted()
  return places
}

function filterRows(
  rows: readonly Row[],
  { q, type, sort }: SnapshotQuery,
  places: TextPlaces | undefined,
): Row[] {
  const matches = createTextMatcher(q, { whole: false })
  const found = rows.filter(
    (row) =>
      (type === '' || row.type === type) &&
      (q === '' || matches(row.title ?? '') || matches(row.id) || places?.objects.has(row.id)),
  )
  const key = Object.hasOwn(sortKeys, sort.replace(/^-/, ''))
    ? sortKeys[sort.replace(/^-/, '')]
    : undefined
  if (key === undefined) return found
  const turn = sort.startsWith('-') ? -1 : 1
  return found.toSorted((a, b) => turn * compareValues(key(a), key(b)))
}
