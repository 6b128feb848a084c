import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { dataFileName } from '../datafile/compression.ts'
import { createDataFile, type DataFileWriter } from '../datafile/data-file.ts'
import { DashkeepError } from '../errors.ts'
import { createExportScan, type ExportContent, type ExportScan } from '../export/scan-export.ts'
import { fileKey } from './archive.ts'
import type { ManifestExport } from './manifest.ts'
import { retryExport } from './retry-export.ts'
import { exportMetadata, runMetadata, type SnapshotRun } from './take-options.ts'

/**
 * Bytes received between two turns of the event loop. While a socket has data, Node reads it up to 32
 * times in one turn, and the compressing threads get no new block meanwhile. With one processor
 * nothing runs beside the reading, so there are no extra turns.
 */
const TURN_BYTES = availableParallelism() > 1 ? 256 * 1024 : Number.POSITIVE_INFINITY

/** An export that has been received completely and is not stored yet. */
export interface PendingExport {
  readonly entry: ManifestExport
  readonly content: ExportContent
  readonly writer: DataFileWriter
}

/**
 * Receives the export of each type in turn. When one fails, the others are still tried, so that the
 * error names every failure. Disposing drops the files that have not been stored by then.
 */
export async function receiveExports(
  run: SnapshotRun,
): Promise<{ exports: PendingExport[] } & AsyncDisposable> {
  const exports: PendingExport[] = []
  const failures: Error[] = []
  const dispose = async () => {
    for (const { writer } of exports) await writer[Symbol.asyncDispose]()
  }
  for (const type of run.types) {
    try {
      const receive = (body: AsyncIterable<Uint8Array>) => receiveExport(run, type, body)
      const onBrokenOff = (error: Error) => run.onProgress?.({ step: 'broken-off', type, error })
      const { exportAttempts: attempts = 3, retryBaseMs = 500, signal } = run
      const options = { attempts, retryBaseMs, onBrokenOff, signal }
      exports.push(await retryExport(run.source, type, receive, options))
    } catch (error) {
      failures.push(error as Error)
      if (run.signal?.aborted) break
    }
  }
  if (failures.length > 0) {
    await dispose()
    run.signal?.throwIfAborted()
    throw combine(run, failures)
  }
  return { exports, [Symbol.asyncDispose]: dispose }
}

function combine({ account, types }: SnapshotRun, failures: readonly Error[]): Error {
  const [first] = failures
  if (failures.length === 1 && first !== undefined) return first
  const explained = failures.filter((error) => error instanceof DashkeepError)
  const hints = explained.flatMap(({ hint }) => hint?.replace(/\.$/, '') ?? [])
  const kinds = new Set(failures.map((error) => (error as Partial<DashkeepError>).kind))
  return new DashkeepError(
    `Cannot back up account ${account.accountId}: ${failures.length} of ${types.length} exports failed: ${failures.map(({ message }) => message).join('; ')}`,
    {
      // The same kind for all, such as a store that refuses every write, is the kind of the whole.
      kind: (kinds.size === 1 && [...kinds][0]) || 'failed',
      hint: [...new Set(hints)].join('; '),
      cause: first,
    },
  )
}

async function receiveExport(
  run: SnapshotRun,
  type: string,
  body: AsyncIterable<Uint8Array>,
): Promise<PendingExport> {
  const { account, compression = 'zstd', sealer, signal } = run
  const scan = createExportScan(type, {
    limits: run.scanLimits,
    onMembers: (members) => run.source.checkMembers(type, members),
  })
  const metadata = () => ({ ...runMetadata(run), ...exportMetadata(type, scan.kibanaVersion()) })
  const name = dataFileName(type, compression, { encrypted: sealer !== undefined })
  const key = fileKey(account.accountId, run.snapshot, name)
  const options = { compression, sealer, metadata, lockFrom: run.takenAt, signal }
  const writer = await createDataFile(run.store, key, options)
  try {
    await transfer(run, type, body, { scan, writer })
    // In this order, so that the memory for compression is free when the index is sorted.
    const file = await writer.finish()
    const content = scan.end()
    const exportedAt = (run.now?.() ?? new Date()).toISOString()
    const { index, sizes, ...found } = content
    const { contentDigest } = index
    const idSample = index.sampleIds()
    const medianBytes = sizes.median()
    const entry = { type, exportedAt, ...found, medianBytes, contentDigest, idSample, file }
    run.onProgress?.({ step: 'exported', export: entry })
    // p-retry drops a result that comes after an abort; its writer would never be disposed of.
    signal?.throwIfAborted()
    return { entry, content, writer }
  } catch (error) {
    scan.discard()
    await writer[Symbol.asyncDispose]()
    throw error
  }
}

async function transfer(
  { onProgress }: SnapshotRun,
  type: string,
  body: AsyncIterable<Uint8Array>,
  { scan, writer }: { scan: ExportScan; writer: DataFileWriter },
): Promise<void> {
  let bytes = 0
  let sinceTurn = 0
  for await (const chunk of body) {
    await writer.write(chunk)
    scan.feed(chunk)
    bytes += chunk.length
    sinceTurn += chunk.length
    if (sinceTurn >= TURN_BYTES) {
      sinceTurn = 0
      await setImmediate()
    }
    onProgress?.({ step: 'receiving', type, bytes, objects: scan.objects() })
  }
}
