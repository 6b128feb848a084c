import { canOpen, type DataFile, proveDataFile } from '../datafile/data-file.ts'
import { cannotOpen, OpenError, type Opener } from '../datafile/encryption.ts'
import { defaultScanLimits, type ScanLimits } from '../export/export-scanner.ts'
import type { Scan } from '../export/scan-export.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Result of reading a stored export: one of these members. */
interface ProvenExport<Content> {
  readonly content?: Content | undefined
  /** What is wrong with the file. */
  readonly defect?: string | undefined
  /** The stored bytes are sound, but no configured key opens the file. */
  readonly unopened?: OpenError | undefined
}

/**
 * Reads a stored export to its end. Compares its bytes with the manifest, and passes its content to
 * `scan`. The scan comes before the proof, so it also gets objects of a damaged file. `drain` is awaited
 * after each chunk and after the last object. Throws only when the store cannot answer.
 */
export async function proveExport<Content>(
  store: ObjectStore,
  key: string,
  { file, scan }: { file: DataFile; scan: Scan<Content> },
  options: {
    limits?: ScanLimits | undefined
    drain?: (() => Promise<void>) | undefined
    opener?: Opener | undefined
    signal?: AbortSignal | undefined
  } = {},
): Promise<ProvenExport<Content>> {
  let failure: string | undefined
  /** Runs a step of the scan. After a failure it runs none: the rest is read to compare its bytes. */
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return failure === undefined ? step() : undefined
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }
  const proving = proveDataFile(store, key, file, {
    signal: options.signal,
    opener: options.opener,
    maxContentBytes: (options.limits ?? defaultScanLimits).maxExportBytes,
    onContent(chunk) {
      attempt(() => scan.feed(chunk))
      return options.drain?.()
    },
  })
  const defect = await proving.catch((error) => {
    if (error instanceof OpenError) return error
    throw error
  })
  if (defect instanceof OpenError) return { unopened: defect }
  if (defect !== undefined) return { defect: `${key}: ${defect.detail}` }
  if (!canOpen(file, options.opener)) return { unopened: cannotOpen(key, options.opener) }
  const content = attempt(() => scan.end())
  await options.drain?.()
  return content === undefined ? { defect: `${key}: ${failure}` } : { content }
}

/** Returns what is wrong when an export holds another number of objects than its manifest says. */
export function findMiscount(
  content: { readonly objects: number },
  entry: { readonly objects: number },
): string | undefined {
  return content.objects === entry.objects
    ? undefined
    : `it holds ${content.objects} objects instead of ${entry.objects}`
}
