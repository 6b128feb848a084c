import { ProxyError } from '../http/proxy.ts'
import { ServiceError } from './errors.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import type { Sanitize } from './sanitize.ts'

/**
 * Explains why no complete answer arrived. The cause has only the cleaned name and message of the
 * original error: that error may hold the request and its token.
 */
export function networkError(
  operation: Operation,
  error: unknown,
  context: { address: string; sanitize: Sanitize; receivedBytes?: number },
): ServiceError {
  if (error instanceof ProxyError) return proxyProblem(operation, error)
  const code = codeOf(error)
  const name = code.replace(/^UND_ERR_/, '')
  const failure = failureOf(name, { begun: context.receivedBytes !== undefined })
  const repeatable = operation.name !== 'create' || failure.unsent === true
  const received =
    context.receivedBytes === undefined ? '' : ` after ${context.receivedBytes} bytes`
  return new ServiceError(
    `Cannot ${operation.action}: ${failure.state(context.address)}${received} (${name})`,
    {
      code: failure.code,
      transient: repeatable && failure.transient !== false,
      hint: repeatable ? failure.hint : uncertainCreateHint,
      cause: cleanCause(error, code, context.sanitize),
    },
  )
}

/** Nothing was sent to the service, so even a create may be repeated. */
function proxyProblem(
  { action }: Operation,
  { message, hint, transient }: ProxyError,
): ServiceError {
  return new ServiceError(`Cannot ${action}: ${message}`, { code: 'network', hint, transient })
}

interface Failure {
  readonly code: 'network' | 'timeout'
  readonly state: (address: string) => string
  readonly hint: string
  /** Whether no part of the request was sent. */
  readonly unsent?: boolean
  readonly transient?: boolean
}

const brokenOff: Failure = {
  code: 'network',
  state: (address) => `the connection to ${address} was interrupted`,
  hint: 'try again; if it fails again, check the network and the proxies',
}

const damaged: Failure = {
  code: 'network',
  state: (address) => `the compressed answer of ${address} is incomplete or damaged`,
  hint: brokenOff.hint,
}

const unreachable: Failure = {
  code: 'network',
  state: (address) => `${address} cannot be reached`,
  hint: 'check the base address, the network and the firewalls',
}

const unresolved: Failure = {
  code: 'network',
  state: (address) => `the host of ${address} cannot be resolved`,
  hint: 'check the base address for a typing error, then the DNS settings of this machine',
  unsent: true,
}

const silent: Failure = {
  code: 'timeout',
  state: (address) => `${address} did not answer in time`,
  hint: 'try again; the limits of the service client set the timeouts',
}

const tlsFailure: Failure = {
  code: 'network',
  state: (address) => `a secure connection to ${address} is not possible`,
  hint: 'check whether the base address begins with https:// or http://; for a certificate of your own authority, set NODE_EXTRA_CA_CERTS to the file of its certificate',
  unsent: true,
  transient: false,
}

const notHttp: Failure = {
  code: 'network',
  state: (address) => `the answer of ${address} is not HTTP`,
  hint: 'check the port of the base address, and whether it begins with https:// or http://',
  transient: false,
}

const switched: Failure = {
  code: 'network',
  state: (address) => `${address} answers with status 101, which ends HTTP`,
  hint: 'check the base address: a WebSocket server or proxy may listen there',
  transient: false,
}

const unknownFailure: Failure = {
  code: 'network',
  state: (address) => `the request to ${address} failed`,
  hint: brokenOff.hint,
  transient: false,
}

const failures: ReadonlyMap<string, Failure> = new Map([
  ['ECONNREFUSED', { ...unreachable, unsent: true }],
  ['EHOSTUNREACH', unreachable],
  ['EHOSTDOWN', unreachable],
  ['ENETUNREACH', unreachable],
  ['ENETDOWN', unreachable],
  ['ENOTFOUND', unresolved],
  ['EAI_AGAIN', unresolved],
  ['CONNECT_TIMEOUT', { ...silent, unsent: true }],
  ['ETIMEDOUT', silent],
  ['HEADERS_TIMEOUT', silent],
  [
    'BODY_TIMEOUT',
    { ...silent, state: (address: string) => `${address} stopped sending its answer` },
  ],
  ['ECONNRESET', brokenOff],
  ['ECONNABORTED', brokenOff],
  ['EPIPE', brokenOff],
  ['SOCKET', brokenOff],
  ['RES_CONTENT_LENGTH_MISMATCH', brokenOff],
  ['SWITCHED_PROTOCOL', switched],
  ['Z_BUF_ERROR', damaged],
  ['Z_DATA_ERROR', damaged],
])

function failureOf(name: string, { begun }: { begun: boolean }): Failure {
  const known = failures.get(name)
  if (known !== undefined) return known
  if (/CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|^ERR_(TLS|SSL)|^EPROTO$/.test(name))
    return tlsFailure
  // The answer began as HTTP and was damaged in transit.
  if (/^HPE_|^HTTPParserError$/.test(name)) return begun ? brokenOff : notHttp
  return unknownFailure
}

/** The code of an error, or its name if it has no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return /^\w{1,60}$/.test(code) ? code : 'unknown'
}

function cleanCause(error: unknown, code: string, sanitize: Sanitize): Error {
  const cause = new Error(sanitize(error instanceof Error ? error.message : String(error), 300))
  return Object.assign(cause, { name: error instanceof Error ? error.name : 'Error', code })
}
