import { chmod } from 'node:fs/promises'
import { type ArchivePlace, makeBucketPlace, makeFolderPlace } from '../e2e/archive-place.ts'
import { runAsRoot } from './image.ts'

/** Whether tests may start containers. */
export const containersWanted = process.env.DASHKEEP_TEST_CONTAINERS === '1'

/** How to include what needs containers. */
export const withContainers = 'with DASHKEEP_TEST_CONTAINERS=1 and Docker'

/** A place that a container can reach. */
export interface ContainerPlace extends ArchivePlace {
  /** The folder the container has to see, if the place is one. */
  readonly folder?: string | undefined
  /** Lets this process read what the container's user has written. The container cannot go on. */
  takeOver(): Promise<void>
}

/** On a disk: a container pays for files in memory with its own limit. */
async function makeSharedFolder() {
  const place = await makeFolderPlace('/var/tmp')
  await chmod(place.folder, 0o777)
  const owner = `${process.getuid?.()}:${process.getgid?.()}`
  const takeOver = async () => {
    await runAsRoot(place.folder, 'chown', '--recursive', owner, place.folder)
  }
  return {
    ...place,
    takeOver,
    async [Symbol.asyncDispose]() {
      await takeOver()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function makeReachableBucket(): Promise<ContainerPlace> {
  return { ...(await makeBucketPlace()), async takeOver() {} }
}

/** The kinds of place, each made anew by its function. */
export const places = [
  ['a folder', makeSharedFolder],
  ['a bucket of Ceph', makeReachableBucket],
] as const satisfies [string, () => Promise<ContainerPlace>][]
