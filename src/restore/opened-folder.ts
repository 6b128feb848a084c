import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { nameFiles } from '../objects/file-names.ts'
import { splitId } from '../objects/object-id.ts'
import { openFile } from '../objects/opened-file.ts'
import { typeNamePattern } from '../snapshot/manifest.ts'
import type { ObjectEntry } from './catalogue.ts'
import type { Selection } from './choose.ts'
import { cannotWrite, fileMode, refuseExisting, type WriteOptions } from './new-file.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'
import { makeTarget, type WrittenFiles } from './to-files.ts'

/** The file whose presence makes a folder one of opened objects. */
export const indexName = 'dashkeep.json'

const indexSchema = z.object({
  formatVersion: z.literal(1),
  account: z.object({ id: z.int(), name: z.string() }).optional(),
  exports: z.record(z.string().regex(typeNamePattern), z.object({ kibanaVersion: z.string() })),
})

/** What `dashkeep.json` says of the objects beside it. */
export type FolderIndex = z.infer<typeof indexSchema>

/**
 * Writes a file for each object, `<type>/<object id>.json`, indented and with nested JSON opened:
 * fit for git. In a folder that was written so before, files of objects that are gone are removed
 * when the whole source is written; nothing else there is touched.
 */
export async function writeOpened(
  source: RestoreSource,
  selection: Selection,
  folder: string,
  options: WriteOptions,
): Promise<WrittenFiles> {
  const known = await readIndex(folder)
  const types = source.exports.map(({ type }) => type)
  if (known === undefined)
    await refuseExisting(
      types.map((type) => join(folder, type)),
      options,
    )
  await makeTarget(folder)
  for (const type of types) {
    const names = await writeType(source, selection, { folder, type })
    if (selection.whole && known !== undefined) await removeOthers(join(folder, type), names)
  }
  const versions = source.exports.map(({ type, kibanaVersion }) => [type, { kibanaVersion }])
  const index = {
    formatVersion: 1,
    account: source.account,
    exports: { ...known?.exports, ...Object.fromEntries(versions) },
  }
  await writeWhole(join(folder, indexName), `${JSON.stringify(index, undefined, 2)}\n`)
  const objects = selection.objects.length
  return { path: folder, files: objects + 1, objects, leftOut: [] }
}

async function writeType(
  source: RestoreSource,
  { objects }: Selection,
  { folder, type }: { folder: string; type: string },
): Promise<Set<string>> {
  const ofType = objects.filter(({ exportType }) => exportType === type)
  const names = nameFiles(ofType.map(({ id }) => splitId(id)?.objectId ?? id))
  const nameOf = new Map<ObjectEntry, string>(
    ofType.map((entry, number) => [entry, `${names[number]}.json`]),
  )
  if (ofType.length > 0) await makeTarget(join(folder, type))
  for await (const { entry, hit } of readChosen(source, type, ofType)) {
    await writeWhole(join(folder, type, nameOf.get(entry) as string), openFile(hit))
  }
  return new Set(nameOf.values())
}

async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.part`, text, { mode: fileMode })
    await rename(`${path}.part`, path)
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

async function removeOthers(folder: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of await jsonFilesIn(folder)) {
    if (!names.has(name)) await rm(join(folder, name))
  }
}

/** Names of the files in a folder that may be objects, sorted; none when it is not there. */
export async function jsonFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
  return files.map(({ name }) => name).sort()
}

/** Reads a folder's `dashkeep.json`; undefined when there is none. */
export async function readIndex(folder: string): Promise<FolderIndex | undefined> {
  const path = join(folder, indexName)
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const result = indexSchema.safeParse(parseJson(text))
  if (result.success) return result.data
  throw new DashkeepError(`Cannot use ${path}: it is not what dashkeep writes`, {
    kind: 'usage',
    hint: 'take back the change to it, or give another folder',
    cause: result.error,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
