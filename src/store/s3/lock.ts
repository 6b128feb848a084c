import {
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  type ObjectLockConfiguration,
  type ObjectLockRetentionMode,
  PutObjectRetentionCommand,
} from '@aws-sdk/client-s3'
import { StoreError } from '../errors.ts'
import type { StoreCallOptions } from '../object-store.ts'
import type { Connection } from './connection.ts'
import { isUnknownQuestion, withoutError, withoutSupport } from './errors.ts'
import type { ObjectLock } from './options.ts'

/** An object whose lock is read or set. */
type LockTarget = StoreCallOptions & { readonly key: string }

interface Retention {
  readonly mode: ObjectLockRetentionMode
  readonly until: Date
}

/** Errors of S3 and Ceph when the bucket or the object has no lock. */
const noLock = ['NoSuchObjectLockConfiguration', 'ObjectLockConfigurationNotFoundError']

/** The members of a write request that lock the object. */
export function lockMembers(
  { lock }: Connection,
  lockFrom: Date | undefined,
): { ObjectLockMode?: ObjectLockRetentionMode; ObjectLockRetainUntilDate?: Date } {
  if (lock === undefined || lockFrom === undefined) return {}
  const { mode, until } = retentionFor(lock, lockFrom)
  return { ObjectLockMode: mode, ObjectLockRetainUntilDate: until }
}

/**
 * Asks the server whether the new object is locked. If it is not, sets the lock with a request of its
 * own: Ceph ignores the lock of a multipart upload. Throws when the object is still not locked.
 */
export async function confirmLock(
  connection: Connection,
  target: LockTarget,
  lockFrom: Date | undefined,
): Promise<void> {
  const { lock } = connection
  if (lock === undefined || lockFrom === undefined) return
  const wanted = retentionFor(lock, lockFrom)
  const found = await readRetention(connection, target)
  if (!covers(found, wanted)) await setRetention(connection, target, wanted)
}

/**
 * Extends the lock of an existing object to that of a new object, and keeps its mode. Returns false when
 * its mode is governance and compliance is configured: changing the mode needs the permission to remove
 * every lock.
 */
export async function extendLock(
  connection: Connection,
  target: LockTarget,
  lockFrom: Date,
): Promise<boolean> {
  if (connection.lock === undefined) return true
  const { mode, until } = retentionFor(connection.lock, lockFrom)
  const found = await readRetention(connection, target)
  if (found?.mode === 'GOVERNANCE' && mode === 'COMPLIANCE') return false
  if (found === undefined || found.until < until) {
    await setRetention(connection, target, { mode: found?.mode ?? mode, until })
  }
  return true
}

/** The end of the lock of an object; `undefined` when it has none or does not exist. */
export async function readLockEnd(
  connection: Connection,
  target: LockTarget,
): Promise<Date | undefined> {
  return (await readRetention(connection, target))?.until
}

/** The bucket's Object Lock settings; `undefined` when it has none or the server does not support them. */
export async function readBucketLock(
  connection: Connection,
  { signal }: StoreCallOptions,
): Promise<ObjectLockConfiguration | undefined> {
  const command = new GetObjectLockConfigurationCommand({ Bucket: connection.bucket })
  const call = {
    action: 'ask for the Object Lock of',
    signal,
    rights: 's3:GetBucketObjectLockConfiguration',
  }
  const answer = await connection.call(call, (client, options) =>
    client.send(command, options).catch(withoutError(noLock)).catch(withoutSupport),
  )
  const found = answer?.ObjectLockConfiguration
  return found?.ObjectLockEnabled === 'Enabled' ? found : undefined
}

/** The wanted lock. Its end is a full second, because a server may store no fraction. */
function retentionFor({ mode, durationMs }: ObjectLock, lockFrom: Date): Retention {
  const seconds = Math.ceil((lockFrom.getTime() + durationMs) / 1000)
  const until = new Date(seconds * 1000)
  return { mode: mode === 'governance' ? 'GOVERNANCE' : 'COMPLIANCE', until }
}

function covers(found: Retention | undefined, { mode, until }: Retention): boolean {
  return found !== undefined && found.mode === mode && found.until >= until
}

/**
 * Reads the lock of an object. A server without Object Lock does not know this request, and may answer
 * with the object's bytes, as Swift does. Such a server would store a new lock as new bytes of the object.
 * So dashkeep always reads a lock before it sets one.
 */
async function readRetention(
  { bucket, fullKey, call, url }: Connection,
  { key, signal }: LockTarget,
): Promise<Retention | undefined> {
  const command = new GetObjectRetentionCommand({ Bucket: bucket, Key: fullKey(key) })
  const about = { action: 'ask for the lock of', key, signal, rights: 's3:GetObjectRetention' }
  const answer = await call(about, (client, options) =>
    client
      .send(command, options)
      .catch(withoutError([...noLock, 'NoSuchKey']))
      .catch((error) => {
        if (!isUnknownQuestion(error)) throw error
        throw new StoreError(
          `Cannot ask for the lock of ${url}/${key}: the server has no Object Lock`,
          {
            kind: 'usage',
            hint: 'remove store.lock from the configuration, or use another server',
          },
        )
      }),
  )
  const { Mode: mode, RetainUntilDate: until } = answer?.Retention ?? {}
  return mode && until && { mode, until }
}

/** Sets a lock. Throws when the server does not store it. */
async function setRetention(
  connection: Connection,
  target: LockTarget,
  wanted: Retention,
): Promise<void> {
  const { bucket, fullKey, call, url } = connection
  const { key, signal } = target
  const command = new PutObjectRetentionCommand({
    Bucket: bucket,
    Key: fullKey(key),
    Retention: { Mode: wanted.mode, RetainUntilDate: wanted.until },
  })
  const about = { action: 'lock', key, signal, rights: 's3:PutObjectRetention' }
  await call(about, (client, options) => client.send(command, options))
  if (covers(await readRetention(connection, target), wanted)) return
  throw new StoreError(
    `Cannot lock ${url}/${key}: the server accepts the lock but does not store it`,
    { hint: 'use a server and a bucket with Object Lock, or remove store.lock' },
  )
}
