import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
} from '@aws-sdk/client-s3'
import type { StoreCallOptions, UnfinishedWrite } from './object-store.ts'
import type { S3Connection } from './s3-connection.ts'
import { UnexpectedAnswer, withoutError } from './s3-errors.ts'

/** Lists the uploads below the store's prefix that were neither completed nor aborted. */
export async function* listUploads(
  connection: S3Connection,
  { signal }: StoreCallOptions,
): AsyncGenerator<UnfinishedWrite> {
  const { bucket, fullKey } = connection
  let position: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
  for (;;) {
    const command = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: fullKey(''),
      ...position,
    })
    const call = { action: 'list uploads of', signal }
    const page = await connection.call(call, async (client, options) => {
      const answer = await client.send(command, options)
      const uploads = (answer.Uploads ?? []).map((upload) => describeUpload(connection, upload))
      return { ...answer, uploads }
    })
    yield* page.uploads
    const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    const makesProgress =
      next.KeyMarker !== position.KeyMarker || next.UploadIdMarker !== position.UploadIdMarker
    if (!page.IsTruncated || !makesProgress) return
    position = next
  }
}

function describeUpload(connection: S3Connection, upload: MultipartUpload): UnfinishedWrite {
  const { Key, UploadId, Initiated } = upload
  if (Key === undefined || UploadId === undefined || Initiated === undefined) {
    throw new UnexpectedAnswer('The listing of uploads lacks a key, an id or a date')
  }
  const key = Key.slice(connection.fullKey('').length)
  return {
    key,
    startedAt: Initiated,
    async remove({ signal } = {}) {
      const call = { action: 'abort the upload of', key, signal }
      const command = new AbortMultipartUploadCommand({ Bucket: connection.bucket, Key, UploadId })
      await connection.call(call, (client, options) =>
        client.send(command, options).catch(withoutError(['NoSuchUpload'])),
      )
    },
  }
}
