import type { ErrorKind, Explanation } from '../errors.ts'
import { findReportedError, isErrorCode } from '../reported-error.ts'
import { ServiceError, type ServiceErrorCode } from './errors.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import { retryAfterMs } from './retry.ts'
import type { Sanitize } from './sanitize.ts'

/** An answer with the text of its body, or with the beginning of a long body. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  readonly text: string
  /** The parsed text; `undefined` when it is not JSON. */
  readonly json: unknown
}

/** The request that a reply answers. */
export interface Explaining {
  readonly operation: Operation
  /** Origin and path of the service, to resolve redirects against. */
  readonly address: string
  readonly sanitize: Sanitize
}

/**
 * Finds a refusal in an answer with a success status: an error code such as 403, an `errorCode`, or
 * the region message. Looks only at the outermost members: deeper ones may belong to a saved object.
 *
 * For operations that only read, any reported error is a refusal (see `findReportedError`). For a
 * change it is not, because the change may have been made.
 */
export function hiddenRefusal(reply: Reply, explaining: Explaining): ServiceError | undefined {
  const body = outermost(reply)
  const refused =
    body.code !== undefined ||
    body.errorCode !== undefined ||
    refusesToken(body) ||
    regionsIn(body.message ?? '') !== undefined
  if (refused) return refusalOf(reply, explaining)
  return onlyReads.has(explaining.operation.name) ? reportedError(reply, explaining) : undefined
}

const onlyReads: ReadonlySet<Operation['name']> = new Set(['whoami', 'list', 'export'])

function reportedError(
  { json, status }: Reply,
  { operation, sanitize }: Explaining,
): ServiceError | undefined {
  const reported = findReportedError(json)
  if (reported === undefined) return undefined
  const { transient, text } = reported
  return new ServiceError(
    `Cannot ${operation.action}: the service reports an error in its answer (status ${status}, ${sanitize(text, 300)})`,
    {
      code: transient ? 'unavailable' : 'rejected',
      status,
      transient,
      hint: transient
        ? 'the answer is incomplete; try again later'
        : 'the answer may lack objects, so dashkeep does not use it; change what the service reports above',
    },
  )
}

/** Explains a refusal by its status or its body. */
export function refusalOf(reply: Reply, explaining: Explaining): ServiceError {
  const { operation, sanitize } = explaining
  const body = outermost(reply)
  const requestId = body.requestId ?? reply.header('x-request-id')
  const explanation = explain(reply, body, explaining)
  return new ServiceError(
    `Cannot ${operation.action}: ${explanation.state} (${describe(reply, body, { requestId, sanitize })})`,
    {
      code: explanation.code,
      kind: kindOf(explanation, operation),
      hint: explanation.hint,
      transient: explanation.transient,
      status: reply.status,
      errorCode: body.errorCode === undefined ? undefined : sanitize(body.errorCode, 100),
      requestId: requestId === undefined ? undefined : sanitize(requestId, 100),
      retryAfterMs: retryAfterMs(reply.header('retry-after'), {
        date: reply.header('date'),
        now: Date.now(),
      }),
    },
  )
}

/**
 * A refused token and a token of another region are errors of the configuration. A refused change
 * counts as failed, because earlier changes of the same command may have been made.
 */
function kindOf({ code }: RefusalExplanation, { name }: Operation): ErrorKind {
  const needsOtherToken = code === 'refused-token' || code === 'wrong-region'
  return needsOtherToken && onlyReads.has(name) ? 'usage' : 'failed'
}

/** Explains a body that is not JSON although the status says success. */
export function notJson(reply: Reply, { operation, sanitize }: Explaining): ServiceError {
  // The answer to a create contains a token, so the message does not show the answer.
  const begins =
    operation.name === 'create' || reply.text.trim() === ''
      ? ''
      : ` but begins "${sanitize(reply.text, 60)}"`
  const empty = reply.text.trim() === '' ? ' but empty' : ''
  return new ServiceError(
    `Cannot ${operation.action}: the answer is not JSON${begins}${empty} (status ${reply.status})`,
    {
      code: 'not-json',
      status: reply.status,
      hint: operation.name === 'create' ? uncertainCreateHint : otherServerHint,
    },
  )
}

