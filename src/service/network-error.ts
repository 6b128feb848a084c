import { ProxyError } from '../http/proxy.ts'
import { ServiceError } from './errors.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import type { Sanitize } from './sanitize.ts'

/**
 * Explains why no complete answer arrived. The original error stays behind, since transports hang
 * requests and sockets on theirs; its cleaned name and message go into the cause.
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

/** Nothing was sent to the service, so that even a create may be repeated. */
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
  /** Nothing of the request had left when this happened. */
  readonly unsent?: boolean
  readonly transient?: boolean
}

const brokenOff: Failure = {
  code: 'network',
  state: (address) => `the connection to ${address} broke off`,
  hint: 'Try again; if it stays, look at the network and at proxies on the way.',
}

const damaged: Failure = {
  code: 'network',
  state: (address) => `the compressed answer of ${address} is cut off or damaged`,
  hint: brokenOff.hint,
}

const unreachable: Failure = {
  code: 'network',
  state: (address) => `${address} cannot be reached`,
  hint: 'Check the base address, the network and firewalls on the way.',
}

const unresolved: Failure = {
  code: 'network',
  state: (address) => `the host of ${address} cannot be resolved`,
  hint: 'Check the base address for a typing error, then the name service of this machine.',
  unsent: true,
}

const silent: Failure = {
  code: 'timeout',
  state: (address) => `${address} did not answer in time`,
  hint: 'Try again; the time to wait is set by the limits of the service client.',
}

const tlsFailure: Failure = {
  code: 'network',
  state: (address) => `no secure connection to ${address} can be made`,
  hint: "Check that the base address begins with the right https:// or http://; if a proxy has a certificate of its own, name its authority's file in NODE_EXTRA_CA_CERTS.",
  unsent: true,
  transient: false,
}

const notHttp: Failure = {
  code: 'network',
  state: (address) => `what ${address} answers is not HTTP`,
  hint: 'Check the port of the base address, and whether it begins with https:// or http://.',
  transient: false,
}

const switched: Failure = {
  code: 'network',
  state: (address) => `${address} answers 101 and leaves HTTP`,
  hint: 'Check the base address: a server for WebSockets may listen there, or a proxy that makes them.',
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
  // An answer that began as HTTP has been damaged on its way.
  if (/^HPE_|^HTTPParserError$/.test(name)) return begun ? brokenOff : notHttp
  return unknownFailure
}

/** The error's code, or its name for the few kinds that have none. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return /^\w{1,60}$/.test(code) ? code : 'unknown'
}

function cleanCause(error: unknown, code: string, sanitize: Sanitize): Error {
  const cause = new Error(sanitize(error instanceof Error ? error.message : String(error), 300))
  return Object.assign(cause, { name: error instanceof Error ? error.name : 'Error', code })
}
