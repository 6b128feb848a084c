import type { ObjectStore } from '../store/object-store.ts'
import { canOpen, type DataFile, proveDataFile } from './data-file.ts'
import type { Opener } from './encryption.ts'
import type { RawHit, ScanLimits } from './export-scanner.ts'
import type { SavedObject } from './saved-object.ts'
import { createExportScan, type ExportContent } from './scan-export.ts'

/**
 * What reading a stored export found: its content, or what is wrong with it. Neither means that
 * the file is encrypted, no key is at hand, and its stored bytes are as described.
 */
export interface ProvenExport {
  readonly content?: ExportContent | undefined
  readonly defect?: string | undefined
}

/**
 * Reads a stored export to its end: its bytes are proven against their description, and the
 * document in them is read object by object. `onObject` also sees objects of a file that turns
 * out to be damaged further on. `drain` is awaited after each chunk, and once more after the last
 * object, which may be found only at the end. Throws only when the store cannot answer.
 */
export async function proveExport(
  store: ObjectStore,
  key: string,
  { type, file }: { type: string; file: DataFile },
  options: {
    limits?: ScanLimits | undefined
    onObject?: (object: SavedObject, hit: RawHit) => void
    drain?: (() => Promise<void>) | undefined
    opener?: Opener | undefined
    signal?: AbortSignal | undefined
  } = {},
): Promise<ProvenExport> {
  const scan = createExportScan(type, options)
  let failure: string | undefined
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return failure === undefined ? step() : undefined
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }
  const defect = await proveDataFile(store, key, file, {
    signal: options.signal,
    opener: options.opener,
    onContent(chunk) {
      attempt(() => scan.feed(chunk))
      return options.drain?.()
    },
  })
  if (defect !== undefined) return { defect: `${key}: ${defect.detail}` }
  if (!canOpen(file, options.opener)) return {}
  const content = attempt(() => scan.end())
  await options.drain?.()
  return content === undefined ? { defect: `${key}: ${failure}` } : { content }
}
