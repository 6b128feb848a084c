import { createHash, randomUUID } from 'node:crypto'
import { answerError, answerXml, element, escapeXml, type S3Answer, unescapeXml } from './s3-xml.ts'

/** What an object is to the server. */
export interface ServedObject {
  readonly body: Buffer
  readonly etag: string
  readonly modifiedAt: Date
  readonly metadata: Readonly<Record<string, string>>
  readonly tags: string
  /** The algorithm by which it is encrypted. */
  readonly encryption?: string | undefined
  readonly retention?: Retention | undefined
}

/** Until when an object cannot be deleted. */
export interface Retention {
  readonly mode: string
  readonly until: Date
}

export interface ServedUpload {
  readonly key: string
  readonly startedAt: Date
  readonly metadata: Readonly<Record<string, string>>
  readonly encryption?: string | undefined
  readonly parts: Map<number, { body: Buffer; etag: string }>
}

/** How a bucket was set up. */
export interface BucketSetup {
  /** Whether it was made with Object Lock, and so keeps versions. */
  readonly objectLock?: boolean
  /** By which every object is locked that is put without a lock of its own; needs `objectLock`. */
  readonly defaultRetention?: { readonly mode: string; readonly days: number }
  /** Whether nothing that is locked can be deleted; real servers hide it by a marker. */
  readonly keepsLocked?: boolean
  /** What is taken with 200 and forgotten. */
  readonly ignores?: readonly ('lock' | 'encryption')[]
  /** Whether a part of an object can be asked for. Default: yes. */
  readonly ranges?: boolean
  /** Its lifecycle rules, as XML. */
  readonly lifecycle?: string
}

/** One bucket in memory. */
export interface ServedBucket {
  readonly setup: BucketSetup
  readonly objects: Map<string, ServedObject>
  readonly uploads: Map<string, ServedUpload>
}

