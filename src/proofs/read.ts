import pMap, { pMapIterable } from 'p-map'
import { isFromFuture } from '../archive/future.ts'
import { proofFolder } from '../archive/side-folders.ts'
import { type ObjectStore, ObjectTooLargeError } from '../store/object-store.ts'
import {
  decodeProof,
  maxProofBytes,
  type Proof,
  ProofError,
  type ProofKey,
  type ProofSummary,
  parseProofKey,
  proofKinds,
  unusable,
} from './proof.ts'

/** Records of one account. */
export interface AccountProofs<One extends ProofSummary = Proof> {
  readonly accountId: number
  /** Oldest first. */
  readonly proofs: readonly One[]
  /** Records that are damaged, moved, of a newer format, or too many to read. They prove nothing. */
  readonly unreadable: readonly ProofError[]
}

/** Records that are read of one account at most; the newest ones. */
const MAX_READ = 2000
/**
 * Most records of one kind that `readNewestProofs` reads for one account: past ones, and future ones.
 * It finds a weekly proof of all snapshots, even with hourly proofs of some snapshots after it.
 */
const MAX_PAST = 500
const MAX_FUTURE = 5
/** Records of an account read at once, and accounts read at once. */
const READS_AT_ONCE = 16
const ACCOUNTS_AT_ONCE = 8

interface ReadOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads all records of an account, at most the newest 2,000. An error among the unreadable ones says
 * that there are more. Throws when the store cannot answer.
 * `judgeProofs` says which of them count.
 */
export async function readProofs(
  store: ObjectStore,
  accountId: number,
  options: ReadOptions = {},
): Promise<AccountProofs> {
  const keys = await Array.fromAsync(listProofs(store, { ...options, accountId }))
  const read = await pMap(keys.slice(-MAX_READ), (key) => tryRead(store, key, options), {
    concurrency: READS_AT_ONCE,
  })
  return collect(accountId, keys.length > MAX_READ ? [...read, tooMany(accountId, keys)] : read)
}

/** What `readNewestProofs` reads, and what it may leave out. */
interface NewestOptions extends ReadOptions {
  readonly now: Date
  readonly accountId?: number | undefined
  /** Leaves out all other accounts. */
  readonly only?: ReadonlySet<number> | undefined
  /**
   * The records that an earlier call needed, by key. They are not read again, because no record ever
   * changes. The call adds what it reads, and removes what it no longer needs.
   */
  readonly known?: Map<string, ProofSummary> | undefined
}

/**
 * Reads the records that decide about each account at the time `now`: of each kind, from the newest
 * one back to the newest that proves the whole account. This is one listing, and normally two records
 * for each account. An error among the unreadable ones says when 500 records of a kind do not reach so
 * far back, or more than 5 are from the future. Yields no account without records.
 */
export async function* readNewestProofs(
  store: ObjectStore,
  options: NewestOptions,
): AsyncGenerator<AccountProofs<ProofSummary>> {
  const { accountId, only, known } = options
  const keys = await Array.fromAsync(listProofs(store, options))
  const accounts = [...Map.groupBy(keys, ({ accountId }) => accountId)].filter(
    ([accountId]) => only?.has(accountId) !== false,
  )
  const needed = new Set<string>()
  const read = async ([accountId, own]: [number, ProofKey[]]) => {
    const walked = proofKinds.map((kind) => {
      const ofKind = own.filter((key) => key.kind === kind)
      return readBack(store, ofKind, { ...options, needed })
    })
    return collect(accountId, (await Promise.all(walked)).flat())
  }
  yield* pMapIterable(accounts, read, { concurrency: ACCOUNTS_AT_ONCE })
  for (const key of known?.keys() ?? [])
    if (key.startsWith(prefixOf(accountId)) && !needed.has(key)) known?.delete(key)
}

/** Lists the keys of records, sorted by account and time. Leaves out files with other names. */
export async function* listProofs(
  store: ObjectStore,
  { accountId, signal }: ReadOptions & { readonly accountId?: number | undefined } = {},
): AsyncGenerator<ProofKey> {
  for await (const { key } of store.list(prefixOf(accountId), { signal })) {
    const parsed = parseProofKey(key)
    if (parsed !== undefined) yield parsed
  }
}

