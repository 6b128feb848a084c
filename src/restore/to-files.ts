import { join } from 'node:path'
import { makeFolder } from '../local-files.ts'
import { toNdjsonLine } from '../objects/ndjson.ts'
import { parseSavedObject } from '../objects/saved-object.ts'
import type { Selection } from './choose.ts'
import {
  cannotWrite,
  createNewFile,
  type NewFile,
  refuseExisting,
  type WriteOptions,
} from './new-file.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'

/** Result of a restore into files. */
export interface WrittenFiles {
  /** The folder or file. */
  readonly path: string
  readonly files: number
  readonly objects: number
  /** Ids of chosen objects that this format cannot contain. */
  readonly leftOut: readonly string[]
  /** Edited files of objects that are gone. They were not removed. */
  readonly kept: readonly string[]
}

/**
 * Writes an export document for each type, `<type>.json`, which the service can import. Its hits are byte
 * for byte as received. The files get their names only when all of them are proven.
 */
export async function writeDocuments(
  source: RestoreSource,
  selection: Selection,
  folder: string,
  options: WriteOptions,
): Promise<WrittenFiles> {
  const exports = source.exports.filter(({ type }) => {
    return selection.whole || selection.objects.some(({ exportType }) => exportType === type)
  })
  await makeTarget(folder)
  const pathOf = (type: string) => join(folder, `${type}.json`)
  await refuseExisting(
    exports.map(({ type }) => pathOf(type)),
    options,
  )
  await using unfinished = new AsyncDisposableStack()
  const files: NewFile[] = []
  for (const { type, kibanaVersion } of exports) {
    const file = unfinished.use(await createNewFile(pathOf(type)))
    files.push(file)
    let separator = `{"kibanaVersion":${JSON.stringify(kibanaVersion)},"hits":[`
    for await (const { hit } of readChosen(source, type, selection.objects)) {
      await file.write(separator)
      await file.write(hit)
      separator = ','
    }
    await file.write(separator === ',' ? ']}' : `${separator}]}`)
  }
  for (const file of files) await file.commit()
  return {
    path: folder,
    files: files.length,
    objects: selection.objects.length,
    leftOut: [],
    kept: [],
  }
}

/** Writes one NDJSON file for the import of stock Kibana and OpenSearch Dashboards. */
export async function writeNdjson(
  source: RestoreSource,
  selection: Selection,
  path: string,
  options: WriteOptions,
): Promise<WrittenFiles> {
  await refuseExisting([path], options)
  const leftOut: string[] = []
  let objects = 0
  await using file = await createNewFile(path)
  for (const { type } of source.exports) {
    for await (const { hit, entry } of readChosen(source, type, selection.objects)) {
      const line = toNdjsonLine(parseSavedObject(hit, type))
      if (line === undefined) leftOut.push(entry.id)
      else {
        await file.write(`${line}\n`)
        objects += 1
      }
    }
  }
  await file.commit()
  return { path, files: 1, objects, leftOut, kept: [] }
}

/** Creates the target folder. Throws a `DashkeepError` when this fails. */
export async function makeTarget(folder: string): Promise<void> {
  await makeFolder(folder).catch((error) => {
    throw cannotWrite(folder, error, { whenAbsent: 'the folder cannot be created' })
  })
}
