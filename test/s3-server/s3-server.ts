import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type BucketSetup,
  handlers,
  routeOperation,
  type S3Operation,
  type S3Request,
  type ServedBucket,
} from './s3-state.ts'
import { answerError, type S3Answer } from './s3-xml.ts'

/** What goes wrong with the next matching requests. */
export type Fault = {
  /** Default: any. */
  readonly operation?: S3Operation
  /** How many requests pass before it strikes. Default: none. */
  readonly after?: number
  /** How many requests it strikes. Default: one. */
  readonly times?: number
} & (
  | ({ readonly kind: 'answer' } & S3Answer)
  | {
      readonly kind: 'error'
      readonly status: number
      readonly code: string
      readonly more?: string
    }
  | { readonly kind: 'drop-before' | 'drop-after' | 'hang' | 'pretend' | 'upgrade' | 'drip-body' }
  /** Answers once the promise resolves. */
  | { readonly kind: 'late'; readonly until: () => Promise<unknown> }
  | { readonly kind: 'cut-body' | 'stall-body' | 'flip-byte'; readonly afterBytes: number }
)

/** An S3 server in memory, for tests: fast, with a look inside and faults on demand. */
export interface S3Server extends AsyncDisposable {
  readonly url: string
  readonly bucketName: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** The bucket itself, to look at what was stored. */
  readonly bucket: ServedBucket
  /** Every request that arrived, in order, also those that a fault struck. */
  readonly requests: readonly S3Request[]
  /** The names of the operations that arrived, in order. */
  operations(): S3Operation[]
  inject(fault: Fault): void
  /** Takes back the faults that have not struck, and what is left of those that have. */
  clearFaults(): void
}

export interface S3ServerOptions extends BucketSetup {
  /** Objects per page of a listing, however many were asked for. */
  readonly pageSize?: number
  /** Whether object tags are supported. */
  readonly tagging?: boolean
  /** What the keys may not do. */
  readonly denied?: readonly S3Operation[]
  /** What the server does not know. */
  readonly unsupported?: readonly S3Operation[]
}

const bucketName = 'backups'
const credentials = { accessKeyId: 'test-access', secretAccessKey: 'test-secret' }

/** Starts a server on a free port of the loopback interface. Dispose it to stop it. */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const bucket: ServedBucket = { setup: options, objects: new Map(), uploads: new Map() }
  const requests: S3Request[] = []
  const faults: Fault[] = []
  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy())
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    if (request === undefined) return send(response, answerError(501, 'NotImplemented'))
    requests.push(request)
    const refusal = refuse(request, options)
    if (refusal !== undefined) return send(response, refusal)
    await answer(response, request, takeFault(faults, request.operation))
  }

  async function answer(
    response: ServerResponse,
    request: S3Request,
    fault: Fault | undefined,
  ): Promise<void> {
    if (fault?.kind === 'answer') return send(response, fault)
    if (fault?.kind === 'error') {
      return send(response, answerError(fault.status, fault.code, fault.more))
    }
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'upgrade') return void response.socket?.write(switching)
    if (fault?.kind === 'drop-before') return void response.destroy()
    if (fault?.kind === 'late') await fault.until()
    const nowhere = { setup: options, objects: new Map(), uploads: new Map() }
    const target = fault?.kind === 'pretend' ? nowhere : bucket
    const result = perform(target, request, options, fault)
    if (fault?.kind === 'drop-after') return void response.destroy()
    sendBody(response, result, fault)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bucketName,
    credentials,
    bucket,
    requests,
    operations: () => requests.map(({ operation }) => operation),
    inject: (fault) => faults.push(fault),
    clearFaults: () => void faults.splice(0),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'

async function readRequest(incoming: IncomingMessage): Promise<S3Request | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const url = new URL(incoming.url ?? '/', 'http://server')
  const [, bucket = '', rawKey = ''] = /^\/([^/]*)\/?(.*)$/s.exec(url.pathname) ?? []
  const key = decodeURIComponent(rawKey)
  const operation = routeOperation(incoming.method ?? '', key, url.searchParams)
  if (operation === undefined) return undefined
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  )
  return { operation, bucket, key, query: url.searchParams, headers, body: Buffer.concat(chunks) }
}

