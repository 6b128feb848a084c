import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

/** What restoring everything into an empty account has shown. */
export interface DrillResult {
  readonly objects: number
  /** Objects that came back byte for byte. */
  readonly restored: number
  /** How many did not, and how many came back that nobody sent. */
  readonly different: number
  /** The ids of those, 1,000 at most. */
  readonly differing: readonly string[]
}

/** Ids that a result names at most. */
const MAX_NAMED = 1000

/** Which objects a drill sends, in which bytes, and what has come back of them. */
export interface DrillIndex extends Disposable {
  /** Notes an object that is sent. Of several with the same id the last one counts. */
  expect(id: string, hit: Uint8Array): void
  /** Notes an object that has come back. */
  receive(id: string, hit: Uint8Array): void
  result(): DrillResult
}

/** How far an object has come: its number in the table. */
const ABSENT = 0
const RESTORED = 1
const DIFFERS = 2

/**
 * Begins an index, with the SHA-256 of each object. It takes little memory for any number of objects:
 * what does not fit into the cache of 2 MB lies in a temporary file of SQLite in TMPDIR, which has no
 * name and so is gone however this process ends.
 */
export function openDrillIndex(): DrillIndex {
  const database = new DatabaseSync('')
  database.exec(`CREATE TABLE objects (
    id TEXT PRIMARY KEY,
    sha256 BLOB NOT NULL,
    found INTEGER NOT NULL DEFAULT ${ABSENT}
  ) STRICT, WITHOUT ROWID`)
  // Nobody needs the table but this index: one transaction is enough, and is never committed.
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
