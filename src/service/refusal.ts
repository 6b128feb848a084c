import type { ErrorKind, Explanation } from '../errors.ts'
import { findReportedError, isErrorCode } from '../reported-error.ts'
import { ServiceError, type ServiceErrorCode } from './errors.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import { retryAfterMs } from './retry.ts'
import type { Sanitize } from './sanitize.ts'

/** An answer with the text of its body, or as much of it as decides what it means. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  readonly text: string
  /** The parsed text; `undefined` when it is not JSON. */
  readonly json: unknown
}

/** What explaining a reply needs besides it. */
export interface Explaining {
  readonly operation: Operation
  /** Origin and path of the service, to resolve redirects against. */
  readonly address: string
  readonly sanitize: Sanitize
}

/**
 * Recognises a refusal that comes under a status of success: the code 403 or its like, an
 * `errorCode`, or the region message, on the body's outermost level. Deeper down they may be
 * somebody's saved object. An answer of an operation that only reads is refused for any error it
 * reports (see `findReportedError`); a change that was made must not look as if it had failed.
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
        ? 'The answer is incomplete: try again later.'
        : 'An answer with an error may lack objects, so that none of it is used. What the service says above tells what to change.',
    },
  )
}

/** Explains an answer that is a refusal as a whole, by its status or by what it says. */
export function refusalOf(reply: Reply, explaining: Explaining): ServiceError {
  const { operation, address, sanitize } = explaining
  const body = outermost(reply)
  const status = refusesToken(body) ? 403 : isSuccess(reply) ? (body.code ?? 400) : reply.status
  const regions = regionsIn(reply.text)
  const requestId = body.requestId ?? reply.header('x-request-id')
  const explanation =
    regions !== undefined
      ? explainRegions(regions)
      : redirects(status)
        ? explainRedirect(reply, { address, sanitize })
        : explainStatus(status, operation, body)
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
 * A token that is refused, or of another region, is an error of the configuration: the same request
 * fails again. A refused change may follow changes that were made, so that it counts as failed.
 */
function kindOf({ code }: RefusalExplanation, { name }: Operation): ErrorKind {
  const needsOtherToken = code === 'refused-token' || code === 'wrong-region'
  return needsOtherToken && onlyReads.has(name) ? 'usage' : 'failed'
}

/** Explains a body that is not JSON although the status says success. */
export function notJson(reply: Reply, { operation, sanitize }: Explaining): ServiceError {
  // The answer to a create contains a token, so the message shows none of it.
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

/** Explains an answer with a part of an export, although no range was requested. */
export function onlyPart({ operation }: Explaining): ServiceError {
  return new ServiceError(
    `Cannot ${operation.action}: the answer is only a part of the export (status 206)`,
    { code: 'unavailable', status: 206, transient: true, hint: otherServerHint },
  )
}

/** Explains a body that is JSON, but not what this operation answers. */
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
  'Check that the base address is the API address of the service, and no web page or proxy.'

interface Regions {
  readonly account: string
  readonly server: string
}

interface RefusalExplanation extends Explanation {
  readonly code: ServiceErrorCode
  readonly transient?: boolean
}

function explainRegions({ account, server }: Regions): RefusalExplanation {
  return {
    code: 'wrong-region',
    state: `the token's account is in region ${account}, the base address serves region ${server}`,
    hint: `Use the base address of region ${account} instead of the one of region ${server}.`,
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
    hint: 'Redirects are not followed, so that the token does not travel: correct the base address if that is where the service lives.',
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
  'The sub accounts together may take no more than the plan of the main account holds: reduce another one first.'

function rejectionHint({ name }: Operation): string {
  const hint = 'What the service says above tells what to change.'
  if (name !== 'create') return hint
  return `${hint} The e-mail must be of a user who is an admin of the main account; some services want the accounts that share objects, if only none.`
}

function explainRefusedToken(operation: Operation): RefusalExplanation {
  const forAccounts = ['create', 'list', 'replace'].includes(operation.name)
  return {
    code: 'refused-token',
    state: 'the service refuses the token',
    hint: forAccounts
      ? 'Sub accounts need an API token of the main account with the right to manage accounts; also check that the base address is the one of its region.'
      : 'Check that it is a valid API token of this account (the token for shipping logs is none), and that the base address is the one of its region.',
  }
}

const unknownAccount: RefusalExplanation = {
  code: 'unknown-account',
  state: 'the service knows no such sub account',
  hint: 'List the sub accounts to find the right id; if the list fails as well, check the path prefix.',
}

const noEndpoint: RefusalExplanation = {
  code: 'no-endpoint',
  state: 'the service has no such endpoint',
  hint: 'Check the base address (it has no path of its own, as a rule) and the path prefix: some services want /v1, others none.',
}

const noImport: RefusalExplanation = {
  code: 'no-endpoint',
  state: 'the service has no endpoint for imports',
  hint: 'Not every service takes imports: check the path prefix and the path of the import (service.importPath), or restore into files with --to. The sandbox takes them when started with `dashkeep sandbox --form deployed`.',
}

const importTooLarge: RefusalExplanation = {
  code: 'rejected',
  state: 'the service takes no request of this size',
  hint: 'Lower the limit for the size of an import (limits.maxImportBytes).',
}

const tooManyRequests: RefusalExplanation = {
  code: 'too-many-requests',
  state: 'the service asks for fewer requests',
  hint: 'Try again later, or lower the number of requests at once.',
  transient: true,
}

function explainUnavailable(operation: Operation): RefusalExplanation {
  const creating = operation.name === 'create'
  return {
    code: 'unavailable',
    state: 'the service is not available',
    hint: creating ? uncertainCreateHint : 'Try again later.',
    transient: !creating,
  }
}

/** What a body says on its outermost level. */
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
