import { DashkeepError, type ErrorKind, InterruptedError } from '../errors.ts'

/** Exit codes of the process; docs/commands.md documents them. */
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
  if (error instanceof InterruptedError) return error.exitCode
  return error instanceof DashkeepError ? byKind[error.kind] : exitCodes.failed
}

/** The exit code of a verb that ended because its signal was aborted. */
export function exitCodeOfInterruption({ reason }: AbortSignal): number {
  return reason instanceof InterruptedError ? reason.exitCode : exitCodes.interrupted
}

/**
 * The exit code of a run over accounts. When all accounts failed, the code of their errors. When some
 * failed, a snapshot is suspect, or there are warnings, partly done.
 */
export function exitCodeOfRun(
  endings: readonly { error?: Error | undefined; doubtful: boolean }[],
): number {
  const errors = endings.flatMap(({ error }) => error ?? [])
  if (errors.length > 0 && errors.length === endings.length) {
    const codes = new Set(errors.map(exitCodeOf))
    return codes.size === 1 ? ([...codes][0] ?? exitCodes.failed) : exitCodes.failed
  }
  const partly = errors.length > 0 || endings.some(({ doubtful }) => doubtful)
  return partly ? exitCodes.partly : exitCodes.done
}

/** The exit code for several restores: their own if it is the same for all, partly if one did something. */
export function combineExitCodes(codes: readonly number[]): number {
  const [first = exitCodes.done, ...others] = new Set(codes)
  if (others.length === 0) return first
  const isPartly = codes.some((code) => code === exitCodes.done || code === exitCodes.partly)
  return isPartly ? exitCodes.partly : exitCodes.failed
}
