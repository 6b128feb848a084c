import { chmodSync, closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { DashkeepError } from '../../errors.ts'

/** Marks a SQLite file as a sandbox database: the letters "dksb". */
const APPLICATION_ID = 0x646b7362

const OWN_MODE = 0o600

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    owner INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
    region TEXT NOT NULL,
    kibana_version TEXT NOT NULL,
    plan_gb REAL,
    admin_emails TEXT NOT NULL,
    account_token TEXT NOT NULL,
    settings TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tokens (
    token TEXT PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS objects (
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    document BLOB,
    generated TEXT,
    PRIMARY KEY (account, type)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS hits (
    place INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (account, type, id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS hits_in_order ON hits (account, type, place);
`

/**
 * A temporary database has large pages: hits of 2 kB would leave half of each 4 kB page empty. It has
 * no journal: that would be a second temporary file, and the database is not read after an error.
 */
const TEMPORARY = 'PRAGMA page_size = 16384; PRAGMA cache_size = -8192; PRAGMA journal_mode = OFF'

/**
 * Opens the SQLite database of a sandbox and creates its tables. Without a file it is in memory. An
 * empty name means a temporary file of SQLite in TMPDIR, created when the cache of 8 MB is full. It
 * has no name in the folder, so that it disappears however this process ends.
 *
 * Only its user can read or write the file, since it holds tokens and objects. Throws a `usage` error
 * for a file of another program.
 */
export function openDatabase(file: string | undefined): DatabaseSync {
  try {
    if (file) closeSync(openSync(file, 'a', OWN_MODE))
    const database = new DatabaseSync(file ?? ':memory:')
    try {
      if (file === '') database.exec(TEMPORARY)
      prepareTables(database)
      if (file) chmodSync(file, OWN_MODE)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    const state = error instanceof Error ? error.message : String(error)
    throw new DashkeepError(`Cannot open the sandbox database ${file ?? ''}: ${state}`, {
      kind: 'usage',
      hint: 'name a file in a writable folder; a missing file is created',
      cause: error,
    })
  }
}

function prepareTables(database: DatabaseSync): void {
  const owner = database.prepare('PRAGMA application_id').get()?.application_id
  const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count
  if (owner !== APPLICATION_ID && tables !== 0) {
    throw new Error('it is a SQLite file of another program')
  }
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  database.exec(SCHEMA)
  // Data survives a killed process, but not a power failure. That is enough for a sandbox.
  database.exec('PRAGMA synchronous = OFF')
}
