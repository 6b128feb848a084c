import type { SavedObjectSource } from '../../archive/source.ts'
import { openArchive } from '../../open.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { Context } from '../context.ts'
import type { Terminal } from '../terminal.ts'
import type { Progress } from './progress.ts'

/** Opens the archive; on a watched terminal the progress counts what is listed, read and removed. */
export async function openWatchedArchive(
  { env, watched, progress }: Terminal,
  { config, log }: Pick<Context, 'config' | 'log'>,
): Promise<ObjectStore> {
  const store = await openArchive(config, { env, log })
  return watched ? watchStore(store, progress) : store
}

/** The same store, which tells the progress what it does. */
export function watchStore(store: ObjectStore, progress: Progress): ObjectStore {
  return {
    ...store,
    async get(key, options) {
      const bytes = await store.get(key, options)
      progress.saw('read')
      progress.addBytes(bytes?.length ?? 0)
      return bytes
    },
    async open(key, options) {
      const body = await store.open(key, options)
      progress.saw('read')
      return body && countBytes(body, progress)
    },
    async *list(prefix, options) {
      for await (const object of store.list(prefix, options)) {
        progress.saw('list')
        yield object
      }
    },
    async remove(key, options) {
      await store.remove(key, options)
      progress.saw('remove')
    },
  }
}

/** The same service for a restore, whose exports the progress counts. */
export function watchSource<Source extends Pick<SavedObjectSource, 'exportObjects'>>(
  source: Source,
  progress: Progress,
): Source {
  return {
    ...source,
    async exportObjects(type, options) {
      progress.note(type)
      return countBytes(await source.exportObjects(type, options), progress)
    },
  }
}

/** The same bytes, which the progress counts as they pass. */
async function* countBytes(
  body: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    progress.addBytes(chunk.length)
    yield chunk
  }
}
