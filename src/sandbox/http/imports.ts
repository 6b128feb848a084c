import { type SplitHit, splitDocument } from '../objects/raw-hits.ts'
import type { State, StoredAccount } from '../state/state.ts'
import type { Service, ServiceRequest } from './exchange.ts'
import { exportOf } from './exports.ts'
import { jsonReply, type Reply, refused } from './reply.ts'
import { invalid } from './request-bodies.ts'

/** Result of an import, by the ids of its hits. */
interface ImportResult {
  readonly created: string[]
  readonly updated: string[]
  readonly ignored: string[]
  readonly failed: string[]
}

/** Largest stored document that accepts an import: it is split in memory. */
const MAX_HELD_BYTES = 256 * 1024 * 1024

/** Imports objects of an export, each byte for byte. Not in the specification. */
export function importObjects(service: Service, request: ServiceRequest): Reply {
  const { account } = request
  const { override, kibanaVersion, hits } = readImport(request.body)
  if (kibanaVersion !== account.kibanaVersion) {
    throw refused(
      400,
      'Kibana/VERSION_MISMATCH',
      `kibanaVersion is ${kibanaVersion}, the account has ${account.kibanaVersion}`,
    )
  }
  const result: ImportResult = { created: [], updated: [], ignored: [], failed: [] }
  const { types } = service.options.exports
  const failing = request.fault?.failIds ?? []
  service.state.atOnce(() => {
    for (const [type, ofType] of Map.groupBy(hits, (hit) => typeOf(hit, types))) {
      const [refusedHits, taken] = partition(ofType, (hit) => failing.includes(idOf(hit)))
      for (const hit of refusedHits) result.failed.push(idOf(hit))
      if (type !== undefined) {
        importType(service.state, account, { type, hits: taken, override, result })
      } else for (const hit of taken) result.failed.push(idOf(hit))
    }
  })
  return jsonReply(result)
}

function readImport(body: Uint8Array): {
  override: boolean
  kibanaVersion: string
  hits: readonly SplitHit[]
} {
  try {
    const { members, ...document } = splitDocument(body, 'the import')
    const { override = false } = members
    if (typeof override !== 'boolean') throw new Error('override is not a boolean')
    return { override, ...document }
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'The body is not an import')
  }
}

function importType(
  state: State,
  account: StoredAccount,
  request: { type: string; hits: readonly SplitHit[]; override: boolean; result: ImportResult },
): void {
  const { type, hits, override, result } = request
  const { accountId } = account
  if (state.objects(accountId, type)?.kind !== 'hits') {
    const held = heldById(state, account, type)
    if (!override && hits.every((hit) => held.has(idOf(hit)))) {
      // Nothing changes, so the document stays as stored.
      for (const hit of hits) result.ignored.push(idOf(hit))
      return
    }
    state.setObjects(accountId, type, { kind: 'hits' })
    for (const [id, bytes] of held) state.hits(accountId, type).put(id, bytes, true)
  }
  const stored = state.hits(accountId, type)
  for (const hit of hits) {
    const id = idOf(hit)
    result[stored.put(id, hit.bytes, override)].push(id)
  }
}

/** The stored hits of one type, by id, in order. */
function heldById(state: State, account: StoredAccount, type: string): Map<string, Buffer> {
  const plain = { type, turn: 0, shuffle: undefined, kibanaVersionLast: false }
  const { chunks, length } = exportOf(state, account, plain)
  if (length > MAX_HELD_BYTES) {
    throw refused(413, 'Kibana/TOO_LARGE', 'The account holds too many objects to import more')
  }
  const { hits } = splitDocument(Buffer.concat([...chunks]), `the objects of type ${type}`)
  return new Map(hits.map((hit) => [idOf(hit), hit.bytes]))
}

/** The type of a hit, from its `_type` or its id; undefined when it has none. */
function typeOf(hit: SplitHit, types: readonly string[]): string | undefined {
  const id = idOf(hit)
  if (id === '') return undefined
  const ownType = memberText(hit, '_type')
  const named = types.includes(ownType) ? ownType : id.split(':', 1)[0]
  return types.find((type) => type === named)
}

function idOf(hit: SplitHit): string {
  return memberText(hit, '_id')
}

function memberText({ bytes, members }: SplitHit, name: string): string {
  const range = members.get(name)
  if (range === undefined) return ''
  const value: unknown = JSON.parse(bytes.toString('utf8', range.start, range.end))
  return typeof value === 'string' ? value : ''
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
}
