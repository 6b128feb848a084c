import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { typeNamePattern } from '../archive/manifest.ts'
import { DashkeepError } from '../errors.ts'
import type { ExportEnvelope, ExportMembers } from '../export/envelope.ts'
import { createExportScanner, type ScanLimits } from '../export/export-scanner.ts'
import { describeFileError, readSmallFile } from '../local-files.ts'
import { fromEditable } from '../objects/editable-object.ts'
import { parseSavedObject } from '../objects/saved-object.ts'
import { findReportedError } from '../reported-error.ts'
import { countHits } from './count-hits.ts'
import { type FolderIndex, indexName, jsonFilesIn, readIndex } from './opened-folder.ts'
import { isImportable, type RestoreSource, type SourceExport } from './source.ts'

/** Options for reading a folder. */
interface FolderOptions {
  readonly limits: ScanLimits
  readonly signal: AbortSignal
}

/**
 * A folder as a source: with a file for each object (`--pretty`), or with export documents
 * `<type>.json` (`--to`). Throws a `usage` error for any other folder and for an invalid document.
 */
export async function folderSource(folder: string, options: FolderOptions): Promise<RestoreSource> {
  const index = await readIndex(folder)
  return index === undefined
    ? documentsSource(folder, options)
    : openedSource(folder, index, options)
}

async function openedSource(
  folder: string,
  index: FolderIndex,
  { limits, signal }: FolderOptions,
): Promise<RestoreSource> {
  const exports: SourceExport[] = []
  for (const [type, { kibanaVersion }] of Object.entries(index.exports)) {
    const { length } = await jsonFilesIn(join(folder, type))
    exports.push({ type, kibanaVersion, objects: length })
  }
  return {
    label: `folder ${folder}`,
    account: index.account,
    exports,
    async *readHits(type) {
      for (const name of await jsonFilesIn(join(folder, type))) {
        signal.throwIfAborted()
        const path = join(folder, type, name)
        yield await readOpened(path, type, limits)
      }
    },
  }
}

/**
 * How many times larger than its hit a file may be. A short number on a deeply indented line takes ten
 * times its bytes.
 */
const OPENED_TIMES = 16

async function readOpened(
  path: string,
  type: string,
  { maxHitBytes }: ScanLimits,
): Promise<Uint8Array> {
  try {
    const text = await readSmallFile(path, { maxBytes: OPENED_TIMES * maxHitBytes, noLinks: true })
    const hit = fromEditable(text)
    parseSavedObject(hit, type)
    return hit
  } catch (cause) {
    throw unusable(path, (cause as Error).message, cause)
  }
}

async function documentsSource(folder: string, options: FolderOptions): Promise<RestoreSource> {
  const types = (await typesIn(folder)).filter(isImportable)
  if (types.length === 0) {
    throw new DashkeepError(
      `Cannot restore from ${folder}: it holds neither ${indexName} nor export documents`,
      {
        kind: 'usage',
        hint: 'give a folder that `dashkeep restore --to` or `--pretty` has written',
      },
    )
  }
  const pathOf = (type: string) => join(folder, `${type}.json`)
  const read = (type: string) => readDocument(pathOf(type), options)
  const exports: SourceExport[] = []
  for (const type of types) {
    const { kibanaVersion, members } = await envelopeOf(read(type))
    refuseReportedError(pathOf(type), members)
    const objects = await countHits(chunksOf(pathOf(type), options))
    exports.push({ type, kibanaVersion, objects })
  }
  return { label: `folder ${folder}`, account: undefined, exports, readHits: read }
}

/** The types in an order in which every object is sent after the objects that it needs. */
async function typesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((cause) => {
    const state = cause.code === 'ENOENT' ? 'there is no such folder' : describeFileError(cause)
    throw new DashkeepError(`Cannot restore from ${folder}: ${state}`, { kind: 'usage', cause })
  })
  const types = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((type) => typeNamePattern.test(type))
  const first = ['search', 'visualization', 'dashboard'].filter((type) => types.includes(type))
  return [...new Set([...first, ...types.sort()])]
}

async function envelopeOf(
  hits: AsyncGenerator<Uint8Array, ExportEnvelope>,
): Promise<ExportEnvelope> {
  for (;;) {
    const next = await hits.next()
    if (next.done) return next.value
  }
}

/** Yields the hits of a document and returns what else is in it. */
async function* readDocument(
  path: string,
  options: FolderOptions,
): AsyncGenerator<Uint8Array, ExportEnvelope> {
  const hits: Uint8Array[] = []
  const scanner = createExportScanner(({ bytes }) => {
    const hit = Uint8Array.from(bytes)
    parseSavedObject(hit, '')
    hits.push(hit)
  }, options.limits)
  try {
    for await (const chunk of chunksOf(path, options)) {
      scanner.feed(chunk)
      yield* hits.splice(0)
    }
    const envelope = scanner.end()
    // `end` may report the last hits.
    yield* hits
    return envelope
  } catch (cause) {
    options.signal.throwIfAborted()
    throw unusable(path, (cause as Error).message.replace(/^Cannot [^:]*: /, ''), cause)
  }
}

/** Refuses a document with an error beside its hits, because it may lack objects. */
function refuseReportedError(path: string, members: ExportMembers): void {
  const reported = findReportedError(members)
  if (reported === undefined) return
  const said = reported.text.slice(0, 300)
  throw new DashkeepError(`Cannot restore from ${path}: it reports an error (${said})`, {
    kind: 'usage',
    hint: 'objects may be missing; if you know that all are in the file, remove these members from it',
  })
}

async function* chunksOf(path: string, { signal }: FolderOptions): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { signal })
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  }
}

function unusable(path: string, state: string, cause: unknown): DashkeepError {
  return new DashkeepError(`Cannot restore from ${path}: ${state}`, {
    kind: 'usage',
    hint: 'the file was damaged or edited after dashkeep wrote it',
    cause,
  })
}
