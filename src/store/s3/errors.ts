import type { Explanation } from '../../errors.ts'
import { ProxyError } from '../../http/proxy.ts'
import { StoreError } from '../errors.ts'
import { CredentialsError } from './credentials-error.ts'

/** The server answered, but not as an S3 server does. */
export class UnexpectedAnswer extends Error {}

/** The server took the request to complete an upload, but did not say that it did. */
export class UploadUnconfirmed extends Error {}

/** The body ended before as many bytes had arrived as were announced. */
export class BodyCutShort extends Error {}

/** What a call was about, for the message. */
export interface CallContext {
  /** What was to be done, as in "Cannot write". */
  readonly action: string
  /** The address of the object or the store. */
  readonly target: string
  readonly bucket: string
  /** What the credentials must be allowed for it. */
  readonly rights: string
  readonly tagging?: boolean | undefined
  readonly lock?: object | undefined
  readonly encryption?: object | undefined
}

/** What is known of a failure that the server, the SDK or the network reported. */
interface Facts {
  readonly code: string
  readonly status: number | undefined
  readonly region: string | undefined
  readonly context: CallContext
}

/**
 * Whether the same request may succeed a moment later: the network failed, the server is busy or
 * failed itself, or the clock difference that it complained about has just been learned.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof StoreError || error instanceof ProxyError) return error.transient
  if (error instanceof BodyCutShort || error instanceof UploadUnconfirmed) return true
  // The source of credentials has already been asked several times.
  if (error instanceof CredentialsError) return false
  const { name, code, status, clockSkewCorrected } = readError(error)
  if (clockSkewCorrected || transientCodes.has(name) || transientCodes.has(code)) return true
  if (lasting.has(name) || status === undefined) return false
  return [408, 429, 500, 502, 503, 504].includes(status)
}

/** Whether the server said nothing for too long. */
export function isTimeout(error: unknown): boolean {
  return readError(error).name === 'TimeoutError'
}

/** Handles the errors of these names as the absence of an answer, and throws all others. */
export function withoutError(names: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && names.includes(error.name)) return undefined
    throw error
  }
}

/** Whether the server says that it does not know a request. */
function isUnsupported(error: unknown): boolean {
  const { name, status } = readError(error)
  return status === 501 || status === 405 || unknownRequest.has(name)
}

/** Whether the server does not know a question about an object, or answers with the object itself. */
export function isUnknownQuestion(error: unknown): boolean {
  return isUnsupported(error) || isUnreadable(readError(error).message)
}

/** Handles the answer of a server that does not know a request as the absence of an answer. */
export function withoutSupport(error: unknown): undefined {
  if (isUnsupported(error)) return undefined
  throw error
}

/** Explains an error of the SDK. No part of the request reaches the message or the cause. */
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

const connectionHint = 'Check the network, the endpoint address and the server, then try again'
const busyHint = 'Try again later'

/** Codes that do not pass when the request is repeated, whatever their status. */
const lasting = new Set(['AccessDenied', 'QuotaExceeded', 'NotImplemented', 'InsufficientStorage'])

/** Codes of servers that do not know the request. */
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
  hint: 'Set AWS_REGION to the region of the bucket',
  kind: 'usage',
}

const wrongProtocol: Explanation = {
  state: 'the endpoint does not speak the protocol of its address',
  hint: 'Check whether the endpoint is http or https, and its port',
  kind: 'usage',
}

const keyUnusable: Explanation = {
  state: 'the server cannot use the encryption key',
  hint: 'Check store.encryption.keyId, and that these credentials may use the key (kms:GenerateDataKey, kms:Decrypt)',
  kind: 'usage',
}

const denied = ({ context: { bucket, rights } }: Facts): Explanation => ({
  state: 'access denied',
  hint: `Allow these credentials ${rights} in bucket ${bucket}`,
  kind: 'usage',
})

const otherRegion = ({ context: { bucket }, region }: Facts): Explanation => ({
  state: 'the bucket belongs to another region or endpoint',
  hint: `Set AWS_REGION to ${region ?? `the region of bucket ${bucket}`}`,
  kind: 'usage',
})

const clockDiffers = (): Explanation => ({
  state: 'the clocks of this machine and of the server differ too much',
  hint: 'Set the clock, for example by NTP',
})

const credentialsExpired = (): Explanation => ({
  state: 'the session credentials have expired or are not valid',
  hint: 'Obtain new ones, or remove AWS_SESSION_TOKEN when the keys need none',
  kind: 'usage',
})