/** A request after routing. */
export interface S3Request {
  readonly operation: S3Operation
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Answers one operation. */
export type Handler = (bucket: ServedBucket, request: S3Request) => S3Answer

const tagPattern = /<Key>(.*?)<\/Key><Value>(.*?)<\/Value>/gs
const minPartBytes = 5 * 1024 * 1024

/** Every operation the server knows, by its name in the S3 API. */
export const handlers = {
  PutObject(bucket, { key, headers, body }) {
    const etag = quotedMd5(body)
    const facts = description(headers, bucket.setup)
    bucket.objects.set(key, { body, etag, modifiedAt: new Date(), ...facts })
    return { status: 200, headers: { ETag: etag } }
  },

  GetObject(bucket, { key, headers }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
    const whole = { status: 200, headers: objectHeaders(object), body: object.body }
    if (from === undefined || bucket.setup.ranges === false) return whole
    const { length } = object.body
    const body = object.body.subarray(Number(from))
    const range = `bytes ${from}-${length - 1}/${length}`
    const ofPart = { 'Content-Range': range, 'Content-Length': String(body.length) }
    return { status: 206, headers: { ...whole.headers, ...ofPart }, body }
  },

  HeadObject(bucket, { key }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return { status: 404 }
    return { status: 200, headers: objectHeaders(object) }
  },

  GetObjectTagging(bucket, { key }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    const tags = [...new URLSearchParams(object.tags)].map(([name, value]) =>
      element('Tag', element('Key', escapeXml(name)) + element('Value', escapeXml(value))),
    )
    return answerXml('Tagging', element('TagSet', tags.join('')))
  },

  GetObjectRetention(bucket, { key }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    if (!bucket.setup.objectLock) return answerError(400, 'InvalidRequest')
    const { retention } = object
    if (retention === undefined) return answerError(404, 'NoSuchObjectLockConfiguration')
    const { mode, until } = retention
    const parts = element('Mode', mode) + element('RetainUntilDate', until.toISOString())
    return answerXml('Retention', parts)
  },

  PutObjectRetention(bucket, { key, body }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    if (!bucket.setup.objectLock) return answerError(400, 'InvalidRequest')
    const [, mode = ''] = /<Mode>(.*?)</.exec(body.toString()) ?? []
    const [, date = ''] = /<RetainUntilDate>(.*?)</.exec(body.toString()) ?? []
    const { retention } = object
    const until = new Date(date)
    if (retention && (retention.mode !== mode || retention.until > until)) {
      return answerError(403, 'AccessDenied')
    }
    if (!bucket.setup.ignores?.includes('lock')) {
      bucket.objects.set(key, { ...object, retention: { mode, until } })
    }
    return { status: 200 }
  },

  GetObjectLockConfiguration({ setup }) {
    if (!setup.objectLock) return answerError(404, 'ObjectLockConfigurationNotFoundError')
    const { defaultRetention: rule } = setup
    const parts = rule && element('Mode', rule.mode) + element('Days', String(rule.days))
    return answerXml(
      'ObjectLockConfiguration',
      element('ObjectLockEnabled', 'Enabled') +
        (parts ? element('Rule', element('DefaultRetention', parts)) : ''),
    )
  },

  GetBucketVersioning({ setup }) {
    return answerXml(
      'VersioningConfiguration',
      setup.objectLock ? element('Status', 'Enabled') : '',
    )
  },

  GetBucketLifecycleConfiguration({ setup }) {
    if (setup.lifecycle === undefined) return answerError(404, 'NoSuchLifecycleConfiguration')
    return answerXml('LifecycleConfiguration', setup.lifecycle)
  },

  DeleteObject(bucket, { key }) {
    const until = bucket.objects.get(key)?.retention?.until
    if (bucket.setup.keepsLocked && until && until > new Date()) {
      return answerError(403, 'AccessDenied')
    }
    bucket.objects.delete(key)
    return { status: 204 }
  },

  DeleteObjects(bucket, { body }) {
    const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key = '']) =>
      unescapeXml(key),
    )
    for (const key of keys) bucket.objects.delete(key)
    const deleted = keys.map((key) => element('Deleted', element('Key', escapeXml(key))))
    return answerXml('DeleteResult', deleted.join(''))
  },

  ListObjectsV2(bucket, { bucket: name, query }) {
    return listObjects(bucket, name, query)
  },

  PutObjectTagging(bucket, { key, body }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    const tags = new URLSearchParams()
    for (const [, name = '', value = ''] of body.toString().matchAll(tagPattern)) {
      tags.append(unescapeXml(name), unescapeXml(value))
    }
    bucket.objects.set(key, { ...object, tags: String(tags) })
    return { status: 200 }
  },

  // Tags and a lock that come with it are dropped, as Ceph does.
  CreateMultipartUpload(bucket, { key, headers }) {
    const id = randomUUID()
    const { metadata, encryption } = description(headers, bucket.setup)
    bucket.uploads.set(id, { key, startedAt: new Date(), parts: new Map(), metadata, encryption })
    return answerXml('InitiateMultipartUploadResult', element('UploadId', id))
  },

  UploadPart(bucket, { query, headers, body }) {
    const upload = bucket.uploads.get(query.get('uploadId') ?? '')
    if (upload === undefined) return answerError(404, 'NoSuchUpload')
    const etag = quotedMd5(body)
    upload.parts.set(Number(query.get('partNumber')), { body, etag })
    const checksum = headers['x-amz-checksum-sha256']
    const answered = checksum === undefined ? {} : { 'x-amz-checksum-sha256': checksum }
    return { status: 200, headers: { ETag: etag, ...answered } }
  },

  CompleteMultipartUpload(bucket, { query, body }) {
    return completeUpload(bucket, query.get('uploadId') ?? '', body.toString())
  },

  AbortMultipartUpload(bucket, { query }) {
    const known = bucket.uploads.delete(query.get('uploadId') ?? '')
    return known ? { status: 204 } : answerError(404, 'NoSuchUpload')
  },

  // One upload a page, so that whoever lists has to turn pages.
  ListMultipartUploads(bucket, { query }) {
    const prefix = query.get('prefix') ?? ''
    const uploads = [...bucket.uploads].filter(([, { key }]) => key.startsWith(prefix))
    const after = uploads.findIndex(([id]) => id === query.get('upload-id-marker'))
    const [upload, ...more] = uploads.slice(after + 1)
    if (upload === undefined) return answerXml('ListMultipartUploadsResult', '')
    const [id, { key, startedAt }] = upload
    const parts = [
      element('Upload', describeUpload(id, key, startedAt)),
      element('IsTruncated', String(more.length > 0)),
      element('NextKeyMarker', escapeXml(key)),
      element('NextUploadIdMarker', id),
    ]
    return answerXml('ListMultipartUploadsResult', parts.join(''))
  },
} satisfies Record<string, Handler>

export type S3Operation = keyof typeof handlers

const bucketQuestions: readonly [parameter: string, operation: S3Operation][] = [
  ['uploads', 'ListMultipartUploads'],
  ['object-lock', 'GetObjectLockConfiguration'],
  ['versioning', 'GetBucketVersioning'],
  ['lifecycle', 'GetBucketLifecycleConfiguration'],
]

/** Which operation a request asks for, `undefined` for those the server does not know. */
export function routeOperation(
  method: string,
  key: string,
  query: URLSearchParams,
): S3Operation | undefined {
  if (key === '') {
    const asked = bucketQuestions.find(([name]) => query.has(name))?.[1]
    if (method === 'GET') return asked ?? 'ListObjectsV2'
    return method === 'POST' && query.has('delete') ? 'DeleteObjects' : undefined
  }
  if (query.has('uploads')) return method === 'POST' ? 'CreateMultipartUpload' : undefined
  const plain = { PUT: 'PutObject', GET: 'GetObject', HEAD: 'HeadObject', DELETE: 'DeleteObject' }
  const inUpload = {
    PUT: 'UploadPart',
    POST: 'CompleteMultipartUpload',
    DELETE: 'AbortMultipartUpload',
  }
  const table: Record<string, string> = query.has('uploadId') ? inUpload : plain
  const part = ['Tagging', 'Retention'].find((one) => query.has(one.toLowerCase())) ?? ''
  const name = `${table[method]}${part}`
  return name in handlers ? (name as S3Operation) : undefined
}

