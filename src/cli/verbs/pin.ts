import type { SnapshotFolder } from '../../archive/archive.ts'
import { pinSnapshot, unpinSnapshot } from '../../archive/pins.ts'
import { openArchive } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { selectByOptions } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'

interface PinOptions extends CommonOptions {
  readonly snapshot: string
  readonly account?: string
  readonly note?: string
}

/** `dashkeep pin`: protects a snapshot from prune. */
export async function pin(terminal: Terminal, options: PinOptions): Promise<number> {
  return onSnapshot(terminal, options, 'pinned', async (store, { accountId, snapshot }) => {
    const entry = { accountId, snapshot, pinnedAt: terminal.now(), note: options.note }
    await pinSnapshot(store, entry, { signal: terminal.signal })
  })
}

/** `dashkeep unpin`: removes the pin, so that the retention rules apply again. */
export async function unpin(terminal: Terminal, options: PinOptions): Promise<number> {
  return onSnapshot(terminal, options, 'unpinned', (store, { accountId, snapshot }) =>
    unpinSnapshot(store, accountId, snapshot, { signal: terminal.signal }),
  )
}

async function onSnapshot(
  terminal: Terminal,
  options: PinOptions,
  done: 'pinned' | 'unpinned',
  act: (store: ObjectStore, folder: SnapshotFolder) => Promise<void>,
): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using store = await openArchive(context.config, { env: terminal.env, log: context.log })
  const folder = await selectByOptions(terminal, context, store, options)
  await act(store, folder)
  const { snapshot } = folder
  if (terminal.json) terminal.printJson({ accountId: folder.accountId, snapshot, result: done })
  else terminal.print(`${terminal.colors.green(done)} ${folder.accountId}/${snapshot}`)
  return exitCodes.done
}
