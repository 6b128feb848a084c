import pMap from 'p-map'
import { describe, expect, it } from 'vitest'
import { takeSnapshot } from '../../src/archive/take.ts'
import { parseFault } from '../../src/sandbox/http/fault-text.ts'
import type { Fault } from '../../src/sandbox/http/faults.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { createServiceClient } from '../../src/service/client.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { createMemoryStore } from '../archive/memory-store.ts'
import { day, types } from './history.ts'
import { expectInvariant, readGood } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

const token = 'token'
const accountId = 10

/** What a request can come to; the faults of the sandbox, in their short form. */
const kinds = [
  'status=400',
  'status=401',
  'status=403',
  'status=404',
  'status=429',
  'retry-after=0',
  'status=500',
  'status=502',
  'status=503',
  'refused',
  'cut',
  'cut at-byte=1',
  'cut at-byte=200',
  'hang',
  'hang at-byte=1',
  'hang at-byte=200',
  'delay=5',
  'lost',
  'redirect=http://127.0.0.1:9/elsewhere',
  'body=""',
  'body=null',
  'body=[]',
  'body={}',
  'body="<html>Log in</html>"',
  'body="Account region aa differs from current server region bb"',
  'body={"hits":[]}',
  'body={"kibanaVersion":"7"}',
  'body={"kibanaVersion":7,"hits":[]}',
  'body={"kibanaVersion":"7","hits":[]}',
  'body={"kibanaVersion":"7","hits":[null]}',
  'body={"kibanaVersion":"7","hits":[{}',
  'body={"accountId":"10","accountName":"x"}',
  'body={"accountId":11,"accountName":"Other"}',
  'trailing=x',
  'trailing={"kibanaVersion":"7","hits":[]}',
]

function objects(count: number): object[] {
  return Array.from({ length: count }, (_, at) => ({
    _id: `search:${at}`,
    _source: { type: 'search', search: { title: `Title ${at}` } },
  }))
}

async function startService(count: number): Promise<Sandbox> {
  const sandbox = await startSandbox({
    accounts: [{ accountId, accountName: 'Shop', apiTokens: [token] }],
  })
  sandbox.setObjects(accountId, 'search', objects(count))
  return sandbox
}

/** A run over HTTP that waits for nothing long, unless it may take its time. */
async function takeFrom(
  { url }: Sandbox,
  store: ObjectStore,
  { takenAt, patient = false }: { takenAt: Date; patient?: boolean },
): Promise<string> {
  const timeoutMs = patient ? 10_000 : 25
  await using source = createServiceClient({
    baseUrl: url,
    token,
    limits: { headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs, retryBaseMs: 1, attempts: 2 },
  })
  const { manifest } = await takeSnapshot(source, store, {
    takenAt,
    types,
    expectedAccountId: accountId,
    // The archive is a copy, and each service has a port of its own.
    acceptService: true,
    exportAttempts: 2,
    retryBaseMs: 1,
  })
  return `${manifest.account.id}/${manifest.snapshot}`
}

describe('a service that goes wrong at any request', () => {
  const tally = countPoints('requests to a service that fail, hang or lie')

  it(
    'harms nothing that was kept',
    async () => {
      await using calm = await startService(20)
      const base = createMemoryStore()
      await takeFrom(calm, base, { takenAt: day(1), patient: true })
      const before = await readGood(base)
      const tried = everyFault(calm.requests().length)
      expect(tried).toHaveLength(kinds.length * 2 * (1 + types.length))

      const tryOne = (fault: Fault) =>
        tally.point(JSON.stringify(fault), async () => {
          await using sandbox = await startService(21)
          const store = createMemoryStore()
          for (const [key, bytes] of base.objects) store.objects.set(key, bytes)
          sandbox.faults.add(fault)
          const run = takeFrom(sandbox, store, { takenAt: day(2) })
          const claimed = await run.then((name) => [name]).catch(() => [])
          sandbox.faults.clear()
          const nextRun = () => takeFrom(sandbox, store, { takenAt: day(3), patient: true })
          await expectInvariant(store, { before, claimed, nextRun })
        })
      // Many at once, since the client sees to its deadlines but once a second.
      await pMap(sample(tried, scaled(100, Number.POSITIVE_INFINITY), 1), tryOne, {
        concurrency: 32,
      })
    },
    longMs,
  )
})

/** Each kind at each request of a run: once, and for ever. */
function everyFault(requests: number): Fault[] {
  return kinds.flatMap((kind) =>
    Array.from({ length: requests }, (_, after) => after).flatMap((after) => [
      { ...parseFault(`* ${kind}`), after },
      { ...parseFault(`* ${kind}`), after, times: 1 },
    ]),
  )
}
