/** Hashes three integers into 32 bits. The same integers always give the same bits. */
export function mix(seed: number, stream: number, index: number): number {
  let bits = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
  bits ^= bits >>> 15
  bits = Math.imul(bits ^ stream, 0xc2b2ae35)
  bits ^= bits >>> 13
  bits = Math.imul(bits ^ index, 0x27d4eb2f)
  bits ^= bits >>> 16
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/**
 * A permutation of `count` items, calculated without a list: returns the item at each index.
 * Consecutive `turn`s start with different items.
 */
export function permutation(count: number, seed: number, turn: number): (place: number) => number {
  const step = coprimeStep(count, mix(seed, turn, count))
  const start = count === 0 ? 0 : turn % count
  return (place) => (place * step + start) % count
}

function coprimeStep(count: number, bits: number): number {
  if (count < 3) return 1
  let step = 1 + (bits % (count - 1))
  while (commonDivisor(step, count) !== 1) step += 1
  return step
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}
