import {
  createExportScanner,
  defaultScanLimits,
  type ScanLimits,
} from '../export/export-scanner.ts'
import { nameHit } from '../export/hit-summary.ts'
import { type DrillIndex, type DrillResult, openDrillIndex } from './drill-index.ts'
import type { RestoreTarget } from './target.ts'

/** The objects of a drill. */
interface DrillSource {
  readonly types: readonly string[]
  /** Yields the objects of a type. They are proven only at the end of the iteration. */
  readObjects(type: string): AsyncIterable<DrillObject>
}

/** An object of an export. */
export interface DrillObject {
  /** `<type>:<object id>`; empty when the hit has no id. */
  readonly id: string
  readonly bytes: Uint8Array
}

/**
 * Largest request of a drill. Client and service are in one process, which has five copies of it.
 */
const MAX_IMPORT_BYTES = 4 * 1024 ** 2

/**
 * Restores a whole source into an empty account, exports it again and compares the SHA-256 of each
 * object. Memory does not grow with the source. Throws when the source cannot be read, when the service
 * refuses objects, and when there is no space for the temporary file of the index.
 */
export async function drillRestore(
  source: DrillSource,
  target: RestoreTarget,
  options: {
    /** The kibanaVersion with which objects are sent. */
    readonly kibanaVersion: string
    /** Largest object in bytes. The source has the same limit. */
    readonly maxHitBytes: number
    readonly signal: AbortSignal
  },
): Promise<DrillResult> {
  using index = openDrillIndex()
  const { kibanaVersion, maxHitBytes, signal } = options
  const limits = { ...unlimited, maxHitBytes }
  for (const type of source.types) {
    for await (const hits of makeBatches(source.readObjects(type), index)) {
      // Of several objects with the same id the last one counts, so it may overwrite the others.
      await target.importObjects({ kibanaVersion, override: true, hits }, { signal })
    }
  }
  for (const type of source.types) await receiveExport(target, type, { index, limits, signal })
  return index.result()
}

/** No limits for an export as a whole: its objects are those of the source, which was checked. */
const unlimited = {
  ...defaultScanLimits,
  maxExportBytes: Number.POSITIVE_INFINITY,
  maxObjects: Number.POSITIVE_INFINITY,
}

async function* makeBatches(
  objects: AsyncIterable<DrillObject>,
  index: DrillIndex,
): AsyncGenerator<Uint8Array[]> {
  let hits: Uint8Array[] = []
  let length = 0
  for await (const { id, bytes } of objects) {
    if (hits.length > 0 && length + bytes.length > MAX_IMPORT_BYTES) {
      yield hits
      hits = []
      length = 0
    }
    index.expect(id, bytes)
    hits.push(bytes)
    length += bytes.length
  }
  if (hits.length > 0) yield hits
}

async function receiveExport(
  target: RestoreTarget,
  type: string,
  { index, limits, signal }: { index: DrillIndex; limits: ScanLimits; signal: AbortSignal },
): Promise<void> {
  const body = await target.exportObjects(type, { signal })
  const scanner = createExportScanner((hit) => {
    index.receive(nameHit(hit, type).id, hit.bytes)
  }, limits)
  for await (const chunk of body) scanner.feed(chunk)
  target.checkMembers(type, scanner.end().members)
}
