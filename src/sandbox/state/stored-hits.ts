import type { DatabaseSync } from 'node:sqlite'

/** The imported hits of one account and type, in the order of import. */
export interface StoredHits {
  /** Adds a hit. A hit with the same id keeps its position; only `override` replaces its bytes. */
  put(id: string, bytes: Uint8Array, override: boolean): 'created' | 'updated' | 'ignored'
  /** Number of hits, and their total bytes. */
  sizes(): { readonly count: number; readonly bytes: number }
  /** Yields the hits in order, in groups of about 256 KiB or one larger hit. */
  pieces(): Generator<readonly Uint8Array[]>
}

/** Bytes of hits read from the database at once. */
const PIECE_BYTES = 256 * 1024

/** Opens the imported hits. Stores each id as JSON, since an id may hold lone surrogates. */
export function hitState(database: DatabaseSync): (account: number, type: string) => StoredHits {
  const add = database.prepare(`INSERT INTO hits (account, type, id, bytes) VALUES (?, ?, ?, ?)
    ON CONFLICT (account, type, id) DO NOTHING`)
  const replace = database.prepare(
    'UPDATE hits SET bytes = ? WHERE account = ? AND type = ? AND id = ?',
  )
  const sizes = database.prepare(`SELECT count(*) AS count, total(length(bytes)) AS bytes
    FROM hits WHERE account = ? AND type = ?`)
  const after = database.prepare(`SELECT place, bytes FROM hits
    WHERE account = ? AND type = ? AND place > ? ORDER BY place`)

  /** Reads the next hits at once: an import may change the table before the next call. */
  function readPiece(account: number, type: string, from: number) {
    const hits: Uint8Array[] = []
    let place = from
    let length = 0
    for (const row of after.iterate(account, type, from)) {
      const bytes = row.bytes as Uint8Array
      hits.push(bytes)
      place = Number(row.place)
      length += bytes.length
      if (length >= PIECE_BYTES) break
    }
    return { hits, place }
  }

  return (account, type) => ({
    put(id, bytes, override) {
      const key = JSON.stringify(id)
      if (add.run(account, type, key, bytes).changes === 1) return 'created'
      if (!override) return 'ignored'
      replace.run(bytes, account, type, key)
      return 'updated'
    },
    sizes() {
      const row = sizes.get(account, type)
      return { count: Number(row?.count), bytes: Number(row?.bytes) }
    },
    *pieces() {
      for (let from = 0; ; ) {
        const { hits, place } = readPiece(account, type, from)
        if (hits.length === 0) return
        yield hits
        from = place
      }
    },
  })
}
