import { hash } from 'node:crypto'
import { lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { typeNamePattern } from '../archive/manifest.ts'
import { DashkeepError } from '../errors.ts'
import { readSmallFile } from '../local-files.ts'
import { toEditable } from '../objects/editable-object.ts'
import { nameFiles } from '../objects/file-names.ts'
import { splitId } from '../objects/object-id.ts'
import { tryParseJson } from '../parse-json.ts'
import type { ObjectEntry } from './catalogue.ts'
import type { Selection } from './choose.ts'
import { cannotWrite, refuseExisting, type WriteOptions, writeWhole } from './new-file.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'
import { makeTarget, type WrittenFiles } from './to-files.ts'
import { cannotUse, readList, removeWritten, type WrittenList, writeList } from './written-list.ts'

/** The file that marks a folder with a file for each object. */
export const indexName = 'dashkeep.json'

/** Largest index. It contains only the account and the version of each type. */
const MAX_INDEX_BYTES = 1024 ** 2

const indexSchema = z.object({
  formatVersion: z.literal(1),
  account: z.object({ id: z.int(), name: z.string() }).optional(),
  exports: z.record(z.string().regex(typeNamePattern), z.object({ kibanaVersion: z.string() })),
})

/** Content of `dashkeep.json`. */
export type FolderIndex = z.infer<typeof indexSchema>

/** Options for writing a folder with a file for each object. */
interface OpenedOptions extends WriteOptions {
  /** Called before the file of an object is written, with the SHA-256 of its content. */
  readonly onWrite?: ((name: string, sha256: string) => Promise<void>) | undefined
}

/**
 * Writes a file for each object, `<type>/<object id>.json`, indented and with nested JSON parsed, for
 * use with git. If the folder was written before and the whole source is written, removes the files of
 * objects that are gone, unless they were edited: `dashkeep.sha256` lists the written files. Changes no
 * other files, leaves equal files alone, and follows no symbolic links in the folder.
 */
export async function writeOpened(
  source: RestoreSource,
  selection: Selection,
  folder: string,
  options: OpenedOptions,
): Promise<WrittenFiles> {
  const known = await readIndex(folder)
  const list = await readList(folder)
  // An interrupted run may have left the list alone.
  const isKnown = known !== undefined || list.size > 0
  const types = source.exports.map(({ type }) => type)
  const folders = types.map((type) => join(folder, type))
  if (known === undefined) await refuseExisting(folders, options)
  for (const one of folders) await refuseLink(one)
  await makeTarget(folder)
  const kept: string[] = []
  for (const type of types) {
    const names = await writeType(source, selection, { ...options, folder, type, list })
    if (selection.whole && isKnown) {
      kept.push(...(await removeOthers({ folder, type, names, list })))
    }
  }
  const versions = source.exports.map(({ type, kibanaVersion }) => [type, { kibanaVersion }])
  const index = {
    formatVersion: 1,
    account: source.account,
    exports: { ...known?.exports, ...Object.fromEntries(versions) },
  }
  await writeList(folder, list)
  await writeWhole(join(folder, indexName), `${JSON.stringify(index, undefined, 2)}\n`)
  const objects = selection.objects.length
  return { path: folder, files: objects + 2, objects, leftOut: [], kept }
}

async function writeType(
  source: RestoreSource,
  { objects }: Selection,
  {
    folder,
    type,
    list,
    onWrite,
  }: OpenedOptions & { folder: string; type: string; list: WrittenList },
): Promise<Set<string>> {
  const nameOf = fileNamesOf(objects, type)
  if (nameOf.size > 0) await makeOwnFolder(join(folder, type))
  for await (const { entry, hit } of readChosen(source, type, [...nameOf.keys()])) {
    const name = `${type}/${nameOf.get(entry)}`
    const text = toEditable(hit)
    const sha256 = hash('sha256', text)
    await writeWhole(join(folder, name), text, () => onWrite?.(name, sha256))
    list.set(name, sha256)
  }
  return new Set(nameOf.values())
}

/** The objects of a type, each with the name of its file in the folder of the type. */
export function fileNamesOf(
  objects: readonly ObjectEntry[],
  type: string,
): Map<ObjectEntry, string> {
  const ofType = objects.filter(({ exportType }) => exportType === type)
  const names = nameFiles(ofType.map(({ id }) => splitId(id)?.objectId ?? id))
  return new Map(ofType.map((entry, number) => [entry, `${names[number]}.json`]))
}

/** Creates the folder of a type. Refuses a symbolic link, which could lead out of the folder. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder).catch(async (error) => {
    if (error.code !== 'EEXIST') throw cannotWrite(folder, error)
    await refuseLink(folder)
  })
}

async function refuseLink(path: string): Promise<void> {
  if (await isLink(path)) throw linkError(`Cannot write ${path}`)
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isSymbolicLink() ?? false
}

function linkError(action: string): DashkeepError {
  return new DashkeepError(`${action}: it is a symbolic link`, {
    kind: 'usage',
    hint: 'remove the link: it may lead out of the folder that you gave',
  })
}

/** Removes the files of objects that are gone. Returns the names of edited files, which stay. */
async function removeOthers({
  folder,
  type,
  names,
  list,
}: {
  folder: string
  type: string
  names: ReadonlySet<string>
  list: WrittenList
}): Promise<string[]> {
  const kept: string[] = []
  for (const file of await jsonFilesIn(join(folder, type))) {
    const name = `${type}/${file}`
    if (!names.has(file) && !(await removeWritten(folder, name, list))) kept.push(name)
  }
  for (const name of list.keys()) {
    const [ofType, file = ''] = name.split('/')
    if (ofType === type && !names.has(file) && !kept.includes(name)) list.delete(name)
  }
  return kept
}

/**
 * Names of the JSON files in a folder, sorted; none when the folder does not exist. Throws a `usage`
 * error for a symbolic link.
 */
export async function jsonFilesIn(folder: string): Promise<string[]> {
  if (await isLink(folder)) throw linkError(`Cannot restore from ${folder}`)
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
  const options = { maxBytes: MAX_INDEX_BYTES, noLinks: true }
  const text = await readSmallFile(path, options).catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw cannotUse(path, error)
  })
  if (text === undefined) return undefined
  const result = indexSchema.safeParse(tryParseJson(text))
  if (result.success) return result.data
  throw cannotUse(path, result.error)
}
