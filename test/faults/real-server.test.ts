import { exec } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../src/store/object-store.ts'
import type { S3StoreOptions } from '../../src/store/s3/options.ts'
import { createS3Store } from '../../src/store/s3/store.ts'
import { type Answers, exportBody } from '../archive/scripted-source.ts'
import { until } from '../e2e/run-dashkeep.ts'
import { leaveOut } from '../left-out.ts'
import { findRealS3Server, type RealS3Server, withRealS3Server } from '../s3-server/ceph.ts'
import { changed, day, take, writeHistory } from './history.ts'
import { expectInvariant } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'
import { startTcpProxy, type TcpProxy, type WireFault } from './tcp-proxy.ts'

const start = findRealS3Server()
/** A command that kills the server that DASHKEEP_TEST_S3_ENDPOINT names and starts it again. */
const restart = process.env.DASHKEEP_TEST_S3_RESTART
if (!start) leaveOut('faults on the way to a real S3 server', withRealS3Server)
if (!restart) {
  leaveOut(
    'the death of a real S3 server during an upload',
    'by saying in DASHKEEP_TEST_S3_RESTART how to kill and start it',
  )
}

/** More than two parts of an upload. */
const large: Answers = {
  ...changed,
  search: exportBody('search', { a: 'x'.repeat(9_000_000), b: 'x'.repeat(9_000_000) }),
}

describe.skipIf(start === undefined)('the way to a real S3 server', () => {
  const tally = countPoints('faults between dashkeep and a real S3 server')
  const bucket = `dashkeep-${randomUUID()}`
  let server: RealS3Server

  beforeAll(async () => {
    if (start === undefined) return
    server = await start()
    await server.client.send(new CreateBucketCommand({ Bucket: bucket }))
  }, longMs)

  afterAll(async () => {
    await using store = closing(openStore())
    await pMap(store.list(''), ({ key }) => store.remove(key), { concurrency: 16 })
    for await (const upload of store.listUnfinished()) await upload.remove()
    await server.client.send(new DeleteBucketCommand({ Bucket: bucket }))
    await server[Symbol.asyncDispose]()
  }, longMs)

  /** By the proxy, or straight. */
  function openStore(options: Partial<S3StoreOptions> = {}): ObjectStore {
    const { endpoint, credentials } = server
    return createS3Store({ endpoint, credentials, bucket, retryDelayMs: 1, ...options })
  }

  /**
   * An archive of its own, a run by a proxy of its own that comes upon a fault or what `meanwhile`
   * does, and the next run. Returns how many bytes went by the proxy.
   */
  async function strike(
    answers: Answers,
    { fault, latencyMs, meanwhile, limits }: Obstacles = {},
  ): Promise<ReturnType<TcpProxy['bytes']>> {
    const { hostname: host, port } = new URL(server.endpoint)
    await using proxy = await startTcpProxy({ host, port: Number(port) }, { fault, latencyMs })
    const prefix = randomUUID()
    await using store = closing(openStore({ prefix }))
    const before = await writeHistory(store)
    await using proxied = closing(openStore({ prefix, endpoint: proxy.url, ...limits }))
    const run = take(proxied, answers, { takenAt: day(5) })
    run.catch(() => {})
    await meanwhile?.(proxy)
    const [ended] = await Promise.allSettled([run])
    const claimed = ended.status === 'fulfilled' ? [ended.value.name] : []
    const nextRun = async () => (await take(store, changed, { takenAt: day(6) })).name
    await expectInvariant(store, { before, claimed, nextRun })
    return proxy.bytes()
  }

  it.each<[what: string, answers: Answers, points: number]>([
    ['small files', changed, scaled(10, 100)],
    ['an upload in parts', large, scaled(3, 30)],
  ])(
    'may be cut or become a black hole after any byte: %s',
    async (what, answers, points) => {
      const bytes = await strike(answers)
      expect(bytes.up).toBeGreaterThan(1000)
      const limits = { requestTimeoutMs: 300, idleTimeoutMs: 200 }
      const tryOne = (fault: WireFault) =>
        tally.point(`${what}: ${JSON.stringify(fault)}`, async () => {
          await strike(answers, { fault, limits })
        })
      await pMap(sample(everyFault(bytes), points, points), tryOne, { concurrency: 6 })
    },
    longMs,
  )

  it(
    'may take its time',
    async () => {
      await tally.point('20 ms for every chunk', async () => {
        await strike(changed, { latencyMs: 20 })
      })
    },
    longMs,
  )

  it.skipIf(restart === undefined)(
    'may end at a server that is killed in the middle of an upload and comes back',
    async () => {
      const meanwhile = async (proxy: TcpProxy) => {
        await until('an upload is on its way', () => proxy.bytes().up > 9_000_000)
        await promisify(exec)(restart ?? '')
      }
      await tally.point('killed and restarted', async () => {
        await strike(large, { meanwhile, limits: { retryDelayMs: 500 } })
      })
    },
    longMs,
  )
})

interface Obstacles {
  readonly fault?: WireFault
  readonly latencyMs?: number
  readonly meanwhile?: (proxy: TcpProxy) => Promise<void>
  readonly limits?: Partial<S3StoreOptions>
}

function closing<T extends ObjectStore>(store: T): T & AsyncDisposable {
  return { ...store, [Symbol.asyncDispose]: () => store.close() }
}

/** Forty places in each direction, where the way ends for one connection or for all. */
function everyFault(bytes: ReturnType<TcpProxy['bytes']>): WireFault[] {
  const places = Array.from({ length: 40 }, (_, at) => at / 40)
  return (['up', 'down'] as const).flatMap((direction) =>
    (['cut', 'blackhole'] as const).flatMap((kind) =>
      [false, true].flatMap((lasting) =>
        places.map((part) => {
          return { kind, direction, lasting, afterBytes: Math.floor(part * bytes[direction]) }
        }),
      ),
    ),
  )
}
