import { DashkeepError } from '../errors.ts'
import { createExportScanner } from '../snapshot/export-scanner.ts'
import type { Variation } from './generated-objects.ts'
import type { ExportDocument, Hits } from './options.ts'

/** A hit in its own bytes, with where the values of its members stand in them. */
export interface SplitHit {
  readonly bytes: Buffer
  readonly members: ReadonlyMap<string, ByteRange>
}

/** From the first byte of a value up to the one after its last. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** An export document, or anything of its form, with its hits apart. */
export interface SplitDocument {
  readonly kibanaVersion: string
  readonly hits: readonly SplitHit[]
}

/** The sandbox serves what it is given; a client has limits of its own. */
const limits = { maxHitBytes: 512 * 1024 * 1024, maxDepth: 100_000 }

/**
 * Splits an export document into its hits, each byte for byte as it stands there.
 * `what` names the document in the error that says it is none.
 */
export function splitDocument(document: Uint8Array, what: string): SplitDocument {
  const hits: SplitHit[] = []
  try {
    const scanner = createExportScanner((hit) => {
      const bytes = Buffer.from(hit.bytes)
      JSON.parse(bytes.toString())
      hits.push({ bytes, members: locateMembers(bytes, hit.marks) })
    }, limits)
    scanner.feed(document)
    return { kibanaVersion: scanner.end().kibanaVersion, hits }
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause)
    throw new DashkeepError(`Cannot load ${what}: ${state.replace(/^Cannot [^:]*: /, '')}`, {
      kind: 'usage',
      hint: 'give the unchanged answer of an export: {"kibanaVersion":"…","hits":[…]}',
      cause,
    })
  }
}

/** The bytes of a document that was given whole or as hits. */
export function toDocument(given: ExportDocument | Hits, kibanaVersion: string): Uint8Array {
  if (typeof given === 'string') return Buffer.from(given)
  if (given instanceof Uint8Array) return given
  const hits = given.map((hit) => (typeof hit === 'string' ? hit : JSON.stringify(hit)))
  return Buffer.from(
    `{"kibanaVersion":${JSON.stringify(kibanaVersion)},"hits":[${hits.join(',')}]}`,
  )
}

/** The same hit under another `_index` and `_score`; every other byte stays. */
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

/** Finds the members of the hit itself; the marks also tell what lies one level below. */
function locateMembers(bytes: Buffer, marks: Int32Array): Map<string, ByteRange> {
  const members = new Map<string, ByteRange>()
  let depth = 0
  let name: string | undefined
  let start = 0
  for (const at of marks) {
    const mark = String.fromCharCode(bytes[at] as number)
    if (mark === '}' || mark === ']') depth -= 1
    if (name !== undefined && ((depth === 1 && mark === ',') || depth === 0)) {
      members.set(name, trimmed(bytes, start, at))
      name = undefined
    }
    if (depth === 1 && mark === ':') name = JSON.parse(bytes.toString('utf8', start, at)) as string
    if (mark === '{' || mark === '[') depth += 1
    if (depth === 1 && mark !== '}' && mark !== ']') start = at + 1
  }
  return members
}

function trimmed(bytes: Buffer, from: number, to: number): ByteRange {
  let [start, end] = [from, to]
  while (isSpace(bytes[start])) start += 1
  while (isSpace(bytes[end - 1])) end -= 1
  return { start, end }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
