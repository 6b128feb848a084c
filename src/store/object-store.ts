import { StoreError } from './errors.ts'

/** An object is larger than its reader can take. */
export class ObjectTooLargeError extends StoreError {}

/** One stored object as a listing shows it. */
export interface StoredObject {
  /** Path below the store's root, `/` between segments. */
  readonly key: string
  /** Size in bytes, as stored. */
  readonly size: number
  readonly modifiedAt: Date
}

/** Facts that travel beside an object where the store can carry them; any text, kept as ASCII. */
export type ObjectMetadata = Readonly<Record<string, string>>

/**
 * An object being written. Nothing is visible under its key before `commit` resolves; disposing
 * an uncommitted writer leaves no trace (a killed process may leave a temporary file or parts of
 * an upload, which are not objects).
 */
export interface ObjectWriter extends AsyncDisposable {
  /**
   * Takes the bytes in order and waits where the store is slower than the source. The chunk may
   * be reused by the caller once the promise has resolved.
   */
  write(chunk: Uint8Array): Promise<void>
  /** Makes the object durable and visible under its key, complete. */
  commit(): Promise<void>
}

/** Options of a call that writes an object. */
export interface WriteOptions extends StoreCallOptions {
  /**
   * The moment that the object's lock begins, where the store is configured to lock. Until the lock
   * ends the bytes cannot be deleted. Without it dashkeep does not lock the object.
   */
  readonly lockFrom?: Date | undefined
}

/** One finding of `examine`, for people. */
export interface StoreFinding {
  readonly subject: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly hint?: string | undefined
  /** The command that cannot run, although backups can. */
  readonly hinders?: 'prune' | undefined
}

/** What a killed writer left behind. It is not an object, but it uses space. */
export interface UnfinishedWrite {
  /** The object it was to become, where the store knows. */
  readonly key: string | undefined
  readonly startedAt: Date
  /** Succeeds when it is already gone. A writer that is still writing fails from now on. */
  remove(options?: StoreCallOptions): Promise<void>
}

/** An empty folder. No listing of objects shows it. */
export interface EmptyFolder {
  /** What keys in it would begin with, without the slash. */
  readonly key: string
  /** When the last file left it, or when it was made. */
  readonly changedAt: Date
  /** Removes it and those above it that become empty. Succeeds when it is gone or in use again. */
  remove(options?: StoreCallOptions): Promise<void>
}

/** Options of every call that reaches the store. */
export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Where objects are kept. Snapshots use storage through this interface only.
 *
 * Keys are relative paths of non-empty segments without `.` or `..`; any other key is refused
 * before anything is touched. Failures are `StoreError`s; transient ones have been retried.
 */
export interface ObjectStore {
  /** The address to show to people; holds no secret. */
  readonly url: string

  /**
   * Stores the bytes under the key, durable once the promise resolves. What was there is replaced
   * in one step, here and at the commit of a writer. No store refuses that reliably, and a repeated
   * request must succeed, so a caller never writes a key twice.
   */
  put(
    key: string,
    body: Uint8Array,
    options?: WriteOptions & { metadata?: ObjectMetadata },
  ): Promise<void>

  /**
   * Begins an object of unknown size. `metadata` is asked for as late as possible: when the first
   * bytes leave for the store, or at the commit of a small object.
   */
  create(
    key: string,
    options?: WriteOptions & { metadata?: () => ObjectMetadata },
  ): Promise<ObjectWriter>

  /**
   * Returns the whole object, or `undefined` when the key does not exist. Throws an
   * `ObjectTooLargeError` above `maxBytes`, and when the store cannot answer.
   */
  get(
    key: string,
    options: StoreCallOptions & { maxBytes: number },
  ): Promise<Uint8Array | undefined>

  /**
   * Returns the bytes as they arrive, or `undefined` when the key does not exist. A chunk is valid
   * until the next one is requested: the store may read into the same buffer again. A body shorter
   * than announced throws, transient when a repeated read may succeed; leaving the loop early
   * frees the connection.
   */
  open(key: string, options?: StoreCallOptions): Promise<AsyncIterable<Uint8Array> | undefined>

  /**
   * Lists the objects whose key begins with `prefix`, in the order of their keys' UTF-8 bytes,
   * from the first key after `startAfter` on. Files whose names are not keys are left out.
   */
  list(
    prefix: string,
    options?: StoreCallOptions & { startAfter?: string | undefined },
  ): AsyncIterable<StoredObject>

  /**
   * Deletes the key. Succeeds when it is already gone, so a retry is safe. Where the store keeps
   * versions the key is only hidden, also that of a locked object: ask `lockedUntil` before.
   */
  remove(key: string, options?: StoreCallOptions): Promise<void>

  /**
   * Locks what is already there at least as long as an object written now would be, and never
   * shortens a lock. Returns false when that cannot be: the object is gone, or its lock is of a
   * weaker mode. Absent, like the two below, where the store knows nothing of the kind.
   */
  protect?(key: string, options: StoreCallOptions & { lockFrom: Date }): Promise<boolean>

  /** Until when the object is locked. In the past when the lock has ended. */
  lockedUntil?(key: string, options?: StoreCallOptions): Promise<Date | undefined>

  /** Checks how the store is set up: what could remove snapshots, and what protects them. */
  examine?(options?: StoreCallOptions): AsyncIterable<StoreFinding>

  /**
   * Lists the writes that have begun and not ended, also those still going on; none where the store
   * cannot list them, which `examine` says.
   */
  listUnfinished(options?: StoreCallOptions): AsyncIterable<UnfinishedWrite>

  /** Lists the folders that hold nothing. Absent where there are no folders, but keys alone. */
  listEmptyFolders?(options?: StoreCallOptions): AsyncIterable<EmptyFolder>

  /** Frees connections. The store is not used afterwards. */
  close(): Promise<void>
}
