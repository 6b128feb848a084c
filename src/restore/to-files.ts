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

/** What a restore into files left there. */
export interface WrittenFiles {
  /** Where they are. */
  readonly path: string
  readonly files: number
  readonly objects: number
  /** Ids of chosen objects that this form has no place for. */
  readonly leftOut: readonly string[]
  /** Files in the place of objects that are gone, which dashkeep did not write like this. */
  readonly kept: readonly string[]
}

/**
 * Writes an export document for each type, `<type>.json`, as the service takes it back: its hits
 * are byte for byte what was received. Every file has its name only once all of them are proven.
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

/** Writes one NDJSON file as stock Kibana and OpenSearch Dashboards import it. */
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

/** Makes the folder that is written to. Throws a `DashkeepError` when that cannot be done. */
export async function makeTarget(folder: string): Promise<void> {
  await makeFolder(folder).catch((error) => {
    throw cannotWrite(folder, error, { whenAbsent: 'the folder cannot be created' })
  })
}
