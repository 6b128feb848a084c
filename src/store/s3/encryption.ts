import { HeadObjectCommand, type ServerSideEncryption } from '@aws-sdk/client-s3'
import { StoreError } from '../errors.ts'
import type { StoreCallOptions } from '../object-store.ts'
import type { Connection } from './connection.ts'
import type { ServerEncryption } from './options.ts'

const algorithms: Record<ServerEncryption['mode'], ServerSideEncryption> = {
  'sse-s3': 'AES256',
  'sse-kms': 'aws:kms',
}

/** What a request to write says of encryption by the server. */
export function encryptionMembers({ encryption }: Connection) {
  if (encryption === undefined) return {}
  const { mode, keyId } = encryption
  return {
    ServerSideEncryption: algorithms[mode],
    ...(keyId !== undefined && { SSEKMSKeyId: keyId }),
  }
}

/** Makes sure, by asking, that what has just been written is encrypted as configured. */
export async function confirmEncryption(
  { bucket, fullKey, call, url, encryption }: Connection,
  { key, signal }: StoreCallOptions & { readonly key: string },
): Promise<void> {
  if (encryption === undefined) return
  const command = new HeadObjectCommand({ Bucket: bucket, Key: fullKey(key) })
  const about = { action: 'ask for the encryption of', key, signal, rights: 's3:GetObject' }
  const found = await call(about, (client, options) => client.send(command, options))
  if (found.ServerSideEncryption === algorithms[encryption.mode]) return
  const state = found.ServerSideEncryption ?? 'none'
  throw new StoreError(
    `Cannot have ${url}/${key} encrypted: the server takes ${encryption.mode} and answers with ${state}`,
    {
      hint: 'Use a server that encrypts, or configure no store.encryption; `encryption.recipients` needs no server',
    },
  )
}
