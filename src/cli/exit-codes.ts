import { DashkeepError, type ErrorKind } from '../errors.ts'

/** What the process tells its caller; documented in the README. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  partly: 3,
  stale: 4,
  unverified: 5,
  interrupted: 130,
} as const

const byKind: Record<ErrorKind, number> = {
  usage: exitCodes.usage,
  failed: exitCodes.failed,
  unverified: exitCodes.unverified,
  interrupted: exitCodes.interrupted,
}

/** The exit code for an error that ended a verb. */
export function exitCodeOf(error: unknown): number {
  return error instanceof DashkeepError ? byKind[error.kind] : exitCodes.failed
}
