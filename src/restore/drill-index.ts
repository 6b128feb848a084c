import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

/** Result of restoring everything into an empty account. */
export interface DrillResult {
  readonly objects: number
  /** Objects that were returned byte for byte. */
  readonly restored: number
  /** Objects that differ or are missing, and objects that were returned but not sent. */
  readonly different: number
  /** Their ids, at most 1,000. */
  readonly differing: readonly string[]
}

/** Ids that a result names at most. */
const MAX_NAMED = 1000

/** The objects that a drill sends, and which of them the service has returned. */
export interface DrillIndex extends Disposable {
  /** Records an object that is sent. Of several with the same id, the last one counts. */
  expect(id: string, hit: Uint8Array): void
  /** Records an object that was returned. */
  receive(id: string, hit: Uint8Array): void
  result(): DrillResult
}

/** States of an object in the table. */
const ABSENT = 0
const RESTORED = 1
const DIFFERS = 2

/**
 * Creates an index with the SHA-256 of each object. It needs little memory for any number of objects:
 * SQLite has a cache of 2 MB and keeps the rest in a temporary file in TMPDIR. The file has no name, so
 * it disappears when this process ends.
 */
export function openDrillIndex(): DrillIndex {
  const database = new DatabaseSync('')
  database.exec(`CREATE TABLE objects (
    id TEXT PRIMARY KEY,
    sha256 BLOB NOT NULL,
    found INTEGER NOT NULL DEFAULT ${ABSENT}
  ) STRICT, WITHOUT ROWID`)
  // The table is temporary, so one transaction that is never committed is enough.
  database.exec('BEGIN')
  const expect = database.prepare('INSERT OR REPLACE INTO objects (id, sha256) VALUES (?, ?)')
  const receive = database.prepare(`UPDATE objects
    SET found = iif(sha256 = ? AND found <> ${DIFFERS}, ${RESTORED}, ${DIFFERS}) WHERE id = ?`)
  const strange: string[] = []
  let strangers = 0
  return {
    expect: (id, hit) => void expect.run(keyOf(id), digestOf(hit)),
    receive(id, hit) {
      if (receive.run(digestOf(hit), keyOf(id)).changes === 1) return
      strangers += 1
      if (strange.length < MAX_NAMED) strange.push(id)
    },
    result() {
      const sums = database
        .prepare(`SELECT count(*) AS objects, total(found = ${RESTORED}) AS restored FROM objects`)
        .get()
      const [objects, restored] = [Number(sums?.objects), Number(sums?.restored)]
      const lost = database
        .prepare(`SELECT id FROM objects WHERE found <> ${RESTORED} LIMIT ${MAX_NAMED}`)
        .all()
        .map((row) => JSON.parse(String(row.id)) as string)
      return {
        objects,
        restored,
        differing: [...lost, ...strange].slice(0, MAX_NAMED),
        different: objects - restored + strangers,
      }
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** An id as JSON, which is well formed for every id: SQLite replaces lone surrogates. */
function keyOf(id: string): string {
  return JSON.stringify(id)
}

function digestOf(hit: Uint8Array): Uint8Array {
  return hash('sha256', hit, 'buffer')
}
