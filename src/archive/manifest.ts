import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { decodeSealed, encodeSealed } from './sealed-json.ts'
import { snapshotNamePattern } from './snapshot-name.ts'

/** Version of the archive format that is written, and the newest that can be read. See FORMAT.md. */
export const formatVersion = 1

/** Largest manifest. A larger one is refused without reading it. */
export const maxManifestBytes = 1024 * 1024

const count = z.int().nonnegative()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const snapshotName = z.string().regex(snapshotNamePattern)
/** Types are parts of file names and requests, so they are plain lower-case words. */
export const typeNamePattern = /^[a-z][a-z0-9-]{0,63}$/
/** Names of data files. */
export const dataFilePattern = /^[a-z][a-z0-9-]*\.json(\.[a-z0-9]+)*$/
const fingerprint = z.object({ bytes: count, sha256 })
const isoTime = z.iso.datetime()
/** Sample of ids: for up to 128 ids, the first 40 bits of their SHA-256, together in Base64. */
const idSample = z.string().regex(/^([A-Za-z0-9+/]{4}){0,213}([A-Za-z0-9+/]{2,3}={1,2})?$/)

const exportSchema = z.object({
  type: z.string().regex(typeNamePattern),
  /** Version of the store the objects came from (specification, "Export result"). */
  kibanaVersion: z.string(),
  /** When the last byte of the export arrived. */
  exportedAt: isoTime,
  objects: count,
  /** SHA-256 that is equal if and only if no object changed. See FORMAT.md. */
  contentDigest: sha256,
  /** Harmless departures from the specification, counted by kind. */
  remarks: z.record(z.string(), count),
  /** Number of different ids, minus the hollow hits that have an id. Not in older manifests. */
  sound: count.optional(),
  /** Hits without an id or without content. Not in older manifests. */
  hollow: count.optional(),
  /** Median size in bytes of the hits that are not hollow. Not in older manifests. */
  medianBytes: count.optional(),
  /** Shows without a key which objects are gone. Not in older manifests. */
  idSample: idSample.optional(),
  file: z.object({
    name: z.string().regex(dataFilePattern),
    compression: z.enum(['zstd', 'gzip', 'none']),
    encryption: z
      .object({ format: z.literal('age'), recipients: z.array(z.string()).min(1).readonly() })
      .optional(),
    stored: fingerprint,
    content: fingerprint,
  }),
})

/** Each type and each file occurs once. Otherwise a small manifest could cause endless reading. */
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
    /** The account's name in the configuration. */
    configuredAs: z.string().optional(),
  }),
  /** Address of the service. */
  service: z.string(),
  exports: z.array(exportSchema).min(1).refine(haveOwnFiles),
  /** The snapshot whose folder has the files; absent when this snapshot has its own files. */
  sameAs: snapshotName.optional(),
  /** When the shared files were last read and compared with their SHA-256. */
  filesProvenAt: isoTime.optional(),
  /** Changes since the previous snapshot, by type; absent for a first snapshot. */
  changes: z.record(z.string(), changeCounts).optional(),
  /** Why this snapshot is suspect; absent for a good one. */
  suspect: z
    .object({
      reasons: z.array(z.string()).min(1),
      /** The last good snapshot. The next snapshot is compared with it too. */
      lastGood: snapshotName.optional(),
      /** Why there is no last good snapshot, although there were earlier ones. */
      doubt: z.string().optional(),
    })
    .optional(),
  /** Earlier numbers, by type, with which later snapshots are compared too. */
  memory: z.record(z.string().regex(typeNamePattern), typeMemory).optional(),
  /** The previous snapshot and the SHA-256 of its manifest: a chain that reveals changes. */
  previous: z.object({ snapshot: snapshotName, manifestSha256: sha256 }).optional(),
  dashkeepVersion: z.string(),
})

/** The manifest of a snapshot, format 1: its content and the digests that prove it. */
export type Manifest = z.infer<typeof manifestSchema>
/** One export within a manifest. */
export type ManifestExport = z.infer<typeof exportSchema>
/** The numbers by which later exports of a type are judged, with their time. */
export type Measure = z.infer<typeof measureSchema>
/** Earlier numbers of a type in a manifest. */
export type TypeMemory = z.infer<typeof typeMemory>
/** Objects added, removed and changed since the previous snapshot. */
export type ChangeCounts = z.infer<typeof changeCounts>

/** The snapshot whose folder holds the data files. */
export function holderOf({ sameAs, snapshot }: Pick<Manifest, 'sameAs' | 'snapshot'>): string {
  return sameAs ?? snapshot
}

/** Number of objects of all types. */
export function countObjects({ exports }: Pick<Manifest, 'exports'>): number {
  return exports.reduce((sum, { objects }) => sum + objects, 0)
}

/** Bytes of all exports as received. */
export function countContentBytes({ exports }: Pick<Manifest, 'exports'>): number {
  return exports.reduce((sum, { file }) => sum + file.content.bytes, 0)
}

/** Bytes of all data files as stored, also of shared ones. */
export function countFileBytes({
  exports,
}: {
  readonly exports: readonly Pick<ManifestExport, 'file'>[]
}): number {
  return exports.reduce((sum, { file }) => sum + file.stored.bytes, 0)
}

/** Bytes of the snapshot's own data files; 0 when it shares files. */
export function countStoredBytes(manifest: Manifest): number {
  return manifest.sameAs === undefined ? countFileBytes(manifest) : 0
}

/** A manifest is missing, damaged, in the wrong folder, or of a newer format. */
export class ManifestError extends DashkeepError {}

/**
 * Encodes a manifest. The bytes end with the SHA-256 of all bytes before that line. So the newest
 * manifest of an account can be proven too, although no later manifest records its digest.
 */
export function encodeManifest(manifest: Manifest): Uint8Array {
  return encodeSealed(manifest)
}

/**
 * Decodes a manifest. `label` names it in errors. Ignores unknown members. Throws a `ManifestError` for
 * a newer `formatVersion`, a wrong SHA-256, and anything that the format does not allow.
 */
export function decodeManifest(bytes: Uint8Array, label: string): Manifest {
  return decodeSealed(bytes, { label, formatVersion, schema: manifestSchema, refuse })
}

function refuse(message: string, { newer, cause }: { newer: boolean; cause?: Error | undefined }) {
  if (newer) return new ManifestError(message, { hint: 'use the newer dashkeep that wrote it' })
  return new ManifestError(message, {
    kind: 'unverified',
    hint: 'the manifest is damaged or was edited; `dashkeep verify` shows what else is affected',
    cause,
  })
}