function prefixOf(accountId: number | undefined): string {
  return accountId === undefined ? `${proofFolder}/` : `${proofFolder}/${accountId}/`
}

/** Whether a record proves its account: it is good, and not only of some snapshots. */
export function isWhole({ result, scope }: ProofSummary): boolean {
  return result === 'good' && scope !== 'some'
}

/** Reads records of one kind, newest first. Of records from the future, only their failures count. */
async function readBack(
  store: ObjectStore,
  keys: readonly ProofKey[],
  { known, needed, ...options }: NewestOptions & { readonly needed: Set<string> },
): Promise<(ProofSummary | ProofError)[]> {
  const isFuture = ({ startedAt }: { startedAt: Date }) =>
    isFromFuture({ takenAt: startedAt }, options.now)
  const future = keys.filter(isFuture)
  const past = keys.filter((key) => !isFuture(key))
  const found: (ProofSummary | ProofError)[] = findUnread(future)
  for (const key of [...future.slice(0, MAX_FUTURE), ...past.slice(-MAX_PAST).toReversed()]) {
    const read = known?.get(key.key) ?? summarize(await tryRead(store, key, options))
    if (read === undefined) continue
    found.push(read)
    if (read instanceof ProofError) continue
    needed.add(key.key)
    known?.set(key.key, read)
    if (isWhole(read) && !isFuture(read)) return found
  }
  const [oldest] = past
  return oldest && past.length > MAX_PAST ? [...found, tooDeep(oldest)] : found
}

/** The error for records from the future that are not read. One of them may be of a failed check. */
function findUnread(future: readonly ProofKey[]): ProofError[] {
  const [first] = future
  if (first === undefined || future.length <= MAX_FUTURE) return []
  const { kind, accountId } = first
  const state = `${future.length} are from the future, and only ${MAX_FUTURE} of them are read`
  return [
    new ProofError(`Cannot read all ${kind} records of account ${accountId}: ${state}`, {
      hint: "if this machine's clock is right, remove them",
    }),
  ]
}

/** The error for older records of one kind that are not read. One of them may be of a failed check. */
function tooDeep({ kind, accountId }: ProofKey): ProofError {
  const state = `none of the newest ${MAX_PAST} is a proof of the whole account`
  const verb = { verify: 'verify --record', drill: 'restore --drill --record' }[kind]
  return new ProofError(`Cannot read all ${kind} records of account ${accountId}: ${state}`, {
    hint: `run \`dashkeep ${verb}\``,
  })
}

function tooMany(accountId: number, { length }: readonly ProofKey[]): ProofError {
  const state = `it has ${length}, and only the newest ${MAX_READ} are read`
  return new ProofError(`Cannot read all records of account ${accountId}: ${state}`, {
    hint: `remove old files in ${prefixOf(accountId)}`,
  })
}

function summarize(read: Proof | ProofError | undefined): ProofSummary | ProofError | undefined {
  if (read === undefined || read instanceof ProofError) return read
  const { snapshots: _, ...summary } = read
  return summary
}

/** Returns undefined for a record that was removed since the listing. */
async function tryRead(
  store: ObjectStore,
  expected: ProofKey,
  { signal }: ReadOptions,
): Promise<Proof | ProofError | undefined> {
  const { key } = expected
  try {
    const bytes = await store.get(key, { maxBytes: maxProofBytes, signal })
    return bytes && decodeProof(bytes, expected)
  } catch (error) {
    if (error instanceof ProofError) return error
    if (error instanceof ObjectTooLargeError) {
      return unusable(key, `it is larger than ${maxProofBytes} bytes`, error)
    }
    throw error
  }
}

function collect<One extends ProofSummary>(
  accountId: number,
  read: readonly (One | ProofError | undefined)[],
): AccountProofs<One> {
  const proofs = read.filter((one) => one !== undefined && !(one instanceof ProofError))
  const unreadable = read.filter((one) => one instanceof ProofError)
  const byTime = (a: One, b: One) => a.startedAt.getTime() - b.startedAt.getTime()
  return { accountId, proofs: proofs.toSorted(byTime), unreadable }
}
