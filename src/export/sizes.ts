/** Steps between a size and its double. Neighbouring steps differ by 9 %. */
const STEPS = 8

/** Sizes of the objects of an export, accurate to 9 %. Memory does not grow with their number. */
export interface Sizes {
  add(bytes: number): void
  /** The median size; undefined without objects. */
  median(): number | undefined
  /** Number of objects with at least about this many bytes. */
  countFrom(bytes: number): number
}

/** Creates an empty collection of sizes. */
export function createSizes(): Sizes {
  const counts: number[] = []
  let total = 0

  function countFrom(bytes: number): number {
    return counts.slice(stepOf(bytes)).reduce((sum, count = 0) => sum + count, 0)
  }

  function median(): number | undefined {
    if (total === 0) return undefined
    let above = 0
    let step = counts.length
    while (above * 2 < total) {
      step -= 1
      above += counts[step] ?? 0
    }
    return Math.ceil(2 ** (step / STEPS))
  }

  return {
    add(bytes) {
      const step = stepOf(bytes)
      counts[step] = (counts[step] ?? 0) + 1
      total += 1
    },
    median,
    countFrom,
  }
}

function stepOf(bytes: number): number {
  return Math.floor(Math.log2(Math.max(1, bytes)) * STEPS)
}
