import type { Explanation } from '../../errors.ts'
import { ProxyError } from '../../http/proxy.ts'
import { StoreError } from '../errors.ts'
import { CredentialsError } from './credentials-error.ts'

/** The answer is not one of an S3 server. */
export class UnexpectedAnswer extends Error {}

/** The server did not confirm that an upload is complete. */
export class UploadUnconfirmed extends Error {}

/** The body ended before its announced length. */
export class BodyCutShort extends Error {}

/** Description of a call, for the message. */
interface CallContext {
  /** The action, such as `write` in "Cannot write". */
  readonly action: string
  /** The address of the object or the store. */
  readonly target: string
  readonly bucket: string
  /** The permissions that the call needs. */
  readonly rights: string
  readonly tagging?: boolean | undefined
  readonly lock?: object | undefined
  readonly encryption?: object | undefined
}

/** Known facts about a failure of the server, the SDK or the network. */
interface Facts {
  readonly code: string
  readonly status: number | undefined
  readonly region: string | undefined
  readonly context: CallContext
}

/**
 * Whether a later attempt may succeed: the network or the server failed, the server is busy, or the SDK
 * has just learned the difference between the clocks.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof StoreError || error instanceof ProxyError) return error.transient
  if (error instanceof BodyCutShort || error instanceof UploadUnconfirmed) return true
  // The SDK has already repeated the request for credentials.
  if (error instanceof CredentialsError) return false
  const { name, code, status, clockSkewCorrected } = readError(error)
  if (clockSkewCorrected || transientCodes.has(name) || transientCodes.has(code)) return true
  if (lasting.has(name) || status === undefined) return false
  return [408, 429, 500, 502, 503, 504].includes(status)
}

/** Whether the server did not answer in time. */
export function isTimeout(error: unknown): boolean {
  return readError(error).name === 'TimeoutError'
}

/** Returns `undefined` for errors with these names, and throws all others. */
export function withoutError(names: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && names.includes(error.name)) return undefined
    throw error
  }
}

/** Whether the server does not support a request. */
function isUnsupported(error: unknown): boolean {
  const { name, status } = readError(error)
  return status === 501 || status === 405 || unknownRequest.has(name)
}

/** Whether the server does not support a query about an object, or answers with the object itself. */
export function isUnknownQuestion(error: unknown): boolean {
  return isUnsupported(error) || isUnreadable(readError(error).message)
}

/** Returns `undefined` when the server does not support a request, and throws other errors. */
export function withoutSupport(error: unknown): undefined {
  if (isUnsupported(error)) return undefined
  throw error
}

/** Explains an error of the SDK. Message and cause contain no part of the request. */
export function explainError(error: unknown, context: CallContext): StoreError {
  if (error instanceof StoreError) return error
  const { name, code, status, region, message } = readError(error)
  const facts: Facts = { code: code === '' ? name : code, status, region, context }
  const { state, hint, kind } = explain(error, message, facts)
  return new StoreError(`Cannot ${context.action} ${context.target}: ${state}`, {
    kind: kind ?? 'failed',
    hint,
    transient: isTransient(error),
    cause: new Error(summarize(facts, message)),
  })
}

function explain(error: unknown, message: string, facts: Facts): Explanation {
  if (error instanceof ProxyError) return { state: message, hint: error.hint }
  if (error instanceof CredentialsError) return explainCredentials(error)
  if (error instanceof BodyCutShort) return { state: message, hint: connectionHint }
  if (error instanceof UploadUnconfirmed) return { state: message, hint: busyHint }
  if (error instanceof UnexpectedAnswer || isUnreadable(message)) return explainNoS3(facts)
  if (message.startsWith('Region is missing')) return regionMissing
  if (/^KMS\.|kms-key-?id/i.test(`${facts.code} ${message}`)) return keyUnusable
  const explainCode = byCode[facts.code]
  if (explainCode !== undefined) return explainCode(facts)
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(facts.code)) return explainCertificate(facts)
  if (/^(HPE_|EPROTO|ERR_SSL)/.test(facts.code)) return wrongProtocol
  return explainStatus(facts)
}

function explainCredentials({ message, hint, transient }: CredentialsError): Explanation {
  return { state: message, hint, kind: transient ? 'failed' : 'usage' }
}

const connectionHint = 'check the network, the endpoint address and the server, then try again'
const busyHint = 'try again later'

/** Codes of failures that a repetition does not solve, whatever the status. */
const lasting = new Set(['AccessDenied', 'QuotaExceeded', 'NotImplemented', 'InsufficientStorage'])

/** Codes of an unsupported request. */
const unknownRequest = new Set(['NotImplemented', 'MethodNotAllowed'])