function describeUpload(id: string, key: string, startedAt: Date): string {
  const initiated = element('Initiated', startedAt.toISOString())
  return element('Key', escapeXml(key)) + element('UploadId', id) + initiated
}

function description(headers: S3Request['headers'], setup: BucketSetup) {
  const { ignores = [] } = setup
  const metadata = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-amz-meta-'))
    .map(([name, value]) => [name.slice('x-amz-meta-'.length), value])
  return {
    metadata: Object.fromEntries(metadata) as Record<string, string>,
    tags: headers['x-amz-tagging'] ?? '',
    encryption: ignores.includes('encryption')
      ? undefined
      : headers['x-amz-server-side-encryption'],
    retention: ignores.includes('lock') ? undefined : retentionIn(headers, setup),
  }
}

function retentionIn(
  headers: S3Request['headers'],
  { defaultRetention: rule }: BucketSetup,
): Retention | undefined {
  const mode = headers['x-amz-object-lock-mode']
  const until = new Date(headers['x-amz-object-lock-retain-until-date'] ?? '')
  if (mode !== undefined) return { mode, until }
  return rule && { mode: rule.mode, until: new Date(Date.now() + rule.days * 24 * 3600_000) }
}

function objectHeaders(object: ServedObject): Record<string, string> {
  const { body, etag, modifiedAt, metadata, encryption } = object
  return {
    ...(encryption !== undefined && { 'x-amz-server-side-encryption': encryption }),
    ETag: etag,
    'Content-Length': String(body.length),
    'Last-Modified': modifiedAt.toUTCString(),
    ...Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]),
    ),
  }
}

function listObjects(bucket: ServedBucket, name: string, query: URLSearchParams): S3Answer {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : fromToken(token)
  const rows = groupByDelimiter([...bucket.objects.keys()], prefix, delimiter)
    .filter((row) => Buffer.compare(Buffer.from(row), Buffer.from(after)) > 0)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
  const page = rows.slice(0, Number(query.get('max-keys') ?? 1000))
  const last = page.at(-1)
  const isTruncated = last !== undefined && page.length < rows.length
  return answerXml(
    'ListBucketResult',
    element('Name', name) +
      element('KeyCount', String(page.length)) +
      element('IsTruncated', String(isTruncated)) +
      (isTruncated ? element('NextContinuationToken', toToken(last)) : '') +
      page.map((row) => listRow(row, bucket.objects.get(row))).join(''),
  )
}

function groupByDelimiter(keys: string[], prefix: string, delimiter: string): string[] {
  const matching = keys.filter((key) => key.startsWith(prefix))
  if (delimiter === '') return matching
  const cut = matching.map((key) => {
    const end = key.indexOf(delimiter, prefix.length)
    return end === -1 ? key : key.slice(0, end + delimiter.length)
  })
  return [...new Set(cut)]
}

function listRow(row: string, object: ServedObject | undefined): string {
  const shown = escapeXml(row)
  if (object === undefined) return element('CommonPrefixes', element('Prefix', shown))
  return element(
    'Contents',
    element('Key', shown) +
      element('LastModified', object.modifiedAt.toISOString()) +
      element('ETag', escapeXml(object.etag)) +
      element('Size', String(object.body.length)),
  )
}

function toToken(key: string): string {
  return Buffer.from(key).toString('base64url')
}

function fromToken(token: string): string {
  return Buffer.from(token, 'base64url').toString()
}

function completeUpload(bucket: ServedBucket, id: string, request: string): S3Answer {
  const upload = bucket.uploads.get(id)
  if (upload === undefined) return answerError(404, 'NoSuchUpload')
  const asked = [...request.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => part)
  const parts = asked.map((part) => {
    const number = Number(/<PartNumber>(\d+)</.exec(part)?.[1])
    const etag = unescapeXml(/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? '')
    const stored = upload.parts.get(number)
    return stored?.etag === etag ? stored : undefined
  })
  if (parts.length === 0 || parts.includes(undefined)) return answerError(400, 'InvalidPart')
  const bodies = parts.map((part) => part?.body ?? Buffer.alloc(0))
  if (bodies.slice(0, -1).some(({ length }) => length < minPartBytes)) {
    return answerError(400, 'EntityTooSmall')
  }
  const { key, metadata, encryption } = upload
  const etags = parts.map((part) => part?.etag).join('')
  const etag = `"${md5(Buffer.from(etags))}-${parts.length}"`
  const body = Buffer.concat(bodies)
  bucket.objects.set(key, { body, etag, modifiedAt: new Date(), metadata, tags: '', encryption })
  bucket.uploads.delete(id)
  return answerXml('CompleteMultipartUploadResult', element('ETag', escapeXml(etag)))
}

function quotedMd5(bytes: Uint8Array): string {
  return `"${md5(bytes)}"`
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
