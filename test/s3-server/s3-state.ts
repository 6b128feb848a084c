import { createHash, randomUUID } from 'node:crypto'
import { answerError, answerXml, element, escapeXml, type S3Answer, unescapeXml } from './s3-xml.ts'

/** What an object is to the server. */
export interface ServedObject {
  readonly body: Buffer
  readonly etag: string
  readonly modifiedAt: Date
  readonly metadata: Readonly<Record<string, string>>
  readonly tags: string
}

export interface ServedUpload {
  readonly key: string
  readonly startedAt: Date
  readonly metadata: Readonly<Record<string, string>>
  readonly parts: Map<number, { body: Buffer; etag: string }>
}

/** One bucket in memory. */
export interface ServedBucket {
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
    bucket.objects.set(key, { body, etag, modifiedAt: new Date(), ...description(headers) })
    return { status: 200, headers: { ETag: etag } }
  },

  GetObject(bucket, { key }) {
    const object = bucket.objects.get(key)
    if (object === undefined) return answerError(404, 'NoSuchKey')
    return { status: 200, headers: objectHeaders(object), body: object.body }
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

  DeleteObject(bucket, { key }) {
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

  // Tags that come with it are dropped, as Ceph does.
  CreateMultipartUpload(bucket, { key, headers }) {
    const id = randomUUID()
    const { metadata } = description(headers)
    bucket.uploads.set(id, { key, startedAt: new Date(), parts: new Map(), metadata })
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

/** Which operation a request asks for, `undefined` for those the server does not know. */
export function routeOperation(
  method: string,
  key: string,
  query: URLSearchParams,
): S3Operation | undefined {
  if (key === '') {
    if (method === 'GET') return query.has('uploads') ? 'ListMultipartUploads' : 'ListObjectsV2'
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
  const name = query.has('tagging') ? `${table[method]}Tagging` : table[method]
  return name !== undefined && name in handlers ? (name as S3Operation) : undefined
}

function describeUpload(id: string, key: string, startedAt: Date): string {
  const initiated = element('Initiated', startedAt.toISOString())
  return element('Key', escapeXml(key)) + element('UploadId', id) + initiated
}

function description(headers: S3Request['headers']) {
  const metadata = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-amz-meta-'))
    .map(([name, value]) => [name.slice('x-amz-meta-'.length), value])
  return {
    metadata: Object.fromEntries(metadata) as Record<string, string>,
    tags: headers['x-amz-tagging'] ?? '',
  }
}

function objectHeaders({ body, etag, modifiedAt, metadata }: ServedObject): Record<string, string> {
  return {
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
  const { key, metadata } = upload
  const etag = `"${createHash('md5').update(Buffer.concat(bodies)).digest('hex')}-${parts.length}"`
  const body = Buffer.concat(bodies)
  bucket.objects.set(key, { body, etag, modifiedAt: new Date(), metadata, tags: '' })
  bucket.uploads.delete(id)
  return answerXml('CompleteMultipartUploadResult', element('ETag', escapeXml(etag)))
}

function quotedMd5(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}
