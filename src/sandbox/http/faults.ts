import * as z from 'zod'
import { DashkeepError } from '../../errors.ts'

/** Names of the operations, for faults and recorded requests. */
export const operations = [
  'whoami',
  'export',
  'list',
  'create',
  'replace',
  'read',
  'remove',
  'import',
] as const

/** An operation of the service, as a fault names it. */
export type Operation = (typeof operations)[number]

const whole = z.int().min(0)

const faultSchema = z.strictObject({
  operation: z.enum(operations).optional(),
  type: z.string().optional(),
  account: z.int().optional(),
  after: whole.optional(),
  times: z.int().min(1).optional(),
  status: z.int().min(200).max(599).optional(),
  body: z.union([z.string(), z.instanceof(Uint8Array)]).optional(),
  retryAfter: z.union([z.string(), whole]).optional(),
  redirectTo: z.string().optional(),
  refused: z.literal(true).optional(),
  delayMs: whole.optional(),
  hang: z.literal(true).optional(),
  cut: z.literal(true).optional(),
  atByte: whole.optional(),
  lost: z.literal(true).optional(),
  trailing: z.string().optional(),
  failIds: z.array(z.string()).optional(),
})

/**
 * A fault: what goes wrong, and with which requests.
 *
 * A fault matches requests by `operation`, `type` and `account`. A missing member matches any request.
 * It is applied `times` times (always by default), after `after` matching requests were let through.
 * Only the first matching fault is applied to a request.
 */
export interface Fault {
  readonly operation?: Operation | undefined
  /** The type of an export. */
  readonly type?: string | undefined
  /** The accountId that the API token belongs to. */
  readonly account?: number | undefined
  readonly after?: number | undefined
  readonly times?: number | undefined
  /** Answers with this status instead of performing the operation, with an error body by default. */
  readonly status?: number | undefined
  /** Answers with this body instead of performing the operation; status 200 by default. */
  readonly body?: string | Uint8Array | undefined
  /** Sends `Retry-After`, in seconds or as text; status 429 by default. */
  readonly retryAfter?: number | string | undefined
  /** Answers with a redirect to this address; status 307 by default. */
  readonly redirectTo?: string | undefined
  /** Answers as to a refused token, with status 200. */
  readonly refused?: true | undefined
  /** Waits before the operation, or within the body (see `atByte`). */
  readonly delayMs?: number | undefined
  /** Never sends anything more, before the operation or within the body (see `atByte`). */
  readonly hang?: true | undefined
  /** Closes the connection before the operation, or within the body (see `atByte`). */
  readonly cut?: true | undefined
  /** Applies `delayMs`, `hang` and `cut` after this number of bytes of the body. */
  readonly atByte?: number | undefined
  /** Performs the operation, then closes the connection without an answer. */
  readonly lost?: true | undefined
  /** Text that follows the document. */
  readonly trailing?: string | undefined
  /** Ids that an import reports as failed. */
  readonly failIds?: readonly string[] | undefined
}

/** The request that a fault is matched against. */
interface FaultTarget {
  readonly operation: Operation
  readonly type: string | undefined
  readonly account: number | undefined
}

/** The list of pending faults. */
export interface FaultList {
  /** Adds a fault. Throws a `usage` error for an invalid fault. */
  add(fault: Fault): void
  clear(): void
  /** Faults that still apply, oldest first. */
  pending(): Fault[]
  /** The fault that applies to this request. Counts the request. */
  take(target: FaultTarget): Fault | undefined
}

/** Creates an empty list of faults. */
export function createFaultList(): FaultList {
  let waiting: { fault: Fault; passed: number; hit: number }[] = []
  return {
    add: (fault) => void waiting.push({ fault: checkFault(fault), passed: 0, hit: 0 }),
    clear() {
      waiting = []
    },
    pending: () => waiting.map(({ fault }) => fault),
    take(target) {
      for (const entry of waiting.filter(({ fault }) => agrees(fault, target))) {
        entry.passed += 1
        if (entry.passed <= (entry.fault.after ?? 0)) continue
        entry.hit += 1
        if (entry.hit === entry.fault.times) waiting = waiting.filter((other) => other !== entry)
        return entry.fault
      }
      return undefined
    },
  }
}

/** Validates a fault. Throws a `usage` error that lists the problems. */
export function checkFault(given: unknown): Fault {
  const result = faultSchema.safeParse(given, { reportInput: true })
  if (!result.success) throw badFault(result.error.issues.map(describeIssue).join('; '))
  const fault = result.data
  const disturbs = fault.delayMs ?? fault.hang ?? fault.cut
  if (fault.atByte !== undefined && disturbs === undefined) {
    throw badFault('atByte needs delayMs, hang or cut')
  }
  const answers = [fault.status, fault.body, fault.retryAfter, fault.redirectTo, fault.refused]
  const happens = [...answers, disturbs, fault.lost, fault.trailing, fault.failIds]
  if (happens.every((member) => member === undefined)) throw badFault('it has no effect')
  return fault
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown member ${issue.keys.join(', ')}`
  const name = issue.path.join('.') || 'the fault'
  const found = issue.input === undefined ? '' : `, found ${JSON.stringify(issue.input)}`
  if (issue.code === 'too_big') return `${name}: expected at most ${issue.maximum}${found}`
  if (issue.code === 'too_small') return `${name}: expected at least ${issue.minimum}${found}`
  return `${name}: not valid${found}`
}

/** Whether the fault replaces the answer of the service. */
export function isAnswer(fault: Fault): boolean {
  const { status, body, retryAfter, redirectTo, refused } = fault
  return [status, body, retryAfter, redirectTo, refused].some((member) => member !== undefined)
}

function agrees(fault: Fault, target: FaultTarget): boolean {
  return (
    (fault.operation ?? target.operation) === target.operation &&
    (fault.type === undefined || fault.type === target.type) &&
    (fault.account === undefined || fault.account === target.account)
  )
}

/** The error for a fault that cannot be added. */
export function badFault(state: string): DashkeepError {
  return new DashkeepError(`Cannot add the fault: ${state}`, {
    kind: 'usage',
    hint: "write a fault like 'export:dashboard status=503 times=2' or '* delay=500 at-byte=1000'",
  })
}
