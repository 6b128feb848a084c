import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { checkKey } from '../keys.ts'
import type { ObjectMetadata, ObjectStore, StoreCallOptions } from '../object-store.ts'
import { type Connection, connectToBucket } from './connection.ts'
import { withoutError } from './errors.ts'
import { examineBucket } from './examine.ts'
import { listObjects, listPrefixes } from './list.ts'
import { extendLock, readBucketLock, readLockEnd } from './lock.ts'
import type { S3StoreOptions } from './options.ts'
import { getObject, openObject } from './read.ts'
import { listUploads } from './unfinished-uploads.ts'
import { putObject, type Upload } from './upload.ts'
import { createWriter, partBytes } from './writer.ts'

/**
 * Stores objects in a bucket of an S3 server.
 *
 * Writing an existing key replaces the object, or adds a version if the bucket keeps versions. Requests
 * are repeated after transient failures. Every request may be repeated, even when only its answer was
 * lost.
 *
 * In a bucket with versions, which Object Lock requires, removing hides the object with a delete marker.
 * Its bytes stay until a lifecycle rule (NoncurrentVersionExpiration) removes old versions, and never go
 * before the end of a lock.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = connectToBucket(options)
  const checked = (key: string): string => {
    checkKey(connection.fullKey(key))
    return key
  }
  let locksObjects: boolean | undefined

  return {
    url: connection.url,

    async put(key, body, { signal, lockFrom, metadata = {} } = {}) {
      signal?.throwIfAborted()
      const target = { key: checked(key), signal, lockFrom }
      await putBody(connection, target, body, metadata)
    },

    async create(key, { signal, lockFrom, metadata = () => ({}) } = {}) {
      signal?.throwIfAborted()
      return createWriter(connection, checked(key), { signal, metadata, lockFrom })
    },

    async get(key, { signal, maxBytes }) {
      signal?.throwIfAborted()
      return await getObject(connection, { key: checked(key), signal }, maxBytes)
    },

    async open(key, { signal } = {}) {
      signal?.throwIfAborted()
      return await openObject(connection, { key: checked(key), signal })
    },

    async *list(prefix, { startAfter, signal } = {}) {
      yield* listObjects(connection, prefix, { startAfter: startAfter || undefined, signal })
    },

    async *listPrefixes({ signal } = {}) {
      yield* listPrefixes(connection, signal)
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted()
      await removeObject(connection, { key: checked(key), signal })
    },

    async protect(key, { signal, lockFrom }) {
      signal?.throwIfAborted()
      return await extendLock(connection, { key: checked(key), signal }, lockFrom)
    },

    async lockedUntil(key, { signal } = {}) {
      signal?.throwIfAborted()
      const target = { key: checked(key), signal }
      locksObjects ??= (await readBucketLock(connection, { signal })) !== undefined
      return locksObjects ? await readLockEnd(connection, target) : undefined
    },

    async *examine(options = {}) {
      yield* examineBucket(connection, options)
    },

    async *listUnfinished(options = {}) {
      yield* listUploads(connection, options)
    },

    async close() {
      connection.close()
    },
  }
}

async function removeObject(
  { bucket, fullKey, call }: Connection,
  { key, signal }: StoreCallOptions & { readonly key: string },
): Promise<void> {
  const command = new DeleteObjectCommand({ Bucket: bucket, Key: fullKey(key) })
  await call({ action: 'remove', key, signal, rights: 's3:DeleteObject' }, (client, options) =>
    client.send(command, options).catch(withoutError(['NoSuchKey'])),
  )
}

/** Stores the bytes with one request, or as a multipart upload when they are larger than a part. */
async function putBody(
  connection: Connection,
  { key, signal, lockFrom }: Upload,
  body: Uint8Array,
  metadata: ObjectMetadata,
): Promise<void> {
  if (body.length <= partBytes) {
    return await putObject(connection, { key, signal, lockFrom }, body, metadata)
  }
  const options = { signal, lockFrom, metadata: () => metadata }
  await using writer = createWriter(connection, key, options)
  await writer.write(body)
  await writer.commit()
}
