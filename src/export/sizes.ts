/** Steps for each doubling of a size: neighbours differ by 9 %. */
const STEPS = 8

/** How large the objects of one export are, to within 9 %, in memory that does not grow with them. */
export interface Sizes {
  add(bytes: number): void
  /** The size that half of the objects have at least; undefined without objects. */
  median(): number | undefined
  /** How many objects have at least about so many bytes. */
  countFrom(bytes: number): number
}

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