/** Explains an answer that contains only part of an export. */
export function onlyPart({ operation }: Explaining): ServiceError {
  return new ServiceError(
    `Cannot ${operation.action}: the answer is only a part of the export (status 206)`,
    { code: 'unavailable', status: 206, transient: true, hint: otherServerHint },
  )
}

/** Explains a JSON body without the members that this operation returns. */
export function wrongShape(
  reply: Reply,
  problems: readonly string[],
  { operation, sanitize }: Explaining,
): ServiceError {
  return new ServiceError(
    `Cannot ${operation.action}: the answer has the wrong shape: ${sanitize(problems.join('; '), 300)} (status ${reply.status})`,
    {
      code: 'wrong-shape',
      status: reply.status,
      hint: operation.name === 'create' ? uncertainCreateHint : otherServerHint,
    },
  )
}

/** Finds the two regions in "Account region <xx> differs from current server region <yy>". */
export function regionsIn(text: string): Regions | undefined {
  const found =
    /account region\W{1,4}([a-z0-9][\w-]{0,39})\W{1,4}differs from current server region\W{1,4}([a-z0-9][\w-]{0,39})/i.exec(
      text,
    )
  return found?.[1] && found[2] ? { account: found[1], server: found[2] } : undefined
}

const otherServerHint =
  'check that the base address is the API address of the service, and not a web page or a proxy'

interface Regions {
  readonly account: string
  readonly server: string
}

interface RefusalExplanation extends Explanation {
  readonly code: ServiceErrorCode
  readonly transient?: boolean
}

function explain(
  reply: Reply,
  body: ErrorBody,
  { operation, address, sanitize }: Explaining,
): RefusalExplanation {
  const regions = regionsIn(reply.text)
  if (regions !== undefined) return explainRegions(regions)
  const status = statusOf(reply, body)
  if (redirects(status)) return explainRedirect(reply, { address, sanitize })
  return explainStatus(status, operation, body)
}

/** The status that a refusal means: 403 for a refused token, else the code of a body with status 2xx. */
function statusOf(reply: Reply, body: ErrorBody): number {
  if (refusesToken(body)) return 403
  return isSuccess(reply) ? (body.code ?? 400) : reply.status
}

function explainRegions({ account, server }: Regions): RefusalExplanation {
  return {
    code: 'wrong-region',
    state: `the token's account is in region ${account}, the base address serves region ${server}`,
    hint: `use the base address of region ${account} instead of region ${server}`,
  }
}

function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300
}

function refusesToken({ code, message }: ErrorBody): boolean {
  return code === 401 || code === 403 || /insufficient privileges/i.test(message ?? '')
}

function redirects(status: number): boolean {
  return status >= 300 && status < 400
}

function explainRedirect(
  reply: Reply,
  { address, sanitize }: { address: string; sanitize: Sanitize },
): RefusalExplanation {
  const location = reply.header('location') ?? ''
  const target = URL.canParse(location, address) ? new URL(location, address).origin : 'elsewhere'
  return {
    code: 'redirected',
    state: `the service redirects to ${sanitize(target, 200)}`,
    hint: 'dashkeep follows no redirect, to protect the token; if the service has moved there, correct the base address',
  }
}