const transientCodes = new Set([
  'TimeoutError',
  'RequestTimeout',
  'SlowDown',
  'InternalError',
  'ServiceUnavailable',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
])

const regionMissing: Explanation = {
  state: 'no region is set',
  hint: 'set AWS_REGION to the region of the bucket',
  kind: 'usage',
}

const wrongProtocol: Explanation = {
  state: 'the endpoint uses another protocol than its address says',
  hint: 'check the port of the endpoint, and whether its address begins with http:// or https://',
  kind: 'usage',
}

const keyUnusable: Explanation = {
  state: 'the server cannot use the encryption key',
  hint: 'check store.encryption.keyId, and allow these credentials kms:GenerateDataKey and kms:Decrypt on the key',
  kind: 'usage',
}

const denied = ({ context: { bucket, rights } }: Facts): Explanation => ({
  state: 'access denied',
  hint: `allow these credentials ${rights} in bucket ${bucket}`,
  kind: 'usage',
})

const otherRegion = ({ context: { bucket }, region }: Facts): Explanation => ({
  state: 'the bucket belongs to another region or endpoint',
  hint: `set AWS_REGION to ${region ?? `the region of bucket ${bucket}`}`,
  kind: 'usage',
})

const clockDiffers = (): Explanation => ({
  state: 'the clocks of this machine and of the server differ too much',
  hint: 'set the clock, for example with NTP',
})

const credentialsExpired = (): Explanation => ({
  state: 'the session credentials have expired or are not valid',
  hint: 'use new credentials, or unset AWS_SESSION_TOKEN if the keys need none',
  kind: 'usage',
})

const full = ({ context: { bucket } }: Facts): Explanation => ({
  state: 'the quota is used up or the storage is full',
  hint: `raise the quota of bucket ${bucket}, or free space in it`,
})

const busy = (): Explanation => ({ state: 'the server asks to slow down', hint: busyHint })

const notSupported = ({ context }: Facts): Explanation => ({
  state: 'the server does not support the request',
  hint: optionsHint(context),
  kind: 'usage',
})

/** Names the configured options that some servers do not support. */
function optionsHint({ tagging, lock, encryption }: CallContext): string {
  const used = [tagging && 'store.tags', lock && 'store.lock', encryption && 'store.encryption']
  const names = used.filter((name) => typeof name === 'string').join(' or ')
  if (names === '')
    return 'use another server; `dashkeep doctor` shows what this one does not support'
  return `remove ${names} from the configuration, or use a server that supports it`
}

const tagsRefused = ({ context }: Facts): Explanation => ({
  state: 'the server refuses the object tags',
  hint: optionsHint(context),
  kind: 'usage',
})

/** The answer to a lock in a bucket without Object Lock, or to a lock that ends in the past. */
const invalid = ({ code, status, context }: Facts): Explanation => ({
  state: `the server refuses the request (${status} ${code})`,
  hint: context.lock
    ? 'store.lock needs a bucket with Object Lock, and a duration that the server accepts; `dashkeep doctor` checks the bucket'
    : '`dashkeep doctor` checks the bucket; the log of the server has the reason',
  kind: 'usage',
})

const damaged = (): Explanation => ({
  state: 'the bytes were changed in transit',
  hint: 'try again; if it fails again, check proxies and the memory of this machine',
})

const noAnswer = (): Explanation => ({
  state: 'the server did not answer in time',
  hint: connectionHint,
})

const noConnection = ({ code }: Facts): Explanation => ({
  state: `the connection failed (${code})`,
  hint: connectionHint,
})

const hostUnknown = (): Explanation => ({
  state: 'the host name of the endpoint cannot be resolved',
  hint: 'check the endpoint address and the DNS settings',
})