/** What a server checks before it does anything. */
function refuse(request: S3Request, options: S3ServerOptions): S3Answer | undefined {
  const { headers, body, bucket } = request
  const accessKey = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1]
  if (accessKey === undefined) return answerError(403, 'AccessDenied')
  if (accessKey !== credentials.accessKeyId) return answerError(403, 'InvalidAccessKeyId')
  if (bucket !== bucketName) return answerError(404, 'NoSuchBucket')
  if (options.denied?.includes(request.operation)) return answerError(403, 'AccessDenied')
  if (options.unsupported?.includes(request.operation)) return answerError(501, 'NotImplemented')
  const sent = headers['x-amz-content-sha256'] ?? ''
  if (sent.startsWith('STREAMING-')) return answerError(501, 'NotImplemented')
  const digest = createHash('sha256').update(body).digest()
  if (sent !== 'UNSIGNED-PAYLOAD' && sent !== digest.toString('hex')) {
    return answerError(400, 'XAmzContentSHA256Mismatch')
  }
  const checksum = headers['x-amz-checksum-sha256']
  if (checksum !== undefined && checksum !== digest.toString('base64')) {
    return answerError(400, 'BadDigest')
  }
  const md5 = headers['content-md5']
  if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64')) {
    return answerError(400, 'BadDigest')
  }
  const locks = headers['x-amz-object-lock-mode'] !== undefined
  const isUnchecked =
    ['PutObject', 'UploadPart'].includes(request.operation) &&
    !Object.keys(headers).some((name) => /^(content-md5|x-amz-checksum-)/.test(name))
  if (locks && !options.objectLock) return answerError(400, 'InvalidRequest')
  if ((locks || options.defaultRetention) && isUnchecked) return answerError(400, 'InvalidRequest')
  if (headers['x-amz-tagging'] !== undefined && options.tagging === false) {
    return answerError(501, 'NotImplemented')
  }
  return undefined
}

function takeFault(faults: Fault[], operation: S3Operation): Fault | undefined {
  const index = faults.findIndex((fault) => (fault.operation ?? operation) === operation)
  const fault = faults[index]
  if (fault === undefined) return undefined
  const { after = 0, times = 1 } = fault
  if (after > 0) {
    faults[index] = { ...fault, after: after - 1 }
    return undefined
  }
  if (times > 1) faults[index] = { ...fault, times: times - 1 }
  else faults.splice(index, 1)
  return fault
}

function perform(
  bucket: ServedBucket,
  request: S3Request,
  { pageSize }: S3ServerOptions,
  fault: Fault | undefined,
): S3Answer {
  if (pageSize !== undefined) request.query.set('max-keys', String(pageSize))
  const body = fault?.kind === 'flip-byte' ? flipByte(request.body, fault.afterBytes) : request.body
  const result: S3Answer = handlers[request.operation](bucket, { ...request, body })
  if (fault?.kind !== 'flip-byte' || !Buffer.isBuffer(result.body)) return result
  return { ...result, body: flipByte(result.body, fault.afterBytes) }
}

/** Sends the answer, the whole of it unless a fault stops it midway. */
function sendBody(response: ServerResponse, answer: S3Answer, fault: Fault | undefined): void {
  if (fault?.kind === 'drip-body') {
    dripBody(response, answer)
    return
  }
  if (fault?.kind !== 'cut-body' && fault?.kind !== 'stall-body') {
    send(response, answer)
    return
  }
  const body = Buffer.from(answer.body ?? '')
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': String(body.length) })
  response.write(body.subarray(0, fault.afterBytes), () => {
    if (fault.kind === 'cut-body') response.destroy()
  })
}

/** Sends the body a byte at a time, for ever as far as a client is concerned. */
function dripBody(response: ServerResponse, { status, headers, body }: S3Answer): void {
  const bytes = Buffer.from(body ?? '')
  response.writeHead(status, { ...headers, 'Content-Length': String(bytes.length) })
  let sent = 0
  const drip = setInterval(() => {
    response.write(bytes.subarray(sent, sent + 1))
    sent += 1
  }, 10)
  response.on('close', () => clearInterval(drip))
}

function send(response: ServerResponse, { status, headers, body }: S3Answer): void {
  response.writeHead(status, { ...headers })
  response.end(body)
}

function flipByte(bytes: Buffer, position: number): Buffer {
  const copy = Buffer.from(bytes)
  if (position < copy.length) copy[position] = (copy[position] ?? 0) ^ 1
  return copy
}
