import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  type LifecycleRule,
  type ObjectLockConfiguration,
} from '@aws-sdk/client-s3'
import { describeProxy } from '../../http/proxy.ts'
import { StoreError } from '../errors.ts'
import type { StoreCallOptions, StoreFinding } from '../object-store.ts'
import type { Connection } from './connection.ts'
import { withoutError, withoutSupport } from './errors.ts'
import { readBucketLock } from './lock.ts'
import type { ObjectLock } from './options.ts'
import { canListUploads, tryAbort } from './unfinished-uploads.ts'

/**
 * Reports the settings of the bucket that protect or remove snapshots: versions, Object Lock and
 * lifecycle rules. A failed query is a finding, too, not a failure.
 */
export async function* examineBucket(
  connection: Connection,
  options: StoreCallOptions,
): AsyncGenerator<StoreFinding> {
  const keepsVersions = yield* ask('versioning', readVersioning(connection, options), (enabled) => [
    describeVersioning(enabled),
  ])
  const bucketLock = readBucketLock(connection, options)
  yield* ask('lock', bucketLock, (found) => [describeLock(found, connection.lock)], 'prune')
  const proxy = connection.proxyInUse()
  if (proxy) yield { subject: 'proxy', result: 'ok', detail: describeProxy(proxy) }
  const root = connection.fullKey('')
  yield* ask('lifecycle', readRules(connection, root, options), (rules) =>
    describeRules(rules, { root, keepsVersions: keepsVersions ?? false }),
  )
  yield* ask('uploads', askForUploads(connection, options), describeUploads, 'prune')
}

/** Yields the findings of an answer, or of a failed query, and returns the answer. */
async function* ask<T>(
  subject: string,
  question: Promise<T>,
  describe: (answer: T) => Omit<StoreFinding, 'subject'>[],
  hinders?: 'prune',
): AsyncGenerator<StoreFinding, T | undefined> {
  try {
    const answer = await question
    for (const finding of describe(answer)) yield { subject, ...finding }
    return answer
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const { message, hint } = error
    yield { subject, result: 'warning', detail: `not checked: ${message}`, hint, hinders }
    return undefined
  }
}

async function readVersioning(
  { bucket, call }: Connection,
  { signal }: StoreCallOptions,
): Promise<boolean> {
  const command = new GetBucketVersioningCommand({ Bucket: bucket })
  const about = { action: 'ask for the versioning of', signal, rights: 's3:GetBucketVersioning' }
  const answer = await call(about, (client, options) =>
    client.send(command, options).catch(withoutSupport),
  )
  return answer?.Status === 'Enabled'
}

function describeVersioning(enabled: boolean): Omit<StoreFinding, 'subject'> {
  if (enabled) return { result: 'ok', detail: 'the bucket keeps versions' }
  return {
    result: 'warning',
    detail: 'the bucket keeps no versions: overwritten and deleted objects are lost',
    hint: 'enable versioning of the bucket',
  }
}

function describeLock(
  found: ObjectLockConfiguration | undefined,
  lock: ObjectLock | undefined,
): Omit<StoreFinding, 'subject'> {
  const byBucket = found?.Rule?.DefaultRetention !== undefined
  if (found === undefined) {
    return {
      result: lock ? 'failed' : 'warning',
      detail: lock
        ? 'the bucket has no Object Lock, which store.lock needs'
        : 'the bucket has no Object Lock: whoever has its keys can delete every snapshot',
      hint: 'create a bucket with Object Lock, or enable it if the server supports that',
    }
  }
  if (lock) return { result: 'ok', detail: `files are locked in ${lock.mode} mode` }
  if (byBucket) return { result: 'ok', detail: 'the bucket locks every new object' }
  return {
    result: 'warning',
    detail: 'the bucket has Object Lock, but nothing locks files',
    hint: 'configure store.lock, for example { mode: governance, duration: 30d }',
  }
}

/** The enabled rules that may affect the store; `undefined` when the server has no rules. */
async function readRules(
  { bucket, call }: Connection,
  root: string,
  { signal }: StoreCallOptions,
): Promise<LifecycleRule[] | undefined> {
  const command = new GetBucketLifecycleConfigurationCommand({ Bucket: bucket })
  const about = {
    action: 'ask for the lifecycle rules of',
    signal,
    rights: 's3:GetLifecycleConfiguration',
  }
  const answer = await call(about, (client, options) =>
    client
      .send(command, options)
      .catch(withoutError(['NoSuchLifecycleConfiguration']))
      .then((found) => found?.Rules ?? [])
      .catch(withoutSupport),
  )
  return answer?.filter((rule) => {
    const prefix = prefixOf(rule)
    return rule.Status === 'Enabled' && (prefix.startsWith(root) || root.startsWith(prefix))
  })
}

function prefixOf({ Filter, Prefix }: LifecycleRule): string {
  return Filter?.And?.Prefix ?? Filter?.Prefix ?? Prefix ?? ''
}

function describeRules(
  rules: readonly LifecycleRule[] | undefined,
  { root, keepsVersions }: { root: string; keepsVersions: boolean },
): Omit<StoreFinding, 'subject'>[] {
  if (rules === undefined) {
    return [
      { result: 'ok', detail: 'the server has no lifecycle rules, so none removes snapshots' },
    ]
  }
  const findings: Omit<StoreFinding, 'subject'>[] = rules
    .filter(({ Expiration }) => Expiration?.Days !== undefined || Expiration?.Date !== undefined)
    .map((rule) => ({
      result: 'warning',
      detail: `${describeRule(rule)}, snapshots included`,
      hint: `exclude ${root || 'this bucket'} from the rule; \`dashkeep prune\` removes snapshots`,
    }))
  if (findings.length === 0) findings.push({ result: 'ok', detail: 'no rule removes snapshots' })
  if (keepsVersions && !rules.some((rule) => rule.NoncurrentVersionExpiration)) {
    findings.push({
      result: 'warning',
      detail: 'no rule removes old versions: removed snapshots still use space',
      hint: 'add a lifecycle rule with NoncurrentVersionExpiration',
    })
  }
  return findings
}

/** Whether unfinished uploads can be listed. Throws when they cannot be aborted. */
async function askForUploads(connection: Connection, options: StoreCallOptions): Promise<boolean> {
  const canList = await canListUploads(connection, options)
  if (canList) await tryAbort(connection, options)
  return canList
}

function describeUploads(canList: boolean): Omit<StoreFinding, 'subject'>[] {
  if (canList) return [{ result: 'ok', detail: 'unfinished uploads can be listed and aborted' }]
  return [
    {
      result: 'warning',
      detail:
        'the server does not list unfinished uploads, so prune cannot remove those of killed runs',
      hint: 'add a lifecycle rule with AbortIncompleteMultipartUpload, or remove them on the server',
    },
  ]
}

function describeRule(rule: LifecycleRule): string {
  const { ID, Expiration, Filter } = rule
  const name = ID === undefined ? 'a rule' : `the rule ${ID}`
  const when =
    Expiration?.Days === undefined
      ? `on ${Expiration?.Date?.toISOString().slice(0, 10)}`
      : `after ${Expiration.Days} days`
  const { And, Tag, ObjectSizeGreaterThan, ObjectSizeLessThan } = Filter ?? {}
  const limits = [Tag, ObjectSizeGreaterThan, ObjectSizeLessThan, And?.Tags]
  const some = limits.some((limit) => limit !== undefined) ? 'some ' : ''
  const prefix = prefixOf(rule)
  const below = prefix === '' ? '' : ` below ${prefix}`
  return `${name} removes ${some}objects${below} ${when}`
}
