import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type MultipartUpload,
} from '@aws-sdk/client-s3'
import type { StoreCallOptions, UnfinishedWrite } from '../object-store.ts'
import type { Connection } from './connection.ts'
import { UnexpectedAnswer, withoutError, withoutSupport } from './errors.ts'

/**
 * Lists the unfinished multipart uploads below the store's prefix. Lists none when the server cannot list
 * them.
 */
export async function* listUploads(
  connection: Connection,
  { signal }: StoreCallOptions,
): AsyncGenerator<UnfinishedWrite> {
  const { fullKey } = connection
  let position: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
  for (;;) {
    const page = await listPage(connection, { Prefix: fullKey(''), ...position }, { signal })
    if (page === undefined) return
    yield* page.uploads
    const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    const makesProgress =
      next.KeyMarker !== position.KeyMarker || next.UploadIdMarker !== position.UploadIdMarker
    if (!page.IsTruncated || !makesProgress) return
    position = next
  }
}

/** Whether the server can list uploads. Throws when the credentials may not. */
export async function canListUploads(
  connection: Connection,
  options: StoreCallOptions,
): Promise<boolean> {
  const first = { Prefix: connection.fullKey(''), MaxUploads: 1 }
  return (await listPage(connection, first, options)) !== undefined
}

/** Aborts an upload that does not exist. Throws when the credentials may not abort uploads. */
export async function tryAbort(
  connection: Connection,
  { signal }: StoreCallOptions,
): Promise<void> {
  const { bucket, fullKey } = connection
  const command = new AbortMultipartUploadCommand({
    Bucket: bucket,
    Key: fullKey('doctor/no-upload'),
    UploadId: '0123456789abcdef',
  })
  const call = { action: 'abort uploads in', signal, rights: 's3:AbortMultipartUpload' }
  await connection.call(call, (client, options) =>
    client.send(command, options).catch(withoutError(['NoSuchUpload', 'InvalidArgument'])),
  )
}

async function listPage(
  connection: Connection,
  position: Omit<ListMultipartUploadsCommandInput, 'Bucket'>,
  { signal }: StoreCallOptions,
) {
  const command = new ListMultipartUploadsCommand({ Bucket: connection.bucket, ...position })
  const call = { action: 'list uploads of', signal, rights: 's3:ListBucketMultipartUploads' }
  return await connection.call(call, async (client, options) => {
    const answer = await client.send(command, options).catch(withoutSupport)
    if (answer === undefined) return undefined
    const uploads = (answer.Uploads ?? []).map((upload) => describeUpload(connection, upload))
    return { ...answer, uploads }
  })
}

function describeUpload(connection: Connection, upload: MultipartUpload): UnfinishedWrite {
  const { Key, UploadId, Initiated } = upload
  if (Key === undefined || UploadId === undefined || Initiated === undefined) {
    throw new UnexpectedAnswer('The list of uploads has no key, id or date')
  }
  const key = Key.slice(connection.fullKey('').length)
  return {
    key,
    startedAt: Initiated,
    async remove({ signal } = {}) {
      const rights = 's3:AbortMultipartUpload'
      const call = { action: 'abort the upload of', key, signal, rights }
      const command = new AbortMultipartUploadCommand({ Bucket: connection.bucket, Key, UploadId })
      await connection.call(call, (client, options) =>
        client.send(command, options).catch(withoutError(['NoSuchUpload'])),
      )
    },
  }
}
