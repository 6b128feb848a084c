import { type AllProofs, judgeAllProofs } from '../proofs/judge-all.ts'

/** Judges the proof records of an archive, see `judgeAllProofs`. */
export type ReadProofs = typeof judgeAllProofs

/** Records are listed so often at most: there are many, and they change once a day or a week. */
const INTERVAL_MS = 3600_000

/**
 * Creates a reader of one archive that lists its proof records at most once an hour, and reads each
 * record once, because no record ever changes.
 */
export function rememberProofs(): ReadProofs {
  const known = new Map()
  let last: { readAt: Date; proofs: AllProofs } | undefined
  return async (store, options) => {
    const { now } = options
    const ageMs = last === undefined ? INTERVAL_MS : now.getTime() - last.readAt.getTime()
    // A clock that was set back makes the age negative.
    if (last === undefined || ageMs < 0 || ageMs >= INTERVAL_MS) {
      last = { readAt: now, proofs: await judgeAllProofs(store, { ...options, known }) }
    }
    return last.proofs
  }
}
