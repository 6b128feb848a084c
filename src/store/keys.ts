import { compareValues } from '../order.ts'
import { StoreError } from './errors.ts'

/** Maximum length of a key in UTF-8 bytes, as in S3. */
const maxKeyBytes = 1024

/** Throws when the key is not a relative path that every store can store and list. */
export function checkKey(key: string): void {
  const problem = findProblem(key)
  if (problem === undefined) return
  throw new StoreError(`Cannot use ${JSON.stringify(key)} as a key: ${problem}`, {
    kind: 'usage',
    hint: 'use a relative path such as 12345/20261120T163100Z-4f2a1c/manifest.json',
  })
}

/** Whether a store may hold an object under this key. */
export function isKey(key: string): boolean {
  return findProblem(key) === undefined
}

/** Orders keys by their UTF-8 bytes, as S3 does. JavaScript's own order differs above U+FFFF. */
export function compareKeys(left: string, right: string): number {
  // Without surrogates both orders are the same, and this one is five times as fast.
  const isSimple = !/[\ud800-\uffff]/.test(left) && !/[\ud800-\uffff]/.test(right)
  if (isSimple) return compareValues(left, right)
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function findProblem(key: string): string | undefined {
  if (key === '') return 'it is empty'
  if (!key.isWellFormed()) return 'it is not valid Unicode'
  if (/[\p{Cc}\\]/u.test(key)) return 'it contains a backslash or a control character'
  if (Buffer.byteLength(key) > maxKeyBytes) return `it is longer than ${maxKeyBytes} bytes`
  for (const segment of key.split('/')) {
    if (segment === '') return 'it has an empty segment'
    if (segment === '.' || segment === '..') return `it has the segment ${segment}`
  }
  return undefined
}

/** What keys begin with, up to and including the first `/`: each once, in the order of bytes. */
export function prefixesOf(keys: Iterable<string>): string[] {
  const prefixes = [...keys].flatMap((key) => /^[^/]+\//.exec(key)?.[0] ?? [])
  return [...new Set(prefixes)].sort(compareKeys)
}
