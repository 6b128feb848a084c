import { getHeapStatistics } from 'node:v8'
import { DashkeepError } from '../errors.ts'

/** Share of the heap for entries of objects. Reading and output need the rest. */
const MAX_SHARE = 0.5

/** Memory of an entry in addition to its texts. */
const ENTRY_BYTES = 250

/** Counts the memory of entries, so that an error is thrown before Node runs out of memory. */
interface HeapBudget {
  /** Counts an entry with these texts. Returns whether there is room for it. */
  hold(...texts: readonly (string | undefined)[]): boolean
  /** Throws when there was no room for an entry. */
  check(): void
}

/** Creates a budget. `action` completes "Cannot …". The sizes are estimates. */
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
        {
          hint: 'give the container more memory, or set NODE_OPTIONS=--max-old-space-size=4096 (MiB)',
        },
      )
    },
  }
}
