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

/** An object whose lock is asked for or set. */
type LockTarget = StoreCallOptions & { readonly key: string }

interface Retention {
  readonly mode: ObjectLockRetentionMode
  readonly until: Date
}

/** How servers say that neither the bucket nor the object has a lock: S3 and Ceph differ. */
const noLock = ['NoSuchObjectLockConfiguration', 'ObjectLockConfigurationNotFoundError']

/** What a request to write says of the lock. */
export function lockMembers({ lock }: Connection, lockFrom: Date | undefined) {
  if (lock === undefined || lockFrom === undefined) return {}
  const { mode, until } = retentionFor(lock, lockFrom)
  return { ObjectLockMode: mode, ObjectLockRetainUntilDate: until }
}

/**
 * Makes sure that what has just been written is locked, by asking. A lock that came with the write
 * and is not there is set on its own: Ceph passes over that of an upload in parts. Throws when the
 * server takes the request and does not keep the lock either.
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
 * Locks an object that is already there as long as one written now, in the mode it has. Returns
 * false when that is governance and compliance is asked for: to change it takes the right to lift
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

/** Until when an object is locked, or was; `undefined` when it never was or is not there. */
export async function readLockEnd(
  connection: Connection,
  target: LockTarget,
): Promise<Date | undefined> {
  return (await readRetention(connection, target))?.until
}

/** How the bucket locks objects; `undefined` when it does not, or the server has no such thing. */
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

/** On a full second, since a server may keep no more of a date. */
function retentionFor({ mode, durationMs }: ObjectLock, lockFrom: Date): Retention {
  const seconds = Math.ceil((lockFrom.getTime() + durationMs) / 1000)
  const until = new Date(seconds * 1000)
  return { mode: mode === 'governance' ? 'GOVERNANCE' : 'COMPLIANCE', until }
}

function covers(found: Retention | undefined, { mode, until }: Retention): boolean {
  return found !== undefined && found.mode === mode && found.until >= until
}

/**
 * A server without Object Lock does not know the question. It may answer with the object's own bytes,
 * as Swift does, which would take the setting of a lock for new bytes of the object: so the lock is
 * asked for before one is ever set.
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
            hint: 'Take store.lock out of the configuration, or use another server',
          },
        )
      }),
  )
  const { Mode: mode, RetainUntilDate: until } = answer?.Retention ?? {}
  return mode && until && { mode, until }
}

/** Sets a lock and asks whether it is there. */
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
    `Cannot lock ${url}/${key}: the server takes the lock and does not keep it`,
    { hint: 'Use a server and a bucket with Object Lock, or configure no store.lock' },
  )
}
