// Tested by test/e2e/copy.test.ts

import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where a store is. */
interface StoreAddress {
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string
  readonly endpoint?: string | undefined
}

/** How a store lies to another one: the same store, inside the other, or around it. */
type Overlap = 'same' | 'inside' | 'around'

/** Compares the addresses of two stores. Returns undefined when they are apart. Pure. */
export function findOverlap(one: StoreAddress, other: StoreAddress): Overlap | undefined {
  const [a, b] = [segmentsOf(one), segmentsOf(other)]
  const common = Math.min(a.length, b.length)
  if (a.slice(0, common).some((segment, index) => segment !== b[index])) return undefined
  if (a.length === b.length) return 'same'
  return a.length > b.length ? 'inside' : 'around'
}

/** What an overlap means for the first store, for messages. */
export function describeOverlap(overlap: Overlap): string {
  return { same: 'is also the address of', inside: 'is inside', around: 'contains' }[overlap]
}

/** The parts of an address, from the server down. A different first part is a different server. */
function segmentsOf({ url, endpoint = '' }: StoreAddress): string[] {
  const path =
    URL.canParse(url) && url.startsWith('file:') ? resolve(fileURLToPath(url)) : undefined
  const rest = path ?? url.replace(/^s3:\/\//, '')
  const server = path === undefined ? (URL.parse(endpoint)?.href ?? endpoint) : 'file:'
  return [server, ...rest.split('/').filter((segment) => segment !== '')]
}
