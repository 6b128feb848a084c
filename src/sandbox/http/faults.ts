import * as z from 'zod'
import { DashkeepError } from '../../errors.ts'

/** What a request can ask for, as faults and recorded requests name it. */
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
 * What goes wrong with a request, and with which ones.
 *
 * A fault hits every request that all of `operation`, `type` and `account` agree with, or any
 * request where these are left out: `times` times (for ever by default) once `after` requests it
 * would have hit have passed. Only the first fault that hits a request is applied.
 */
export interface Fault {
  readonly operation?: Operation | undefined
  /** The type an export asks for. */
  readonly type?: string | undefined
  /** The accountId the API token belongs to. */
  readonly account?: number | undefined
  readonly after?: number | undefined
  readonly times?: number | undefined
  /** Answers with this status, and does nothing else. Alone it comes with an error body. */
  readonly status?: number | undefined
  /** Answers with this body, under status 200 unless another is given, and does nothing else. */
  readonly body?: string | Uint8Array | undefined
  /** Sends `Retry-After`, in seconds or as the text given, and status 429 unless another is given. */
  readonly retryAfter?: number | string | undefined
  /** Answers with a redirect to this address, 307 unless another status is given. */
  readonly redirectTo?: string | undefined
  /** Answers as a refused token is answered, under status 200. */
  readonly refused?: true | undefined
  /** Waits, before anything is sent or done, or in the middle of the body (see `atByte`). */
  readonly delayMs?: number | undefined
  /** Sends nothing more, for ever; before anything is done, or see `atByte`. */
  readonly hang?: true | undefined
  /** Cuts the connection; before anything is done, or see `atByte`. */
  readonly cut?: true | undefined
  /** Lets `delayMs`, `hang` and `cut` happen once this many bytes of the body have been sent. */
  readonly atByte?: number | undefined
  /** Does what was asked for, then cuts the connection without an answer. */
  readonly lost?: true | undefined
  /** Sent after the document. */
  readonly trailing?: string | undefined
  /** Ids that an import reports as failed. */
  readonly failIds?: readonly string[] | undefined
}

/** The request a fault may hit. */
export interface FaultTarget {
  readonly operation: Operation
  readonly type: string | undefined
  readonly account: number | undefined
}

/** Faults that wait for their requests. */
export interface FaultList {
  /** Adds a fault. Throws a `usage` error for one that cannot be meant. */
  add(fault: Fault): void
  clear(): void
  /** Faults that can still hit, oldest first. */
  pending(): Fault[]
  /** The fault that hits this request, which is counted. */
  take(target: FaultTarget): Fault | undefined
}

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

/** Checks what was given as a fault. Throws a `usage` error that says what is wrong with it. */
export function checkFault(given: unknown): Fault {
  const result = faultSchema.safeParse(given, { reportInput: true })
  if (!result.success) throw badFault(result.error.issues.map(describeIssue).join('; '))
  const fault = result.data
  const disturbs = fault.delayMs ?? fault.hang ?? fault.cut
  if (fault.atByte !== undefined && disturbs === undefined) {
    throw badFault('atByte says where, but neither delayMs nor hang nor cut says what')
  }
  const answers = [fault.status, fault.body, fault.retryAfter, fault.redirectTo, fault.refused]
  const happens = [...answers, disturbs, fault.lost, fault.trailing, fault.failIds]
  if (happens.every((member) => member === undefined))
    throw badFault('it says nothing that happens')
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

/** Whether the fault answers in place of the service. */
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

export function badFault(state: string): DashkeepError {
  return new DashkeepError(`Cannot add the fault: ${state}`, {
    kind: 'usage',
    hint: "faults read like 'export:dashboard status=503 times=2' or '* delay=500 at-byte=1000'",
  })
}
