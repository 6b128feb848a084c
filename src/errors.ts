// Tested by test/e2e/process.test.ts

import { cleanLine } from './clean-text.ts'

/**
 * Kind of an error. The exit code depends on it:
 * - `usage`: the command line, the configuration or something it names is wrong. Nothing was begun.
 * - `failed`: the work failed for another reason.
 * - `unverified`: stored data differs from its manifest.
 * - `interrupted`: a signal stopped the run.
 */
export type ErrorKind = 'usage' | 'failed' | 'unverified' | 'interrupted'

/** Parts of an error message: the state after "Cannot <action>:", and the hint. */
export interface Explanation {
  readonly state: string
  readonly hint: string
  /** Default: `failed`. */
  readonly kind?: ErrorKind
}

/** The hint of an error, if it has one. */
export function hintOf(error: unknown): string | undefined {
  return error instanceof DashkeepError ? error.hint : undefined
}

/**
 * The message of an error's cause, as the system or library reported it, for the log. Undefined when it
 * is unknown or may contain a secret.
 */
export function causeOf(error: unknown): string | undefined {
  for (let one = error; one instanceof DashkeepError; one = one.cause) {
    if (one.hasCleanCause && one.cause instanceof Error) return cleanLine(one.cause.message)
  }
  return undefined
}

/**
 * An error for the person who runs dashkeep.
 *
 * The message reads "Cannot <action>: <state>", without a full stop and without secrets. The hint says
 * what to try. Each problem has its own line. The cause is for the log. Message, hint and problems may
 * contain text from outside, so they are cleaned here.
 */
export class DashkeepError extends Error {
  readonly kind: ErrorKind
  readonly hint: string | undefined
  /** Whether the same call may succeed a moment later. */
  readonly transient: boolean
  /** Whether the message of the cause contains no secret. */
  readonly hasCleanCause: boolean = false

  constructor(
    message: string,
    options: {
      kind?: ErrorKind
      hint?: string
      problems?: readonly string[]
      transient?: boolean
      cause?: unknown
    } = {},
  ) {
    const problems = options.problems?.map((problem) => `  - ${cleanLine(problem)}`)
    super(
      [cleanLine(problems ? `${message}:` : message), ...(problems ?? [])].join('\n'),
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = new.target.name
    this.kind = options.kind ?? 'failed'
    this.hint = options.hint && cleanLine(options.hint)
    this.transient = options.transient ?? false
    // Reading the stack frees the memory that its functions refer to.
    void this.stack
  }
}

/** Signals that ask the process to stop, with the exit code that each leads to. */
export const stopSignals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const

/** A signal, or a key at a prompt, asked the process to stop. */
export class InterruptedError extends DashkeepError {
  readonly signal: keyof typeof stopSignals
  /** What the process ends with. */
  readonly exitCode: number

  constructor(
    signal: keyof typeof stopSignals,
    { message = `Interrupted by ${signal}`, hint }: { message?: string; hint?: string } = {},
  ) {
    super(message, { kind: 'interrupted', ...(hint !== undefined && { hint }) })
    this.signal = signal
    this.exitCode = stopSignals[signal]
  }
}

/** The same failure with a more exact message. Kind and exit code stay. */
export function retell(error: unknown, message: string, hint: string | undefined): DashkeepError {
  const told = hint === undefined ? {} : { hint }
  if (error instanceof InterruptedError) {
    return new InterruptedError(error.signal, { message, ...told })
  }
  const kind = error instanceof DashkeepError ? { kind: error.kind } : {}
  return new DashkeepError(message, { ...told, ...kind, cause: error })
}
