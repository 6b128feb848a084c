import { retryExport } from '../archive/retry-export.ts'
import type { SavedObjectSource } from '../archive/source.ts'
import { createExportScanner, type ScanLimits } from '../export/export-scanner.ts'
import { objectState } from '../objects/object-state.ts'
import { parseSavedObject, type SavedObject } from '../objects/saved-object.ts'
import type { StateOf } from './catalogue.ts'

/** The service, as far as a restore needs it. */
export interface RestoreTarget extends SavedObjectSource {
  /**
   * Imports objects (service-facts, "Import"). Temporary failures have been retried before. Returns the
   * service's answer. Only a fresh export shows the actual result.
   */
  importObjects(
    batch: { kibanaVersion: string; override: boolean; hits: readonly Uint8Array[] },
    options: { signal?: AbortSignal | undefined },
  ): Promise<ImportAnswer>
}

/** Ids or names of objects; the service chooses which. */
interface ImportAnswer {
  readonly created: readonly string[]
  readonly updated: readonly string[]
  readonly ignored: readonly string[]
  readonly failed: readonly string[]
}

/** The objects of an account at one time. */
export interface PresentState {
  /** The state of each object, by id. */
  readonly states: ReadonlyMap<string, string>
  /** By type. */
  readonly kibanaVersions: ReadonlyMap<string, string>
  /** The hits that were kept for a comparison, by id. */
  readonly hits: ReadonlyMap<string, Uint8Array>
}

/** Largest total size of the hits of one type that are kept for a comparison. */
const MAX_KEPT_BYTES = 16 * 1024 ** 2

/** Options for reading the service. */
export interface ReadTargetOptions {
  readonly types: readonly string[]
  readonly stateOf: StateOf
  /** States by id. Keeps the hits of objects in another state, up to 16 MiB per type. */
  readonly keepUnless?: ReadonlyMap<string, string> | undefined
  /** Called with each object; once more when an export is repeated. */
  readonly onObject?: ((object: SavedObject) => void) | undefined
  readonly limits: ScanLimits
  /** Number of attempts to export a type when its body breaks off. */
  readonly attempts: number
  readonly retryBaseMs: number
  readonly signal: AbortSignal
}

/** Ignores differences in how a service writes the same object. */
export const sameObject: StateOf = (object) => objectState(object)

/** Exports the types again and returns the state of each object. */
export async function readPresent(
  target: RestoreTarget,
  options: ReadTargetOptions,
): Promise<PresentState> {
  const states = new Map<string, string>()
  const kibanaVersions = new Map<string, string>()
  const hits = new Map<string, Uint8Array>()
  for (const type of options.types) {
    const found = await readType(target, type, options)
    kibanaVersions.set(type, found.kibanaVersion)
    for (const [id, state] of found.states) states.set(id, state)
    for (const [id, hit] of found.hits) hits.set(id, hit)
  }
  return { states, kibanaVersions, hits }
}

/** Exports one type and reads the state of each object. */
function readType(
  target: RestoreTarget,
  type: string,
  { stateOf, keepUnless, onObject, limits, attempts, retryBaseMs, signal }: ReadTargetOptions,
): Promise<{ states: Map<string, string>; kibanaVersion: string; hits: Map<string, Uint8Array> }> {
  const read = async (body: AsyncIterable<Uint8Array>) => {
    const states = new Map<string, string>()
    const hits = new Map<string, Uint8Array>()
    let keptBytes = 0
    const scanner = createExportScanner(({ bytes }) => {
      const object = parseSavedObject(bytes, type)
      onObject?.(object)
      const state = stateOf(object, bytes)
      states.set(object.id, state)
      const wanted = keepUnless?.get(object.id)
      if (wanted === undefined || wanted === state) return
      keptBytes += bytes.length
      if (keptBytes <= MAX_KEPT_BYTES) hits.set(object.id, Buffer.from(bytes))
    }, limits)
    for await (const chunk of body) scanner.feed(chunk)
    const { kibanaVersion, members } = scanner.end()
    target.checkMembers(type, members)
    return { states, kibanaVersion, hits }
  }
  return retryExport(target, type, read, { attempts, retryBaseMs, signal })
}