const full = ({ context: { bucket } }: Facts): Explanation => ({
  state: 'the quota is used up or the storage is full',
  hint: `Raise the quota of bucket ${bucket}, or free space in it`,
})

const busy = (): Explanation => ({ state: 'the server asks to slow down', hint: busyHint })

const notSupported = ({ context }: Facts): Explanation => ({
  state: 'the server does not support what was asked',
  hint: optionsHint(context),
  kind: 'usage',
})

/** Servers differ in what they have beside objects; only what is configured can be the cause. */
function optionsHint({ tagging, lock, encryption }: CallContext): string {
  const used = [tagging && 'store.tags', lock && 'store.lock', encryption && 'store.encryption']
  const names = used.filter((name) => typeof name === 'string').join(' or ')
  if (names === '') return 'Use a server that supports it; `dashkeep doctor` shows what it lacks'
  return `Take ${names} out of the configuration, or use a server that supports it`
}

const tagsRefused = ({ context }: Facts): Explanation => ({
  state: 'the server refuses the object tags',
  hint: optionsHint(context),
  kind: 'usage',
})

/** What servers answer to a lock in a bucket without Object Lock, or one that is over already. */
const invalid = ({ code, status, context }: Facts): Explanation => ({
  state: `the server refuses the request (${status} ${code})`,
  hint: context.lock
    ? 'With store.lock the bucket needs Object Lock, and the lock a duration the server takes; `dashkeep doctor` looks at the bucket'
    : '`dashkeep doctor` looks at the bucket; the log of the server says more',
  kind: 'usage',
})

const damaged = (): Explanation => ({
  state: 'the bytes were changed on the way',
  hint: 'Try again; if it happens again, look for what changes requests on the way, and for broken memory',
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
  hint: 'Check the endpoint address and the name servers',
})

const byCode: Readonly<Record<string, (facts: Facts) => Explanation>> = {
  NoSuchBucket: ({ context: { bucket } }) => ({
    state: `the bucket ${bucket} does not exist`,
    hint: 'Create it first, or correct the address of the store; dashkeep creates no buckets',
    kind: 'usage',
  }),
  InvalidBucketName: ({ context: { bucket } }) => ({
    state: `the server refuses the bucket name ${bucket}`,
    hint: 'Correct the address of the store',
    kind: 'usage',
  }),
  InvalidAccessKeyId: () => ({
    state: 'the server does not know the access key',
    hint: 'Check AWS_ACCESS_KEY_ID, and that the endpoint is the one the key belongs to',
    kind: 'usage',
  }),
  SignatureDoesNotMatch: () => ({
    state: 'the secret key does not belong to the access key',
    hint: 'Check AWS_SECRET_ACCESS_KEY, also for spaces and line breaks around it',
    kind: 'usage',
  }),
  NoSuchKey: () => ({
    state: 'it is not there',
    hint: 'Check who else removes objects from the bucket',
  }),
  NoSuchUpload: () => ({
    state: 'another client ended the upload',
    hint: 'Look for a rule of the bucket that aborts unfinished uploads too early',
  }),
  EntityTooLarge: () => ({
    state: 'the object is too large for the server',
    hint: 'Raise the limit of the server, or of what stands before it, to at least 8 MiB',
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
    hint: 'See the log of the server',
  }
}

function explainNoS3({ status }: Facts): Explanation {
  if (status !== undefined && status >= 500) {
    return { state: `the server failed with status ${status}`, hint: busyHint }
  }
  return {
    state: 'the answer does not come from an S3 server',
    hint: 'Check the endpoint address and its port; a web page or another service may answer there',
    kind: 'usage',
  }
}

function explainCertificate({ code }: Facts): Explanation {
  return {
    state: `the certificate of the endpoint is not trusted (${code})`,
    hint: 'Check the endpoint address; for an authority of your own, set AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS to the file of its certificate',
    kind: 'usage',
  }
}

/** How the SDK says that a body could not be parsed. */
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

/** Reads the parts of an SDK error that are needed, without trusting their types. */
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

/** One short line for the log; SDK errors themselves can carry session tokens. */
function summarize({ code, status }: Facts, message: string): string {
  const firstLine = message.split('\n', 1)[0] ?? ''
  return `${code}${status === undefined ? '' : ` (status ${status})`}: ${firstLine.slice(0, 300)}`
}
