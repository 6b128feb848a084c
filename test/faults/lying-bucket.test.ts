import { describe, it } from 'vitest'
import type { ObjectStore } from '../../src/store/object-store.ts'
import type { S3StoreOptions } from '../../src/store/s3/options.ts'
import { createS3Store } from '../../src/store/s3/store.ts'
import { type Answers, exportBody } from '../archive/scripted-source.ts'
import { type Fault, type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import type { ServedBucket } from '../s3-server/s3-state.ts'
import { changed, day, take, unchanged, writeHistory } from './history.ts'
import { expectInvariant } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

const faults: Fault[] = [
  { kind: 'error', status: 503, code: 'SlowDown' },
  { kind: 'error', status: 500, code: 'InternalError' },
  { kind: 'error', status: 403, code: 'AccessDenied' },
  { kind: 'error', status: 404, code: 'NoSuchKey' },
  { kind: 'answer', status: 200, body: '<html>Welcome</html>' },
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'hang' },
  { kind: 'pretend' },
  { kind: 'flip-byte', afterBytes: 40 },
  { kind: 'cut-body', afterBytes: 40 },
  { kind: 'stall-body', afterBytes: 40 },
]

/** More than two parts of an upload, which does not compress: nothing is compressed here. */
const large: Answers = {
  ...changed,
  search: exportBody('search', { a: 'x'.repeat(9_000_000), b: 'x'.repeat(9_000_000) }),
}

const stories: [what: string, answers: Answers, points: number][] = [
  ['a backup of what has changed', changed, scaled(12, 400)],
  ['a backup of what has not changed', unchanged, scaled(6, 200)],
  ['a backup of a large export', large, scaled(2, 20)],
]

function openStore(server: S3Server, options: Partial<S3StoreOptions> = {}): ObjectStore {
  const { url: endpoint, bucketName: bucket, credentials } = server
  return createS3Store({ endpoint, bucket, credentials, retryDelayMs: 1, ...options })
}

describe('a bucket that goes wrong at any request', () => {
  const tally = countPoints('requests to a bucket that fail, hang or lie')

  it.each(stories)(
    'harms nothing in %s',
    async (what, answers, points) => {
      await using server = await startS3Server()
      const store = openStore(server)
      const before = await writeHistory(store)
      const history = new Map(server.bucket.objects)
      const begin = server.requests.length
      await take(store, answers, { takenAt: day(5) })
      const tried = everyFault(server.requests.length - begin)
      for (const fault of sample(tried, points, tried.length)) {
        await tally.point(`${what}: ${JSON.stringify(fault)}`, async () => {
          fill(server.bucket, history)
          const claimed = await runUnder(server, fault, answers)
          const nextRun = async () => (await take(store, changed, { takenAt: day(6) })).name
          await expectInvariant(store, { before, claimed, nextRun })
        })
      }
      await store.close()
    },
    longMs,
  )
})

/**
 * Each kind at each request of a run: there alone, and from there on. A bit that is flipped whenever
 * it is written and whenever it is read is none that anybody could find.
 */
function everyFault(requests: number): Fault[] {
  return faults.flatMap((fault) =>
    Array.from({ length: requests }, (_, after) => after).flatMap((after) => {
      const lasting = { ...fault, after, times: Number.POSITIVE_INFINITY }
      return fault.kind === 'flip-byte' ? [{ ...fault, after }] : [{ ...fault, after }, lasting]
    }),
  )
}

function fill({ objects, uploads }: ServedBucket, kept: ServedBucket['objects']): void {
  uploads.clear()
  objects.clear()
  for (const [key, object] of kept) objects.set(key, object)
}

/** A run that waits for nothing long; returns the snapshot it says it has taken. */
async function runUnder(server: S3Server, fault: Fault, answers: Answers): Promise<string[]> {
  const store = openStore(server, { requestTimeoutMs: 50, idleTimeoutMs: 50 })
  server.inject(fault)
  try {
    return [(await take(store, answers, { takenAt: day(5) })).name]
  } catch {
    return []
  } finally {
    server.clearFaults()
    await store.close()
  }
}