const byCode: Readonly<Record<string, (facts: Facts) => Explanation>> = {
  NoSuchBucket: ({ context: { bucket } }) => ({
    state: `the bucket ${bucket} does not exist`,
    hint: 'create the bucket, or correct the address of the store; dashkeep creates no buckets',
    kind: 'usage',
  }),
  InvalidBucketName: ({ context: { bucket } }) => ({
    state: `the server refuses the bucket name ${bucket}`,
    hint: 'correct the address of the store',
    kind: 'usage',
  }),
  InvalidAccessKeyId: () => ({
    state: 'the server does not know the access key',
    hint: 'check AWS_ACCESS_KEY_ID, and that the key belongs to this endpoint',
    kind: 'usage',
  }),
  SignatureDoesNotMatch: () => ({
    state: 'the secret key does not belong to the access key',
    hint: 'check AWS_SECRET_ACCESS_KEY, and look for spaces and line breaks around it',
    kind: 'usage',
  }),
  NoSuchKey: () => ({
    state: 'it is not there',
    hint: 'check who removes objects from the bucket',
  }),
  NoSuchUpload: () => ({
    state: 'another client ended the upload',
    hint: 'check the lifecycle rules of the bucket: one may abort unfinished uploads too early',
  }),
  EntityTooLarge: () => ({
    state: 'the object is too large for the server',
    hint: 'raise the limit of the server and its proxies to at least 8 MiB',
  }),
  AccessDenied: denied,
  PermanentRedirect: otherRegion,
  TemporaryRedirect: otherRegion,
  AuthorizationHeaderMalformed: otherRegion,
  RequestTimeTooSkewed: clockDiffers,
  RequestExpired: clockDiffers,
  ExpiredToken: credentialsExpired,
  InvalidToken: credentialsExpired,
  QuotaExceeded: full,
  SlowDown: busy,
  ServiceUnavailable: busy,
  InternalError: () => ({ state: 'the server reports an internal error', hint: busyHint }),
  NotImplemented: notSupported,
  InvalidTag: tagsRefused,
  InvalidRequest: invalid,
  InvalidArgument: invalid,
  InvalidRetentionPeriod: invalid,
  BadDigest: damaged,
  XAmzContentSHA256Mismatch: damaged,
  TimeoutError: noAnswer,
  RequestTimeout: noAnswer,
  ETIMEDOUT: noAnswer,
  ECONNRESET: noConnection,
  ECONNREFUSED: noConnection,
  ECONNABORTED: noConnection,
  EPIPE: noConnection,
  EHOSTUNREACH: noConnection,
  ENETUNREACH: noConnection,
  ERR_STREAM_PREMATURE_CLOSE: noConnection,
  ENOTFOUND: hostUnknown,
  EAI_AGAIN: hostUnknown,
}

function explainStatus(facts: Facts): Explanation {
  const { code, status } = facts
  if (status === 301 || status === 307) return otherRegion(facts)
  if (status === 401 || status === 403) return denied(facts)
  if (status === 429 || status === 503) return busy()
  if (status === 501) return notSupported(facts)
  if (status === 507) return full(facts)
  if (status !== undefined && status >= 500) {
    return { state: `the server failed with status ${status}`, hint: busyHint }
  }
  if (status === 404) return explainNoS3(facts)
  return {
    state:
      status === undefined ? `it failed with ${code}` : `the server answered ${status} ${code}`,
    hint: 'check the log of the server',
  }
}

function explainNoS3({ status }: Facts): Explanation {
  if (status !== undefined && status >= 500) {
    return { state: `the server failed with status ${status}`, hint: busyHint }
  }
  return {
    state: 'the answer does not come from an S3 server',
    hint: 'check the endpoint address and its port; a web page or another service may listen there',
    kind: 'usage',
  }
}

function explainCertificate({ code }: Facts): Explanation {
  return {
    state: `the certificate of the endpoint is not trusted (${code})`,
    hint: 'check the endpoint address; for a certificate of your own authority, set AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS to the file of its certificate',
    kind: 'usage',
  }
}

/** Whether the SDK could not parse the body. */
function isUnreadable(message: string): boolean {
  return message.includes('XML parse error') || message.includes('Deserialization error')
}

interface ErrorParts {
  readonly name: string
  readonly code: string
  readonly status: number | undefined
  readonly region: string | undefined
  readonly clockSkewCorrected: boolean
  readonly message: string
}

/** Reads the needed members of an SDK error, and checks their types. */
function readError(error: unknown): ErrorParts {
  const { name, code, message, Region, $metadata, $response } = asRecord(error)
  const { httpStatusCode, clockSkewCorrected } = asRecord($metadata)
  const bucketRegion = asRecord(asRecord($response).headers)['x-amz-bucket-region']
  const region = [Region, bucketRegion].find(
    (value): value is string => typeof value === 'string' && /^[a-z0-9-]{1,40}$/.test(value),
  )
  return {
    name: typeof name === 'string' ? name : '',
    code: typeof code === 'string' ? code : '',
    status: typeof httpStatusCode === 'number' ? httpStatusCode : undefined,
    region,
    clockSkewCorrected: clockSkewCorrected === true,
    message: typeof message === 'string' ? message : '',
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** One short line for the log. The SDK error itself can contain session tokens. */
function summarize({ code, status }: Facts, message: string): string {
  const firstLine = message.split('\n', 1)[0] ?? ''
  return `${code}${status === undefined ? '' : ` (status ${status})`}: ${firstLine.slice(0, 300)}`
}
