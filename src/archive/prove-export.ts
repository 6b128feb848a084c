import { canOpen, type DataFile, proveDataFile } from '../datafile/data-file.ts'
import { cannotOpen, OpenError, type Opener } from '../datafile/encryption.ts'
import { defaultScanLimits, type RawHit, type ScanLimits } from '../export/export-scanner.ts'
import type { HitSummary } from '../export/hit-summary.ts'
import { createExportScan, type ExportContent } from '../export/scan-export.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** What reading a stored export found: one of these. */
export interface ProvenExport {
  readonly content?: ExportContent | undefined
  /** What is wrong with the file. */
  readonly defect?: string | undefined
  /** The stored bytes are as described, and no key at hand opens them. */
  readonly unopened?: OpenError | undefined
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
    onObject?: (object: HitSummary, hit: RawHit) => void
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
