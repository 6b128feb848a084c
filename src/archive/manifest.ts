import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { snapshotNamePattern } from './snapshot-name.ts'

/** The archive format this dashkeep writes, and the newest it reads. See FORMAT.md. */
export const formatVersion = 1

/** A manifest larger than this is refused unread. */
export const maxManifestBytes = 1024 * 1024

const count = z.int().nonnegative()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const snapshotName = z.string().regex(snapshotNamePattern)
/** Types name files and travel in requests: plain lower-case words. */
export const typeNamePattern = /^[a-z][a-z0-9-]{0,63}$/
const fingerprint = z.object({ bytes: count, sha256 })
const isoTime = z.iso.datetime()
/** Ids in short: up to 128 times the first 40 bits of their SHA-256. */
const idSample = z.string().regex(/^([A-Za-z0-9+/]{4}){0,213}([A-Za-z0-9+/]{2,3}={1,2})?$/)

const exportSchema = z.object({
  type: z.string().regex(typeNamePattern),
  /** Version of the store the objects came from (specification, "Export result"). */
  kibanaVersion: z.string(),
  /** When the last byte of the export had arrived. */
  exportedAt: isoTime,
  objects: count,
  /** SHA-256 that is equal exactly when no object changed; see FORMAT.md. */
  contentDigest: sha256,
  /** Harmless departures from the specification, counted by kind. */
  remarks: z.record(z.string(), count),
  /** Number of different ids, less the hollow hits that have one. Not in older manifests. */
  sound: count.optional(),
  /** Hits without an id or without content. Not in older manifests. */
  hollow: count.optional(),
  /** The size that half of the hits that are not hollow have at least. Not in older manifests. */
  medianBytes: count.optional(),
  /** What tells whether objects are still there, without a key. Not in older manifests. */
  idSample: idSample.optional(),
  file: z.object({
    name: z.string().regex(/^[a-z][a-z0-9-]*\.json(\.[a-z0-9]+)*$/),
    compression: z.enum(['zstd', 'gzip', 'none']),
    encryption: z
      .object({ format: z.literal('age'), recipients: z.array(z.string()).min(1).readonly() })
      .optional(),
    stored: fingerprint,
    content: fingerprint,
  }),
})

/** One entry a type and one file an entry: else a few bytes could ask for any amount of reading. */
function haveOwnFiles(exports: readonly z.infer<typeof exportSchema>[]): boolean {
  const names = new Set(exports.flatMap(({ type, file }) => [`type ${type}`, `file ${file.name}`]))
  return names.size === 2 * exports.length
}

const measureSchema = z.object({
  takenAt: isoTime,
  objects: count,
  sound: count,
  hollow: count,
  idSample: idSample.optional(),
})

const typeMemory = z.object({
  highs: z.array(z.object({ takenAt: isoTime, sound: count })).readonly(),
  last: measureSchema.optional(),
})

const changeCounts = z.object({ added: count, removed: count, changed: count })

const manifestSchema = z.object({
  formatVersion: z.literal(formatVersion),
  snapshot: snapshotName,
  takenAt: isoTime,
  account: z.object({
    id: z.int(),
    name: z.string(),
    /** What the configuration called it. */
    configuredAs: z.string().optional(),
  }),
  /** Address of the service. */
  service: z.string(),
  exports: z.array(exportSchema).min(1).refine(haveOwnFiles),
  /** The snapshot whose folder holds the files, when nothing changed since. */
  sameAs: snapshotName.optional(),
  /** When the stored bytes of the files of `sameAs` were last compared with their SHA-256. */
  filesProvenAt: isoTime.optional(),
  /** What changed against the previous snapshot, by type; absent for a first snapshot. */
  changes: z.record(z.string(), changeCounts).optional(),
  /** Why this snapshot should not be trusted before somebody has looked; absent for a good one. */
  suspect: z
    .object({
      reasons: z.array(z.string()).min(1),
      /** The last good snapshot, which the next one is measured against too. */
      lastGood: snapshotName.optional(),
      /** Why there is no last good snapshot, although there were earlier ones. */
      doubt: z.string().optional(),
    })
    .optional(),
  /** By type: what later snapshots are measured against besides this one. */
  memory: z.record(z.string().regex(typeNamePattern), typeMemory).optional(),
  /** The snapshot before this one and the SHA-256 of its manifest: a chain that shows tampering. */
  previous: z.object({ snapshot: snapshotName, manifestSha256: sha256 }).optional(),
  dashkeepVersion: z.string(),
})

