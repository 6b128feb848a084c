import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { readAccountId } from '../account-id.ts'
import { decodeSealed, encodeSealed } from '../archive/sealed-json.ts'
import { proofFolder } from '../archive/side-folders.ts'
import { snapshotNamePattern, timeOfPrefix, timePrefix } from '../archive/snapshot-name.ts'
import { DashkeepError } from '../errors.ts'

/** Version of the records that are written, and the newest that can be read. See FORMAT.md. */
const formatVersion = 1

/** Largest record. A larger one is refused without reading it. */
export const maxProofBytes = 1024 * 1024

/** Snapshots and problems that a record names. It counts all of them. */
const MAX_SNAPSHOTS = 10_000
const MAX_PROBLEMS = 20
/** Longest description of a problem, in UTF-16 units. */
const MAX_PROBLEM_LENGTH = 500

/** What was done: `verify` reads the stored files, a `drill` restores them into a sandbox. */
export type ProofKind = (typeof proofKinds)[number]

/** All kinds, in the order in which they are shown. */
export const proofKinds = ['verify', 'drill'] as const

const count = z.int().nonnegative()
const time = z.iso.datetime().transform((text) => new Date(text))

const proofSchema = z.object({
  formatVersion: z.literal(formatVersion),
  kind: z.enum(proofKinds),
  accountId: z.int(),
  /** When the check began, by the clock of its machine. What it proves is not younger. */
  startedAt: time,
  endedAt: time,
  /** `failed`: something stored is damaged, or objects differ after the restore. */
  result: z.enum(['good', 'failed']),
  /**
   * Which snapshots were checked: `all` of the account, `some` of them (`--since`, `--sample` or
   * names), or the `newest` good one, as a drill does.
   */
  scope: z.enum(['all', 'some', 'newest']),
  /** Number of checked snapshots. */
  snapshotCount: count,
  /** Their names, oldest first; only the newest 10,000. */
  snapshots: z.array(z.string().regex(snapshotNamePattern)).max(MAX_SNAPSHOTS).readonly(),
  /** Data files read. One that several snapshots share counts once. */
  files: count,
  /** Bytes read from the store. */
  bytes: count,
  /** Encrypted files of which only the stored bytes were compared, because no key opens them. */
  sealed: count,
  /** Objects in the files. */
  objects: count,
  /** Objects that are equal: to the manifest (`verify`), or after the restore (`drill`). */
  equal: count,
  /** Number of problems found. */
  defects: count,
  /** Descriptions of the first 20. */
  problems: z.array(z.string().max(MAX_PROBLEM_LENGTH)).max(MAX_PROBLEMS).readonly(),
  dashkeepVersion: z.string(),
})

type ProofDocument = z.infer<typeof proofSchema>

/** What a check of one account found, to be recorded. */
export type NewProof = Readonly<Omit<ProofDocument, 'formatVersion' | 'snapshotCount'>>

/** The record of a check of one account, as it is stored beside the archive. */
export type Proof = Readonly<Omit<ProofDocument, 'formatVersion'>> & {
  /** Where it is stored. */
  readonly key: string
}

/** A record without the names of its snapshots, of which there may be thousands. */
export type ProofSummary = Omit<Proof, 'snapshots'>

/** A record is damaged, was edited or moved, or is of a newer format. It proves nothing. */
export class ProofError extends DashkeepError {}

/** The key of a record, from a listing. */
export interface ProofKey {
  readonly key: string
  readonly accountId: number
  readonly kind: ProofKind
  /** When the check began, to the second. */
  readonly startedAt: Date
}

const namePattern = /^(\d{8}T\d{6}Z)-[0-9a-f]{8}-(verify|drill)\.json$/

/** Creates the key of a new record. Its random digits make it differ from all other keys. */
export function createProofKey({ accountId, kind, startedAt }: NewProof): string {
  const digits = randomBytes(4).toString('hex')
  return `${proofFolder}/${accountId}/${timePrefix(startedAt)}-${digits}-${kind}.json`
}

/** Reads a key; undefined when it is not the key of a record. */
export function parseProofKey(key: string): ProofKey | undefined {
  const [folder, account = '', name = '', ...rest] = key.split('/')
  const [, prefix = '', kind] = namePattern.exec(name) ?? []
  const accountId = readAccountId(account)
  const startedAt = timeOfPrefix(prefix)
  if (folder !== proofFolder || rest.length > 0) return undefined
  if (accountId === undefined || startedAt === undefined) return undefined
  return { key, accountId, kind: kind as ProofKind, startedAt }
}

/** Encodes a record. Shortens the lists and texts that have a limit. */
export function encodeProof(proof: NewProof): Uint8Array {
  const { kind, accountId, startedAt, endedAt, result, scope, snapshots, ...rest } = proof
  const { problems, dashkeepVersion, ...counts } = rest
  return encodeSealed({
    formatVersion,
    ...{ kind, accountId, startedAt, endedAt, result, scope },
    snapshotCount: snapshots.length,
    snapshots: snapshots.slice(-MAX_SNAPSHOTS),
    ...counts,
    problems: problems.slice(0, MAX_PROBLEMS).map((text) => text.slice(0, MAX_PROBLEM_LENGTH)),
    dashkeepVersion,
  })
}

/**
 * Decodes the record with this key. Ignores unknown members. Throws a `ProofError` for a newer
 * `formatVersion`, a wrong SHA-256, the record of another key, members that contradict each other, and
 * anything that the format does not allow.
 */
export function decodeProof(bytes: Uint8Array, expected: ProofKey): Proof {
  const { key } = expected
  const format = { label: key, formatVersion, schema: proofSchema, refuse }
  const { formatVersion: _, ...proof } = decodeSealed(bytes, format)
  const { accountId, kind, startedAt } = proof
  const isExpected =
    accountId === expected.accountId &&
    kind === expected.kind &&
    timePrefix(startedAt) === timePrefix(expected.startedAt)
  const wrong = findContradiction(proof)
  if (wrong !== undefined) throw unusable(key, `its ${wrong} contradicts its other members`)
  if (isExpected) return { ...proof, key }
  const state = `it is the record of a ${kind} of account ${accountId} at ${startedAt.toISOString()}`
  throw unusable(key, state)
}

/** Finds a member that contradicts others; undefined when all agree. */
function findContradiction(proof: Omit<Proof, 'key'>): keyof Proof | undefined {
  const { kind, result, scope, snapshotCount, snapshots, objects, equal, defects } = proof
  const isGood = result === 'good'
  if (isGood !== (defects === 0)) return 'result'
  if ((scope === 'newest') !== (kind === 'drill')) return 'scope'
  if (snapshotCount < snapshots.length || (isGood && snapshotCount === 0)) return 'snapshotCount'
  const isAnyDifferent = isGood && kind === 'drill' && equal < objects
  return equal > objects || isAnyDifferent ? 'equal' : undefined
}

/** The error for a record that does not count. */
export function unusable(key: string, state: string, cause?: Error): ProofError {
  return refuse(`Cannot read ${key}: ${state}`, { newer: false, cause })
}

function refuse(message: string, { newer, cause }: { newer: boolean; cause?: Error | undefined }) {
  if (newer) return new ProofError(message, { hint: 'use the newer dashkeep that wrote it' })
  return new ProofError(message, {
    kind: 'unverified',
    hint: 'it is not a proof; remove it, and record a new one with `dashkeep verify --record`',
    cause,
  })
}
