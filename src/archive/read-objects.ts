import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { canOpen } from '../datafile/data-file.ts'
import { cannotOpen, type Opener } from '../datafile/encryption.ts'
import { DashkeepError } from '../errors.ts'
import type { SortedIndex } from '../export/content-digest.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import {
  createExportScan,
  createObjectScan,
  type ExportContent,
  type OnObject,
  type Scan,
} from '../export/scan-export.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey } from './archive.ts'
import type { Manifest, ManifestExport } from './manifest.ts'
import { findMiscount, proveExport } from './prove-export.ts'

/** Options for reading objects of the archive. */
export interface ReadOptions {
  readonly opener?: Opener | undefined
  readonly limits?: ScanLimits | undefined
  readonly signal?: AbortSignal | undefined
}

/** An object of the archive. Its bytes stay valid. */
export interface StoredHit {
  /** `<type>:<object id>`; empty when the hit has no id. */
  readonly id: string
  readonly title: string | undefined
  /** The hit as received, from `{` to `}`. */
  readonly bytes: Uint8Array
}

/** Returns the export of a type in a snapshot. Throws a `usage` error when it has none. */
export function exportOf(manifest: Manifest, type: string): ManifestExport {
  const found = manifest.exports.find((entry) => entry.type === type)
  if (found !== undefined) return found
  throw new DashkeepError(
    `Cannot read ${type} of snapshot ${manifest.snapshot}: it holds no such type`,
    { kind: 'usage', hint: `it holds ${manifest.exports.map((entry) => entry.type).join(', ')}` },
  )
}

/**
 * Reads an export of a snapshot to its end and passes each object to `onObject`. The objects are proven
 * only when this function returns. `drain` is awaited after each chunk and after the last object. Throws
 * an `unverified` error when the file or its number of objects differs from the manifest, and an
 * `OpenError` when no configured key opens the file.
 */
export async function scanObjects(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  options: ReadOptions & { onObject: OnObject; drain?: () => Promise<void> },
): Promise<void> {
  await readExport(store, manifest, createObjectScan(type, options), { ...options, type })
}

/** Reads an export as `scanObjects` does. Returns the index of its objects. */
export async function indexObjects(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  options: ReadOptions & { onObject: OnObject },
): Promise<SortedIndex> {
  const scan = createExportScan(type, options)
  return (await readExport(store, manifest, scan, { ...options, type })).index
}

async function readExport<Content extends Pick<ExportContent, 'objects'>>(
  store: ObjectStore,
  manifest: Manifest,
  scan: Scan<Content>,
  options: ReadOptions & { type: string; drain?: () => Promise<void> },
): Promise<Content> {
  const entry = exportOf(manifest, options.type)
  const { file } = entry
  const key = dataFileKey(manifest, file)
  if (!canOpen(file, options.opener)) throw cannotOpen(key, undefined)
  const { content, defect, unopened } = await proveExport(store, key, { file, scan }, options)
  options.signal?.throwIfAborted()
  if (unopened !== undefined) throw unopened
  if (content === undefined) throw damaged(defect)
  refuseMiscount(key, content, entry)
  return content
}

/**
 * Passes the export of a type to `onContent`, byte for byte as received, and waits for it. The bytes are
 * proven only when this function returns. Throws as `scanObjects` does.
 */
export async function copyExport(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  { onContent, ...options }: ReadOptions & { onContent: (chunk: Uint8Array) => Promise<void> },
): Promise<void> {
  const counting = createObjectScan(type, { ...options, onObject: () => {} })
  let passed = Promise.resolve()
  const scan = {
    feed(chunk: Uint8Array) {
      passed = onContent(chunk)
      counting.feed(chunk)
    },
    end: counting.end,
  }
  await readExport(store, manifest, scan, { ...options, type, drain: () => passed })
}

/**
 * Proves the file of an export. If no configured key opens the file, proves only its stored bytes.
 * Throws an `unverified` error when the file or its number of objects differs from the manifest.
 */
export async function proveFile(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  options: ReadOptions = {},
): Promise<void> {
  const scan = createObjectScan(type, { ...options, onObject: () => {} })
  const entry = exportOf(manifest, type)
  const { file } = entry
  const key = dataFileKey(manifest, file)
  const { content, defect } = await proveExport(store, key, { file, scan }, options)
  options.signal?.throwIfAborted()
  if (defect !== undefined) throw damaged(defect)
  if (content !== undefined) refuseMiscount(key, content, entry)
}

function refuseMiscount(
  key: string,
  content: Pick<ExportContent, 'objects'>,
  entry: ManifestExport,
): void {
  const miscount = findMiscount(content, entry)
  if (miscount !== undefined) throw damaged(`${key}: ${miscount}`)
}

function damaged(defect: string | undefined): DashkeepError {
  return new DashkeepError(`Cannot read the archive: ${defect}`, {
    kind: 'unverified',
    hint: '`dashkeep verify` shows what else is damaged; another snapshot may have the same objects',
  })
}

/**
 * Yields the objects of an export in the order received. Keeps only a few in memory. The file is proven
 * only at the end of the iteration, which then throws as `scanObjects` does.
 */
export async function* readObjects(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  options: ReadOptions = {},
): AsyncGenerator<StoredHit> {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])])
  // Holds the hits of one chunk only, because each hit may be as large as the limits allow.
  const pieces = new PassThrough({ objectMode: true, highWaterMark: 1 })
  const seen: StoredHit[] = []
  const reading = scanObjects(store, manifest, type, {
    ...options,
    signal,
    onObject: ({ id, title }, { bytes }) =>
      void seen.push({ id, title, bytes: Uint8Array.from(bytes) }),
    async drain() {
      if (seen.length === 0 || pieces.write(seen.splice(0))) return
      await once(pieces, 'drain', { signal })
    },
  })
  reading.then(
    () => pieces.end(),
    (error: Error) => pieces.destroy(error),
  )
  try {
    for await (const piece of pieces) yield* piece
  } finally {
    stop.abort()
    await reading.catch(() => {})
  }
}
