import { DashkeepError } from '../../errors.ts'
import type { ExportMembers } from '../../export/envelope.ts'
import { createExportScanner, type RawHit } from '../../export/export-scanner.ts'
import { endOf, firstOf, offset, THE_HIT } from '../../export/hit-members.ts'
import { MEMBER } from '../../export/hit-reader.ts'
import type { ExportDocument, Hits } from '../options.ts'
import type { Variation } from './generated-objects.ts'

/** The bytes of a hit, with the position of each member's value. */
export interface SplitHit {
  readonly bytes: Buffer
  readonly members: ReadonlyMap<string, ByteRange>
}

/** Byte offsets of a value; `end` is exclusive. */
interface ByteRange {
  readonly start: number
  readonly end: number
}

/** An export document, split into its hits. */
interface SplitDocument {
  readonly kibanaVersion: string
  /** Top-level members, without the hits. */
  readonly members: ExportMembers
  readonly hits: readonly SplitHit[]
}

/** No limits: the sandbox serves any document it is given. */
const limits = {
  maxExportBytes: Number.POSITIVE_INFINITY,
  maxObjects: Number.POSITIVE_INFINITY,
  maxDepth: 100_000,
}

/**
 * Splits an export document into the unchanged bytes of its hits. Throws a `usage` error that names
 * `what` when it is not an export document.
 */
export function splitDocument(document: Uint8Array, what: string): SplitDocument {
  const hits: SplitHit[] = []
  try {
    const scanner = createExportScanner(
      (hit) => {
        hits.push({ bytes: Buffer.from(hit.bytes), members: locateMembers(hit) })
      },
      { ...limits, maxHitBytes: document.length },
    )
    scanner.feed(document)
    const { kibanaVersion, members } = scanner.end()
    return { kibanaVersion, members, hits }
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause)
    throw new DashkeepError(`Cannot load ${what}: ${state.replace(/^Cannot [^:]*: /, '')}`, {
      kind: 'usage',
      hint: 'use the unchanged answer of an export: {"kibanaVersion":"…","hits":[…]}',
      cause,
    })
  }
}

/** The bytes of a document, given as a whole or as hits. */
export function toDocument(given: ExportDocument | Hits, kibanaVersion: string): Uint8Array {
  if (typeof given === 'string') return Buffer.from(given)
  if (given instanceof Uint8Array) return given
  const hits = given.map((hit) => (typeof hit === 'string' ? hit : JSON.stringify(hit)))
  return Buffer.from(
    `{"kibanaVersion":${JSON.stringify(kibanaVersion)},"hits":[${hits.join(',')}]}`,
  )
}

/** The hit with another `_index` and `_score`. All other bytes are unchanged. */
export function varyHit({ bytes, members }: SplitHit, variation: Variation): Buffer {
  const index = `".kibana_${String(variation.index).padStart(2, '0')}"`
  const score = `1.${String(variation.score).padStart(6, '0')}`
  const parts: Uint8Array[] = []
  let kept = 0
  for (const [name, { start, end }] of members) {
    if (name !== '_index' && name !== '_score') continue
    parts.push(bytes.subarray(kept, start), Buffer.from(name === '_index' ? index : score))
    kept = end
  }
  return Buffer.concat([...parts, bytes.subarray(kept)])
}

/** Finds the members of the hit itself. */
function locateMembers(hit: RawHit): Map<string, ByteRange> {
  const members = new Map<string, ByteRange>()
  const end = endOf(hit, THE_HIT)
  for (let member = firstOf(THE_HIT); member < end; member = offset(hit, member, MEMBER.next)) {
    const [key, keyEnd] = [offset(hit, member, MEMBER.key), offset(hit, member, MEMBER.keyEnd)]
    const name = JSON.parse(hit.bytes.toString('utf8', key, keyEnd)) as string
    const start = offset(hit, member, MEMBER.value)
    members.set(name, { start, end: offset(hit, member, MEMBER.valueEnd) })
  }
  return members
}
