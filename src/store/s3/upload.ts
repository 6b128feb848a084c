import { hash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { StoreError } from '../errors.ts'
import type { ObjectMetadata } from '../object-store.ts'
import type { Call, Connection } from './connection.ts'
import { confirmEncryption, encryptionMembers } from './encryption.ts'
import { UnexpectedAnswer, UploadUnconfirmed } from './errors.ts'
import { confirmLock, lockMembers } from './lock.ts'
import { encodeMetadata, encodeTags, toTags } from './metadata.ts'

/** Maximum number of parts of an upload, as in S3. */
const maxParts = 10_000

const abortTimeoutMs = 10_000

/** An object that is being written. */
export interface Upload {
  readonly key: string
  readonly signal: AbortSignal | undefined
  /** Start of the lock, if the object is to be locked. */
  readonly lockFrom: Date | undefined
}

/** A multipart upload. The object becomes visible when `complete` resolves. */
export interface MultipartUpload {
  uploadPart(bytes: Uint8Array): Promise<void>
  complete(): Promise<void>
  /** Removes the parts, even when the signal has aborted. Never throws. */
  abort(): Promise<void>
}

/** Stores an object with one request. */
export async function putObject(
  connection: Connection,
  upload: Upload,
  body: Uint8Array,
  metadata: ObjectMetadata,
): Promise<void> {
  const call = { ...writing(connection, upload), bytes: body.length }
  await connection.call(call, async (client, options) => {
    const command = new PutObjectCommand({
      ...target(connection, upload.key),
      ...description(connection, upload, metadata),
      Body: body,
      ContentLength: body.length,
      ...checksumOf(connection, body),
    })
    required((await client.send(command, options)).ETag, 'ETag')
  })
  await confirm(connection, upload)
}

/** Begins a multipart upload. */
export async function beginUpload(
  connection: Connection,
  begun: Upload,
  metadata: ObjectMetadata,
): Promise<MultipartUpload> {
  const { key, signal } = begun
  const call = writing(connection, begun)
  const id = await connection.call(call, async (client, options) => {
    const command = new CreateMultipartUploadCommand({
      ...target(connection, key),
      ...description(connection, begun, metadata),
      ...(connection.checksums && checksumAlgorithm),
    })
    return required((await client.send(command, options)).UploadId, 'UploadId')
  })
  const upload = { ...target(connection, key), UploadId: id }
  const parts: CompletedPart[] = []
  let size = 0

  return {
    async uploadPart(bytes) {
      if (parts.length === maxParts) throw tooLarge(connection, key, size)
      size += bytes.length
      const number = parts.length + 1
      parts.push(await sendPart(connection, call, { ...upload, number }, bytes))
    },
    async complete() {
      try {
        await sendComplete(connection, call, { ...upload, parts })
      } catch (error) {
        if (signal?.aborted || !(await isStored(connection, begun, size))) throw error
      }
      if (connection.tagging) await sendTags(connection, begun, metadata)
      await confirm(connection, begun)
    },
    async abort() {
      const call = {
        action: 'abort the upload of',
        key,
        rights: 's3:AbortMultipartUpload',
        signal: AbortSignal.timeout(abortTimeoutMs),
      }
      await connection
        .call(call, (client, options) =>
          client.send(new AbortMultipartUploadCommand(upload), options),
        )
        .catch(() => undefined)
    },
  }
}

interface UploadTarget {
  readonly Bucket: string
  readonly Key: string
  readonly UploadId: string
}

async function sendPart(
  connection: Connection,
  call: Call,
  { number, ...upload }: UploadTarget & { number: number },
  bytes: Uint8Array,
): Promise<CompletedPart> {
  const sending = { ...call, bytes: bytes.length }
  return await connection.call(sending, async (client, options) => {
    const command = new UploadPartCommand({
      ...upload,
      PartNumber: number,
      Body: bytes,
      ContentLength: bytes.length,
      ...checksumOf(connection, bytes),
    })
    const { ETag, ChecksumSHA256 } = await client.send(command, options)
    return {
      PartNumber: number,
      ETag: required(ETag, 'ETag'),
      ...(ChecksumSHA256 !== undefined && { ChecksumSHA256 }),
    }
  })
}

async function sendComplete(
  connection: Connection,
  call: Call,
  { parts, ...upload }: UploadTarget & { parts: CompletedPart[] },
): Promise<void> {
  await connection.call(call, async (client, options) => {
    const command = new CompleteMultipartUploadCommand({
      ...upload,
      MultipartUpload: { Parts: parts },
    })
    const { ETag } = await client.send(command, options)
    if (ETag === undefined) throw new UploadUnconfirmed('the server did not confirm the upload')
  })
}

/** Sets the tags again: some servers ignore the tags of a multipart upload. */
async function sendTags(
  connection: Connection,
  { key, signal }: Upload,
  metadata: ObjectMetadata,
): Promise<void> {
  const command = new PutObjectTaggingCommand({
    ...target(connection, key),
    Tagging: { TagSet: toTags(metadata) },
  })
  await connection.call(
    { action: 'tag', key, signal, rights: 's3:PutObjectTagging' },
    (client, options) => client.send(command, options),
  )
}

/**
 * Whether the object exists with its full size. A server forgets a completed upload, so a repeated request
 * fails when only the first answer was lost.
 */
async function isStored(
  connection: Connection,
  { key, signal }: Upload,
  size: number,
): Promise<boolean> {
  const call = { action: 'look for', key, signal, rights: 's3:GetObject' }
  const command = new HeadObjectCommand(target(connection, key))
  try {
    const { ContentLength } = await connection.call(call, (client, options) =>
      client.send(command, options),
    )
    return ContentLength === size
  } catch {
    return false
  }
}

/** Checks encryption and lock of a new object: some servers answer 200 and ignore them. */
async function confirm(connection: Connection, upload: Upload): Promise<void> {
  await confirmEncryption(connection, upload)
  await confirmLock(connection, upload, upload.lockFrom)
}

function writing({ lock, tagging }: Connection, { key, signal, lockFrom }: Upload): Call {
  const more = [tagging && 's3:PutObjectTagging', lock && lockFrom && 's3:PutObjectRetention']
  const rights = ['s3:PutObject', ...more]
    .filter((right) => typeof right === 'string')
    .join(' and ')
  return { action: 'write', key, signal, rights }
}

function target({ bucket, fullKey }: Connection, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: fullKey(key) }
}

function description(connection: Connection, { lockFrom }: Upload, metadata: ObjectMetadata) {
  return {
    Metadata: encodeMetadata(metadata),
    ...lockMembers(connection, lockFrom),
    ...encryptionMembers(connection),
    ...(connection.tagging && { Tagging: encodeTags(metadata) }),
  }
}

/**
 * The checksum of a request. S3 requires one for objects with a lock. Every server supports MD5.
 */
function checksumOf({ checksums }: Connection, bytes: Uint8Array) {
  return checksums ? checksumAlgorithm : { ContentMD5: hash('md5', bytes, 'base64') }
}

const checksumAlgorithm = { ChecksumAlgorithm: 'SHA256' } as const

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new UnexpectedAnswer(`The answer has no ${name}`)
  return value
}

function tooLarge(connection: Connection, key: string, size: number): StoreError {
  return new StoreError(
    `Cannot write ${connection.url}/${key}: it has more than ${size} bytes, the maximum size`,
  )
}
