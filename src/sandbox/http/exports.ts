import { generatedHits, type Variation } from '../objects/generated-objects.ts'
import {
  type ExportBody,
  exportDocument,
  type HitSource,
  heldDocument,
  heldHits,
  storedDocument,
} from '../objects/hit-source.ts'
import { mix } from '../objects/random.ts'
import { splitDocument, varyHit } from '../objects/raw-hits.ts'
import type { ExportOptions } from '../options.ts'
import type { State, StoredAccount, StoredObjects } from '../state/state.ts'
import type { Service, ServiceRequest } from './exchange.ts'
import { exportReply, type Reply } from './reply.ts'
import { readExportType } from './request-bodies.ts'

/** Exports all objects of one type (specification, section 4). */
export function exportObjects(service: Service, request: ServiceRequest): Reply {
  const { options, state } = service
  const type = readExportType(request.body, options.exports.types)
  const turn = service.nextTurn(request.account.accountId, type)
  return exportReply(exportOf(state, request.account, { ...options.exports, type, turn }))
}

/**
 * Exports the objects of an account and type. A stored document is sent unchanged, unless an option
 * changes the order of its parts.
 */
export function exportOf(
  state: State,
  account: StoredAccount,
  options: Pick<ExportOptions, 'shuffle' | 'kibanaVersionLast'> & { type: string; turn: number },
): ExportBody {
  const { type, shuffle, turn, kibanaVersionLast } = options
  const stored = state.objects(account.accountId, type)
  const order = shuffle === undefined ? undefined : { seed: shuffle, turn }
  const variation = order && variationOf(order)
  const { kibanaVersion } = account
  if (stored?.kind === 'hits' && order === undefined) {
    const hits = state.hits(account.accountId, type)
    return storedDocument(hits, { kibanaVersion, kibanaVersionLast })
  }
  if (stored?.kind === 'document' || stored?.kind === 'hits') {
    const document = documentOf(state, account, { type, stored })
    if (order === undefined && !kibanaVersionLast) return heldDocument(document)
    const { kibanaVersion, hits } = splitDocument(document, `the objects of type ${type}`)
    const varied = hits.map((hit) => (variation ? varyHit(hit, variation) : hit.bytes))
    return exportDocument(heldHits(varied), { kibanaVersion, kibanaVersionLast, order })
  }
  const hits: HitSource =
    stored === undefined ? heldHits([]) : generatedHits(stored.generated, type, variation)
  return exportDocument(hits, { kibanaVersion, kibanaVersionLast, order })
}

/** The export document of all objects of a type, in memory. */
function documentOf(
  state: State,
  { accountId, kibanaVersion }: StoredAccount,
  { type, stored }: { type: string; stored: StoredObjects & { kind: 'document' | 'hits' } },
): Uint8Array {
  if (stored.kind === 'document') return stored.document
  const options = { kibanaVersion, kibanaVersionLast: false }
  return Buffer.concat([...storedDocument(state.hits(accountId, type), options).chunks])
}

function variationOf({ seed, turn }: { seed: number; turn: number }): Variation {
  const bits = mix(seed, 17, turn)
  return { index: 1 + (bits % 99), score: (bits >>> 8) % 1_000_000 }
}
