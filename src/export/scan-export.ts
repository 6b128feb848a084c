import { createObjectIndex, type SortedIndex } from './content-digest.ts'
import type { ExportMembers } from './envelope.ts'
import { createExportScanner, type RawHit, type ScanLimits } from './export-scanner.ts'
import {
  type HitName,
  isHollow,
  nameHit,
  type RemarkKind,
  type Remarks,
  summarizeHit,
} from './hit-summary.ts'
import { createSizes, type Sizes } from './sizes.ts'

/** Result of reading an export document. */
export interface ExportContent {
  readonly kibanaVersion: string
  /** Number of hits. */
  readonly objects: number
  /** Hits without an id or without content. */
  readonly hollow: number
  /** Number of different ids, minus the hollow hits that have an id. */
  readonly sound: number
  readonly remarks: Remarks
  readonly index: SortedIndex
  /** Sizes of the hits that are not hollow. */
  readonly sizes: Sizes
}

/** Reads an export document that arrives in chunks. */
export interface Scan<Content> {
  /** Takes the next bytes. Throws when they cannot belong to an export document. */
  feed(chunk: Uint8Array): void
  /** Throws when the document is not complete. */
  end(): Content
}

/** A scan that finds what a manifest records of an export. */
export interface ExportScan extends Scan<ExportContent> {
  /** The `kibanaVersion`, once it is known. */
  kibanaVersion(): string | undefined
  /** Number of objects so far. */
  objects(): number
  /** Frees the memory of a scan that has failed. */
  discard(): void
}

/** Receives an object and its hit, whose bytes are valid until the function returns. */
export type OnObject = (object: HitName, hit: RawHit) => void

/** Creates a scan that only passes the objects of an export of one type to `onObject`. */
export function createObjectScan(
  type: string,
  { limits, onObject }: { limits?: ScanLimits | undefined; onObject: OnObject },
): Scan<Pick<ExportContent, 'objects'>> {
  let objects = 0
  const scanner = createExportScanner((hit) => {
    objects += 1
    onObject(nameHit(hit, type), hit)
  }, limits)
  return {
    feed: scanner.feed,
    end() {
      scanner.end()
      return { objects }
    },
  }
}

/**
 * Creates a scan of an export of one type. `onObject` gets each object with its hit, `onMembers` the
 * other members of the document. Their errors end the scan.
 */
export function createExportScan(
  type: string,
  options: {
    limits?: ScanLimits | undefined
    onObject?: OnObject
    onMembers?: (members: ExportMembers) => void
  } = {},
): ExportScan {
  const index = createObjectIndex()
  const sizes = createSizes()
  const remarks: Remarks = {}
  let objects = 0
  let hollow = 0
  let withoutId = 0
  const scanner = createExportScanner((hit) => {
    const object = summarizeHit(hit, type)
    for (const kind of object.remarks) count(remarks, kind, 1)
    index.add(object.id, hit)
    objects += 1
    if (isHollow(object)) hollow += 1
    else sizes.add(hit.bytes.length)
    if (object.id === '') withoutId += 1
    options.onObject?.(object, hit)
  }, options.limits)

  function end(): ExportContent {
    const { kibanaVersion, members } = scanner.end()
    options.onMembers?.(members)
    const sorted = index.finish()
    if (sorted.duplicates > 0) count(remarks, 'duplicate-id', sorted.duplicates)
    const sound = Math.max(0, sorted.distinct - (hollow - withoutId))
    return { kibanaVersion, objects, hollow, sound, remarks, index: sorted, sizes }
  }

  return {
    feed: scanner.feed,
    end,
    kibanaVersion: scanner.kibanaVersion,
    objects: () => objects,
    discard: index.discard,
  }
}

function count(remarks: Remarks, kind: RemarkKind, number: number): void {
  remarks[kind] = (remarks[kind] ?? 0) + number
}