/** A snapshot's manifest, format 1: what the snapshot holds and how to prove it. */
export type Manifest = z.infer<typeof manifestSchema>
/** One export within a manifest. */
export type ManifestExport = z.infer<typeof exportSchema>
/** The numbers by which the export of a type is judged, and when it was taken. */
export type Measure = z.infer<typeof measureSchema>
/** What a manifest carries forward about a type. */
export type TypeMemory = z.infer<typeof typeMemory>
/** Objects added, removed and changed since the previous snapshot. */
export type ChangeCounts = z.infer<typeof changeCounts>

/** Objects of all types together. */
export function countObjects({ exports }: Pick<Manifest, 'exports'>): number {
  return exports.reduce((sum, { objects }) => sum + objects, 0)
}

/** Bytes of the files that came with this snapshot, its manifest aside. */
export function countStoredBytes({ exports, sameAs }: Manifest): number {
  return sameAs === undefined ? exports.reduce((sum, { file }) => sum + file.stored.bytes, 0) : 0
}

/** A manifest is there and cannot be used: damaged, misplaced, or of a newer format. */
export class ManifestError extends DashkeepError {}

/**
 * The bytes of a manifest, as stored. They end with the SHA-256 of every byte before that line, and
 * so prove themselves: no later snapshot vouches for the newest manifest of an account.
 */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const before = Buffer.from(`${JSON.stringify(manifest, undefined, 2).slice(0, -2)},\n`)
  return Buffer.concat([before, sealOf(before)])
}

function sealOf(before: Uint8Array): Buffer {
  const digest = createHash('sha256').update(before).digest('hex')
  return Buffer.from(`  "sha256": "${digest}"\n}\n`)
}

const sealBytes = sealOf(new Uint8Array()).length

/**
 * Reads a manifest's bytes. `label` names it in errors. Unknown members are left out; a newer
 * `formatVersion`, bytes that do not have the SHA-256 they end with, and anything that does not
 * fit the format are errors.
 */
export function decodeManifest(bytes: Uint8Array, label: string): Manifest {
  const document = parseJson(bytes, label)
  const version = (document as { formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'number' && version > formatVersion) {
    throw new ManifestError(
      `Cannot read ${label}: it has format ${version}, this dashkeep reads up to ${formatVersion}`,
      { hint: 'use the newer dashkeep that wrote it' },
    )
  }
  const result = manifestSchema.safeParse(document)
  if (!result.success) {
    const issue = result.error.issues[0]
    const path = issue?.path.join('.') || 'the document'
    throw damaged(label, `${path} is not what format 1 asks for`, result.error)
  }
  const before = bytes.subarray(0, -sealBytes)
  if (!sealOf(before).equals(bytes.subarray(before.length))) {
    throw damaged(label, 'its bytes do not have the SHA-256 that it ends with')
  }
  return result.data
}

function damaged(label: string, state: string, cause?: Error): ManifestError {
  return new ManifestError(`Cannot read ${label}: ${state}`, {
    kind: 'unverified',
    hint: 'the manifest is damaged or was edited; `dashkeep verify` says what else is affected',
    cause,
  })
}

function parseJson(bytes: Uint8Array, label: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw damaged(label, 'it is not JSON', cause as Error)
  }
}
