import type { CopyStatus } from '../run/copy-status.ts'
import { createKept, type Kept } from './kept.ts'

/** A configured copy of the archive. */
export interface CopyReader {
  readonly name: string
  readonly url: string
  /** Lists the archive and the copy, and says how far the copy is behind. */
  read(): Promise<CopyStatus>
}

/** A copy with what is known of it. */
export interface KnownCopy extends Pick<CopyReader, 'name' | 'url'> {
  readonly status: Kept<CopyStatus>
}

/** Each copy is read so often at most. */
const FRESH_MS = 10 * 60_000

/**
 * Reads the copies in the background, each by itself, so that neither a page nor another copy waits for
 * a slow one. The returned function says what is known, and begins to read what is too old.
 */
export function watchCopies(readers: readonly CopyReader[], now: () => Date): () => KnownCopy[] {
  const copies = readers.map(({ name, url, read }) => ({
    name,
    url,
    status: createKept(read, now),
  }))
  return () => {
    for (const { status } of copies) void status.refresh(FRESH_MS)
    return copies
  }
}
