import { getHeapStatistics } from 'node:v8'
import { DashkeepError } from '../errors.ts'

/** Part of the heap that what is held of objects may take; reading and answering take the rest. */
const MAX_SHARE = 0.5

/** What an entry of a few members takes besides its texts. */
const ENTRY_BYTES = 250

/** Counts what is held of each object, so that an error comes before Node ends the process. */
export interface HeapBudget {
  /** Counts an entry with these texts. Says whether there is room for it. */
  hold(...texts: readonly (string | undefined)[]): boolean
  /** Throws when there was no room for an entry. */
  check(): void
}

/** Begins to count. `action` completes "Cannot …"; the sizes are estimates. */
export function createHeapBudget(
  action: string,
  heapBytes = getHeapStatistics().heap_size_limit,
): HeapBudget {
  let bytes = 0
  let entries = 0
  const isRoom = () => bytes <= MAX_SHARE * heapBytes
  return {
    hold(...texts) {
      entries += 1
      bytes += ENTRY_BYTES
      for (const text of texts) bytes += text?.length ?? 0
      return isRoom()
    },
    check() {
      if (isRoom()) return
      const mib = Math.round(heapBytes / 1024 ** 2)
      throw new DashkeepError(
        `Cannot ${action}: ${entries} objects take more than half of the memory that Node may use (${mib} MiB)`,
        { hint: 'give it more, such as NODE_OPTIONS=--max-old-space-size=4096' },
      )
    },
  }
}
