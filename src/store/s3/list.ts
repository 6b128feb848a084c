import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { StoreError } from '../errors.ts'
import { compareKeys, isKey } from '../keys.ts'
import type { StoreCallOptions, StoredObject } from '../object-store.ts'
import type { Connection } from './connection.ts'
import { UnexpectedAnswer } from './errors.ts'

/** Lists the objects of a bucket in the order of their keys. Throws when the server has another order. */
export async function* listObjects(
  connection: Connection,
  prefix: string,
  { startAfter, signal }: StoreCallOptions & { startAfter: string | undefined },
): AsyncGenerator<StoredObject> {
  let last = startAfter
  let token: string | undefined
  for (;;) {
    const page = await fetchPage(connection, prefix, { token, startAfter: last, signal })
    for (const object of page.objects) {
      if (startAfter !== undefined && compareKeys(object.key, startAfter) <= 0) continue
      if (last !== undefined && compareKeys(object.key, last) <= 0) throw disordered(connection)
      last = object.key
      if (isKey(object.key)) yield object
    }
    if (!page.isTruncated) return
    const makesProgress = page.token === undefined ? page.objects.length > 0 : page.token !== token
    if (!makesProgress) throw disordered(connection)
    token = page.token
  }
}

/** Lists what keys begin with, up to the first slash. */
export async function* listPrefixes(
  connection: Connection,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  let token: string | undefined
  do {
    const page = await fetchPage(connection, '', { token, delimiter: '/', signal })
    for (const prefix of page.prefixes) if (isKey(prefix.slice(0, -1))) yield prefix
    if (page.isTruncated && (page.token === undefined || page.token === token)) {
      throw disordered(connection)
    }
    token = page.isTruncated ? page.token : undefined
  } while (token !== undefined)
}

interface Page {
  /** With a delimiter only: what keys begin with, up to it. */
  readonly prefixes: readonly string[]
  readonly objects: StoredObject[]
  readonly isTruncated: boolean
  readonly token: string | undefined
}

async function fetchPage(
  connection: Connection,
  prefix: string,
  position: StoreCallOptions & {
    token: string | undefined
    startAfter?: string | undefined
    delimiter?: string
  },
): Promise<Page> {
  const { token, startAfter, delimiter, signal } = position
  const command = new ListObjectsV2Command({
    Bucket: connection.bucket,
    Prefix: connection.fullKey(prefix),
    ...(delimiter !== undefined && { Delimiter: delimiter }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(token === undefined &&
      startAfter !== undefined && { StartAfter: connection.fullKey(startAfter) }),
  })
  return await connection.call(
    { action: 'list', signal, rights: 's3:ListBucket' },
    async (client, options) => readPage(connection, await client.send(command, options)),
  )
}

/** Throws when the answer is not a list: an HTML page with status 200 would look like an empty bucket. */
function readPage({ fullKey }: Connection, answer: ListObjectsV2CommandOutput): Page {
  if (answer.IsTruncated === undefined) throw new UnexpectedAnswer('The answer is not a list')
  const objects = (answer.Contents ?? []).map(({ Key, Size, LastModified }) => {
    if (Key === undefined || Size === undefined || LastModified === undefined) {
      throw new UnexpectedAnswer('The list has no key, size or date')
    }
    return { key: Key.slice(fullKey('').length), size: Size, modifiedAt: LastModified }
  })
  const prefixes = (answer.CommonPrefixes ?? []).flatMap(
    ({ Prefix }) => Prefix?.slice(fullKey('').length) ?? [],
  )
  return { objects, prefixes, isTruncated: answer.IsTruncated, token: answer.NextContinuationToken }
}

function disordered({ url }: Connection): StoreError {
  return new StoreError(`Cannot list ${url}: the server does not order its list by key`, {
    hint: 'use a general-purpose bucket: other kinds have no order',
  })
}
