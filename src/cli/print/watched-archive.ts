import type { SavedObjectSource } from '../../archive/source.ts'
import { type OpenedStore, openArchive } from '../../open.ts'
import type { Context } from '../context.ts'
import type { Terminal } from '../terminal.ts'
import type { Progress } from './progress.ts'

/** Opens the archive. The progress counts what is listed, read and removed. */
export async function openWatchedArchive(
  { env, watched, progress }: Terminal,
  { config, log }: Pick<Context, 'config' | 'log'>,
): Promise<OpenedStore> {
  const store = await openArchive(config, { env, log })
  return watched ? watchStore(store, progress) : store
}

/** Wraps a store so that the progress counts its actions. */
function watchStore(store: OpenedStore, progress: Progress): OpenedStore {
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

/** Wraps a service so that the progress counts the bytes of its exports. */
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

/** Passes bytes on and counts them. */
async function* countBytes(
  body: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    progress.addBytes(chunk.length)
    yield chunk
  }
}
