import { countContentBytes, countObjects, type Manifest } from '../../archive/manifest.ts'
import { type ReadOptions, readObjects } from '../../archive/read-objects.ts'
import type { AccountConfig } from '../../config/config.ts'
import { DashkeepError } from '../../errors.ts'
import { connectAccount, scanLimitsOf } from '../../open.ts'
import { drillRestore } from '../../restore/drill.ts'
import type { DrillResult } from '../../restore/drill-index.ts'
import { snapshotSource } from '../../restore/source.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatBytes } from '../../wording.ts'
import type { Context } from '../context.ts'

/** The configuration and read options of a drill. */
export interface DrillOptions {
  readonly context: Context
  readonly reading: ReadOptions & { readonly signal: AbortSignal }
}

/**
 * Restores a snapshot into a sandbox of its own. The sandbox writes more than 8 MB of objects to a
 * temporary file. Throws an `unverified` error when the snapshot is damaged; any other error does not
 * mean damage.
 */
export async function drillAccount(
  store: ObjectStore,
  manifest: Manifest,
  { context, reading }: DrillOptions,
): Promise<DrillResult> {
  const source = snapshotSource(store, manifest, reading)
  const types = source.exports.map(({ type }) => type)
  const kibanaVersion = source.exports[0]?.kibanaVersion ?? ''
  refuseBeyondLimits(manifest, context)
  const broken = new AbortController()
  const signal = AbortSignal.any([reading.signal, broken.signal])
  try {
    await using sandbox = await startDrillSandbox(manifest, {
      types,
      kibanaVersion,
      onError: (error) => isSqliteError(error) && broken.abort(error),
    })
    await using target = await connectSandbox(sandbox, manifest, context)
    const read = (type: string) => readObjects(store, manifest, type, { ...reading, signal })
    return await drillRestore({ types, readObjects: read }, target, {
      kibanaVersion,
      maxHitBytes: scanLimitsOf(context.config).maxHitBytes,
      signal,
    })
  } catch (error) {
    reading.signal.throwIfAborted()
    // The client gets only status 500 or the abort, not the error of the database.
    const cause: unknown = broken.signal.aborted ? broken.signal.reason : error
    throw isSqliteError(cause) ? databaseError(manifest, cause) : cause
  }
}

/** Refuses a snapshot that exceeds the present limits: it is not damaged. */
function refuseBeyondLimits({ account, exports }: Manifest, { config }: Context): void {
  const { maxObjects, maxExportBytes } = scanLimitsOf(config)
  for (const { type, objects, file } of exports) {
    const { bytes } = file.content
    if (objects > maxObjects) {
      const limit = `limits.maxObjects allows (${maxObjects})`
      throw beyondLimit(account.id, `${type} holds ${objects} objects, more than ${limit}`)
    }
    if (bytes > maxExportBytes) {
      const limit = `limits.maxExportBytes allows (${maxExportBytes})`
      throw beyondLimit(account.id, `${type} expands to ${bytes} bytes, more than ${limit}`)
    }
  }
}

function beyondLimit(accountId: number, state: string): DashkeepError {
  return new DashkeepError(`Cannot drill account ${accountId}: ${state}`, {
    kind: 'usage',
    hint: 'raise the limit to the value that the backup used; each object takes 32 bytes of memory',
  })
}

async function startDrillSandbox(
  { account }: Manifest,
  options: {
    types: readonly string[]
    kibanaVersion: string
    onError: (error: Error) => void
  },
) {
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const { types, kibanaVersion, onError } = options
  const seed = { accountId: account.id, accountName: 'Drill', apiTokens: [TOKEN], kibanaVersion }
  return startSandbox({ form: 'deployed', types, accounts: [seed], database: '', onError })
}

const TOKEN = 'drill'

function connectSandbox(
  { url, pathPrefix }: { url: string; pathPrefix: string },
  { account }: Manifest,
  { config, log }: Context,
) {
  const sandboxAccount: AccountConfig = {
    name: `drill of ${account.id}`,
    baseUrl: url,
    pathPrefix,
    accountId: account.id,
    token: { env: 'TOKEN' },
  }
  const plainConfig = { ...config, importPath: '/kibana/import' }
  return connectAccount(sandboxAccount, plainConfig, { env: { TOKEN }, log })
}

/** An error of `node:sqlite`, with SQLite's own result code. */
interface SqliteError extends Error {
  readonly errcode: number
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

/** Result codes of SQLite (sqlite.org/rescode.html). */
const NO_MEMORY = 7
const DISK_FULL = 13
const CANNOT_OPEN = 14
const NO_TEMPORARY_FOLDER = 6410

function databaseError({ account, exports }: Manifest, cause: SqliteError): DashkeepError {
  const states: Record<number, string> = {
    [NO_MEMORY]: 'there is not enough memory',
    [DISK_FULL]: 'the disk of its temporary file is full',
    [CANNOT_OPEN]: 'there is no writable folder for its temporary file',
    [NO_TEMPORARY_FOLDER]: 'there is no writable folder for its temporary file',
  }
  const objects = countObjects({ exports })
  const bytes = countContentBytes({ exports }) * CONTENT_SHARE + objects * OBJECT_BYTES
  const state = states[cause.errcode] ?? `its temporary file failed (SQLite error ${cause.errcode})`
  return new DashkeepError(`Cannot drill account ${account.id}: ${state}`, {
    hint: `set TMPDIR to a folder with ${formatBytes(bytes)} of free disk space, which this drill needs`,
    cause,
  })
}

/** Size of the temporary files: this share of the content, and these bytes for each object. */
const CONTENT_SHARE = 1.2
const OBJECT_BYTES = 400
