import { StoreError } from './errors.ts'

/** An object is larger than its reader allows. */
export class ObjectTooLargeError extends StoreError {}

/** A stored object in a list. */
export interface StoredObject {
  /** Path below the store's root, with `/` between segments. */
  readonly key: string
  /** Size in bytes, as stored. */
  readonly size: number
  readonly modifiedAt: Date
}

/** Metadata of an object, if the store supports it. Any text; stored as ASCII. */
export type ObjectMetadata = Readonly<Record<string, string>>

/**
 * An object that is being written. It becomes visible under its key when `commit` resolves. Disposing an
 * uncommitted writer removes what was written. A killed process may leave a temporary file or parts of
 * an upload, which are not objects.
 */
export interface ObjectWriter extends AsyncDisposable {
  /**
   * Appends bytes, and waits when the store is slow. The caller may reuse the chunk when the promise
   * has resolved.
   */
  write(chunk: Uint8Array): Promise<void>
  /** Completes the object: it is durable and visible under its key. */
  commit(): Promise<void>
}

/** Options of a call that writes an object. */
interface WriteOptions extends StoreCallOptions {
  /**
   * Start of the object's lock, if a lock is configured. The bytes cannot be deleted until the lock
   * ends. Without it, the object is not locked.
   */
  readonly lockFrom?: Date | undefined
}

/** A finding of `examine`, for messages. */
export interface StoreFinding {
  readonly subject: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly hint?: string | undefined
  /** The command that the problem prevents, although backups work. */
  readonly hinders?: 'prune' | undefined
}

/** What a killed writer left. It is not an object, but uses space. */
export interface UnfinishedWrite {
  /** The key of the intended object, if the store knows it. */
  readonly key: string | undefined
  readonly startedAt: Date
  /** Removes it. Succeeds when it is gone. A writer that is still running then fails. */
  remove(options?: StoreCallOptions): Promise<void>
}

/** An empty folder. Lists of objects do not contain it. */
export interface EmptyFolder {
  /** The prefix of keys in it, without the slash. */
  readonly key: string
  /** When its last file was removed, or when the folder was created. */
  readonly changedAt: Date
  /** Removes it and parent folders that become empty. Succeeds when it is gone or in use again. */
  remove(options?: StoreCallOptions): Promise<void>
}

/** Options of every call that reaches the store. */
export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * A store of objects. Snapshots use storage only through this interface.
 *
 * Keys are relative paths of non-empty segments without `.` or `..`. Other keys throw before anything
 * changes. Failures are `StoreError`s. The store has already repeated transient failures.
 */
export interface ObjectStore {
  /** The address for messages. Contains no secret. */
  readonly url: string

  /**
   * Stores the bytes under the key. They are durable when the promise resolves. Replaces an existing
   * object in one step, and so does the commit of a writer. Callers must never write a key twice: no
   * store refuses that reliably.
   */
  put(
    key: string,
    body: Uint8Array,
    options?: WriteOptions & { metadata?: ObjectMetadata },
  ): Promise<void>

  /**
   * Begins an object of unknown size. Calls `metadata` as late as possible: before the first bytes are
   * sent, or at the commit of a small object.
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
   * Returns the bytes as they arrive, or `undefined` when the key does not exist. A chunk is valid only
   * until the next one is requested, because the store may reuse its buffer. An incomplete body throws;
   * the error is transient when a repeated read may succeed. Leaving the loop early closes the
   * connection.
   */
  open(key: string, options?: StoreCallOptions): Promise<AsyncIterable<Uint8Array> | undefined>

  /**
   * Lists the objects whose keys begin with `prefix`, ordered by the UTF-8 bytes of the keys. Starts
   * after the key `startAfter`. Leaves out files whose names are not keys.
   */
  list(
    prefix: string,
    options?: StoreCallOptions & { startAfter?: string | undefined },
  ): AsyncIterable<StoredObject>

  /**
   * Lists the first segments of the keys, each with its `/` and only once, ordered by UTF-8 bytes. Leaves
   * out keys without a `/`. Does not read the keys below a segment.
   */
  listPrefixes(options?: StoreCallOptions): AsyncIterable<string>

  /**
   * Deletes the key. Succeeds when it does not exist, so a retry is safe. A store with versions only
   * hides the object, even a locked one: call `lockedUntil` first.
   */
  remove(key: string, options?: StoreCallOptions): Promise<void>

  /**
   * Locks an existing object at least as long as an object that is written now. Never shortens a lock.
   * Returns false when the object is gone or its lock has a weaker mode. Stores without locks do not
   * have this method and the next two.
   */
  protect?(key: string, options: StoreCallOptions & { lockFrom: Date }): Promise<boolean>

  /** The end of the lock. In the past when the lock has ended. */
  lockedUntil?(key: string, options?: StoreCallOptions): Promise<Date | undefined>

  /** Checks the settings of the store: what could remove snapshots, and what protects them. */
  examine?(options?: StoreCallOptions): AsyncIterable<StoreFinding>

  /**
   * Lists the unfinished writes, including those in progress. Lists none when the store cannot list
   * them; `examine` then reports it.
   */
  listUnfinished(options?: StoreCallOptions): AsyncIterable<UnfinishedWrite>

  /** Lists the empty folders. Stores without folders do not have this method. */
  listEmptyFolders?(options?: StoreCallOptions): AsyncIterable<EmptyFolder>

  /** Closes all connections. The store must not be used afterwards. */
  close(): Promise<void>
}
