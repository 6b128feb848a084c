import { findNamed } from '../../archive/find.ts'
import { countFileBytes, type Manifest, type ManifestExport } from '../../archive/manifest.ts'
import { copyExport, exportOf, readObjects } from '../../archive/read-objects.ts'
import { exportsOf } from '../../archive/stored-export.ts'
import { escapeHidden } from '../../clean-text.ts'
import { parseLossless, stringifyLossless } from '../../objects/lossless-json.ts'
import { openNested } from '../../objects/open-nested.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import type { Progress } from '../print/progress.ts'
import { type ArchiveReader, openReader, readSelected } from '../select/archive-reader.ts'
import type { Terminal } from '../terminal.ts'

interface CatVerbOptions extends CommonOptions {
  readonly object: string
  readonly snapshot?: string
  readonly account?: string
  readonly open?: boolean
}

/** `dashkeep cat`: prints one object or the whole export of a type, as stored or with nested JSON expanded. */
export async function cat(terminal: Terminal, options: CatVerbOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const { store, read } = reader
  const manifest = await readSelected(reader, options.snapshot, terminal.now())
  const { writeRaw: write, progress } = terminal
  if (!manifest.exports.some(({ type }) => type === options.object)) {
    const hit = await findHit(reader, manifest, options.object, progress)
    await write(options.open ? openHit(hit, 0) : hit)
    await write('\n')
    return exitCodes.done
  }
  beginReading(progress, [exportOf(manifest, options.object)])
  if (options.open) {
    await writeOpened(reader, manifest, options.object, write)
  } else {
    await copyExport(store, manifest, options.object, { ...read, onContent: write })
  }
  return exitCodes.done
}

/** Starts to show how much of the stored files has been read. */
function beginReading(progress: Progress, exports: readonly ManifestExport[]): void {
  const totalBytes = countFileBytes({ exports })
  const total = exports.length
  progress.begin('reading', { unit: 'file', total, totalBytes, counting: 'read' })
}

async function findHit(
  { store, read }: ArchiveReader,
  manifest: Manifest,
  text: string,
  progress: Progress,
): Promise<Uint8Array> {
  beginReading(progress, manifest.exports)
  const { id, type } = await findNamed(exportsOf(store, manifest), text, read)
  beginReading(progress, [exportOf(manifest, type)])
  let bytes = new Uint8Array()
  for await (const hit of readObjects(store, manifest, type, read)) {
    if (hit.id === id) bytes = Uint8Array.from(hit.bytes)
  }
  return bytes
}

/** A hit with nested JSON expanded, indented by `depth` spaces. */
function openHit(bytes: Uint8Array, depth: number): string {
  const hit = openNested(parseLossless(Buffer.from(bytes).toString()))
  const text = escapeHidden(stringifyLossless(hit, 2))
  return text.replaceAll('\n', `\n${' '.repeat(depth)}`)
}

/** Writes the whole export with nested JSON expanded, object by object. */
async function writeOpened(
  { store, read }: ArchiveReader,
  manifest: Manifest,
  type: string,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const { kibanaVersion } = exportOf(manifest, type)
  let separator = '\n    '
  const version = escapeHidden(JSON.stringify(kibanaVersion))
  await write(`{\n  "kibanaVersion": ${version},\n  "hits": [`)
  for await (const { bytes } of readObjects(store, manifest, type, read)) {
    await write(separator + openHit(bytes, 4))
    separator = ',\n    '
  }
  await write('\n  ]\n}\n')
}
