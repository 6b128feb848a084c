import { HeadObjectCommand, type ServerSideEncryption } from '@aws-sdk/client-s3'
import { StoreError } from '../errors.ts'
import type { StoreCallOptions } from '../object-store.ts'
import type { Connection } from './connection.ts'
import type { ServerEncryption } from './options.ts'

const algorithms: Record<ServerEncryption['mode'], ServerSideEncryption> = {
  'sse-s3': 'AES256',
  'sse-kms': 'aws:kms',
}

/** The members of a write request that ask the server to encrypt. */
export function encryptionMembers({ encryption }: Connection): {
  ServerSideEncryption?: ServerSideEncryption
  SSEKMSKeyId?: string
} {
  if (encryption === undefined) return {}
  const { mode, keyId } = encryption
  return {
    ServerSideEncryption: algorithms[mode],
    ...(keyId !== undefined && { SSEKMSKeyId: keyId }),
  }
}

/** Asks the server whether the new object is encrypted as configured. Throws when it is not. */
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
    `Cannot encrypt ${url}/${key}: the server accepts ${encryption.mode} but reports ${state}`,
    {
      hint: 'use a server that encrypts, or remove store.encryption; encryption.recipients works with any server',
    },
  )
}
