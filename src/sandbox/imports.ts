import type { Service, ServiceRequest } from './exchange.ts'
import { exportOf } from './exports.ts'
import { exportDocument, heldHits } from './hit-source.ts'
import { type SplitHit, splitDocument } from './raw-hits.ts'
import { jsonReply, type Reply, refused } from './reply.ts'
import { invalid } from './request-bodies.ts'
import type { State, StoredAccount } from './state.ts'

/** What became of the hits of one import, by id. */
interface ImportResult {
  readonly created: string[]
  readonly updated: string[]
  readonly ignored: string[]
  readonly failed: string[]
}

/** An account with more objects of a type than this takes no import. */
const MAX_HELD_BYTES = 256 * 1024 * 1024

/** Takes objects back from an export, each byte for byte. Not in the specification. */
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
  for (const [type, ofType] of Map.groupBy(hits, (hit) => typeOf(hit, types))) {
    const [refusedHits, taken] = partition(ofType, (hit) => failing.includes(idOf(hit)))
    result.failed.push(...refusedHits.map(idOf))
    if (type === undefined) result.failed.push(...taken.map(idOf))
    else importType(service.state, account, { type, hits: taken, override, result })
  }
  return jsonReply(result)
}

function readImport(body: Uint8Array): {
  override: boolean
  kibanaVersion: string
  hits: readonly SplitHit[]
} {
  try {
    const { override = false } = JSON.parse(Buffer.from(body).toString()) as { override?: unknown }
    if (typeof override !== 'boolean') throw new Error('override is not a boolean')
    return { override, ...splitDocument(body, 'the import') }
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'The body is no import')
  }
}

function importType(
  state: State,
  account: StoredAccount,
  request: { type: string; hits: readonly SplitHit[]; override: boolean; result: ImportResult },
): void {
  const { type, hits, override, result } = request
  const held = heldById(state, account, type)
  let changed = false
  for (const hit of hits) {
    const id = idOf(hit)
    const known = held.has(id)
    if (!known || override) {
      held.set(id, hit.bytes)
      changed = true
    }
    if (!known) result.created.push(id)
    else if (override) result.updated.push(id)
    else result.ignored.push(id)
  }
  if (!changed) return
  const document = exportDocument(heldHits([...held.values()]), {
    kibanaVersion: account.kibanaVersion,
    kibanaVersionLast: false,
  })
  state.setObjects(account.accountId, type, {
    kind: 'document',
    document: Buffer.concat([...document.chunks]),
  })
}

/** The hits the account has of one type, by id, in their order. */
function heldById(state: State, account: StoredAccount, type: string): Map<string, Buffer> {
  const plain = { type, turn: 0, shuffle: undefined, kibanaVersionLast: false }
  const { chunks, length } = exportOf(state, account, plain)
  if (length > MAX_HELD_BYTES) {
    throw refused(413, 'Kibana/TOO_LARGE', 'The account holds too many objects to import more')
  }
  const { hits } = splitDocument(Buffer.concat([...chunks]), `the objects of type ${type}`)
  return new Map(hits.map((hit) => [idOf(hit), hit.bytes]))
}

/** The hit's own type, else the one in front of its id; undefined for what cannot be placed. */
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