function explainStatus(
  status: number,
  operation: Operation,
  { errorCode }: ErrorBody,
): RefusalExplanation {
  if (status === 401 || status === 403) return explainRefusedToken(operation)
  if (status === 404 && operation.name === 'replace') return unknownAccount
  if (status === 404 || status === 405 || status === 410) {
    return operation.name === 'import' ? noImport : noEndpoint
  }
  if (status === 413 && operation.name === 'import') return importTooLarge
  if (status === 429) return tooManyRequests
  if (status === 408 || status >= 500) return explainUnavailable(operation)
  return {
    code: 'rejected',
    state: 'the service rejects the request',
    hint: /ILLEGAL_PLAN/i.test(errorCode ?? '') ? planHint : rejectionHint(operation),
  }
}

const planHint =
  'the capacities of all sub accounts must not exceed the plan of the main account: reduce another one first'

function rejectionHint({ name }: Operation): string {
  const hint = 'change what the service reports above'
  if (name !== 'create') return hint
  return `${hint}; the email must belong to an admin user of the main account, and some services require --share-with, such as --share-with none`
}

function explainRefusedToken(operation: Operation): RefusalExplanation {
  const forAccounts = ['create', 'list', 'replace'].includes(operation.name)
  return {
    code: 'refused-token',
    state: 'the service refuses the token',
    hint: forAccounts
      ? 'use an API token of the main account with the right to manage accounts, and the base address of its region'
      : 'use a valid API token of this account (not the token for shipping logs), and the base address of its region',
  }
}

const unknownAccount: RefusalExplanation = {
  code: 'unknown-account',
  state: 'the service knows no such sub account',
  hint: 'list the sub accounts to find the id; if the list fails, too, check the path prefix',
}

const noEndpoint: RefusalExplanation = {
  code: 'no-endpoint',
  state: 'the service has no such endpoint',
  hint: 'check the base address (it usually has no path) and the path prefix: some services need /v1, others none',
}

const noImport: RefusalExplanation = {
  code: 'no-endpoint',
  state: 'the service has no endpoint for imports',
  hint: 'not every service accepts imports: check the path prefix and service.importPath, or restore to files with --to; the sandbox accepts imports with `dashkeep sandbox --form deployed`',
}

const importTooLarge: RefusalExplanation = {
  code: 'rejected',
  state: 'the service accepts no request of this size',
  hint: 'lower limits.maxImportBytes',
}

const tooManyRequests: RefusalExplanation = {
  code: 'too-many-requests',
  state: 'the service asks for fewer requests',
  hint: 'try again later, or lower limits.accounts',
  transient: true,
}

function explainUnavailable(operation: Operation): RefusalExplanation {
  const creating = operation.name === 'create'
  return {
    code: 'unavailable',
    state: 'the service is not available',
    hint: creating ? uncertainCreateHint : 'try again later',
    transient: !creating,
  }
}

/** The outermost members of an error body. */
interface ErrorBody {
  readonly code?: number | undefined
  readonly errorCode?: string | undefined
  readonly message?: string | undefined
  readonly requestId?: string | undefined
}

function outermost({ json, text }: Reply): ErrorBody {
  if (json === undefined) return { message: text }
  if (typeof json === 'string') return { message: json }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return {}
  const members: Partial<Record<keyof ErrorBody | 'error', unknown>> = json
  const code = Number(members.code)
  return {
    code: code >= 400 && code < 600 ? code : undefined,
    errorCode: isErrorCode(members.errorCode) ? textOf(members.errorCode) : undefined,
    message: textOf(members.message) ?? textOf(members.error),
    requestId: textOf(members.requestId),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function describe(
  reply: Reply,
  body: ErrorBody,
  { requestId, sanitize }: { requestId: string | undefined; sanitize: Sanitize },
): string {
  const parts = [`status ${reply.status}`]
  if (body.code !== undefined && body.code !== reply.status) parts.push(`code ${body.code}`)
  if (body.errorCode !== undefined) parts.push(sanitize(body.errorCode, 100))
  if (body.message?.trim()) parts.push(`"${sanitize(body.message, 200)}"`)
  if (requestId !== undefined) parts.push(`request ${sanitize(requestId, 100)}`)
  return parts.join(', ')
}
