import { createHash, randomUUID } from 'node:crypto'
import { CreateBucketCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { encodeManifest, type Manifest } from '../../src/archive/manifest.ts'
import { timePrefix } from '../../src/archive/snapshot-name.ts'
import { createS3Store } from '../../src/store/s3/store.ts'
import { leaveOut } from '../left-out.ts'
import { findRealS3Server, type RealS3Server, withRealS3Server } from '../s3-server/ceph.ts'
import { type BucketTrial, startBucketTrial } from './bucket-trial.ts'
import { countRequests } from './count-requests.ts'
import { jsonLines } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

const snapshots = 10_000
const hour = 3600_000
const first = Date.UTC(2025, 0, 1)
/** Of 416 days in 14 months: seven days, and eleven months before the last of them. */
const rules = ['--keep-daily', '7', '--keep-monthly', '12']

const body = Buffer.from('{"kibanaVersion":"7.10.2","hits":[]}')
const fingerprint = { bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') }

/** The manifest of one of many small snapshots, an hour after the one before. */
function manifestOf(number: number): Manifest {
  const takenAt = new Date(first + number * hour)
  const file = { name: 'search.json', compression: 'none' as const }
  return {
    formatVersion: 1,
    snapshot: `${timePrefix(takenAt)}-000000`,
    takenAt: takenAt.toISOString(),
    account: { id: 10, name: 'Many' },
    service: 'https://service.example',
    exports: [
      {
        type: 'search',
        kibanaVersion: '7.10.2',
        exportedAt: takenAt.toISOString(),
        objects: 0,
        contentDigest: createHash('sha256').digest('hex'),
        remarks: {},
        file: { ...file, stored: fingerprint, content: fingerprint },
      },
    ],
    dashkeepVersion: '0.1.0',
  }
}

const start = findRealS3Server()
if (!start) leaveOut('ten thousand snapshots on a real S3 server', withRealS3Server)

describe.skipIf(start === undefined)('ten thousand snapshots on a real S3 server', () => {
  let server: RealS3Server
  let started: BucketTrial
  const bucket = `dashkeep-${randomUUID()}`

  beforeAll(async () => {
    if (start === undefined) return
    server = await start()
    const { endpoint, credentials } = server
    await server.client.send(new CreateBucketCommand({ Bucket: bucket }))
    started = await startBucketTrial({ endpoint, bucket, credentials })
    const store = createS3Store({ endpoint, credentials, bucket, prefix: 'kept/here' })
    const numbers = Array.from({ length: snapshots }, (_, number) => number)
    await pMap(
      numbers,
      async (number) => {
        const manifest = manifestOf(number)
        await store.put(`10/${manifest.snapshot}/search.json`, body)
        await store.put(`10/${manifest.snapshot}/manifest.json`, encodeManifest(manifest))
      },
      { concurrency: 16 },
    )
    await store.close()
  }, 600_000)

  afterAll(async () => {
    vi.unstubAllEnvs()
    await started[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  async function listPlainly(): Promise<void> {
    for await (const _page of paginateListObjectsV2(server, { Bucket: bucket }));
  }

  it('are listed with the requests of a plain LIST and no more', async () => {
    const { result, requests } = await countRequests(server.endpoint, () =>
      started.trial.run(['list', '--json'], started.env),
    )
    expect(jsonLines(result.stdout)).toHaveLength(snapshots)
    const plain = await countRequests(server.endpoint, listPlainly)
    expect(requests).toEqual(plain.requests)
    expect(requests.LIST).toBeLessThanOrEqual((2 * snapshots) / 1000 + 1)
  }, 60_000)

  it('are planned with one read each', async () => {
    const { result, requests } = await countRequests(server.endpoint, () =>
      started.trial.run(['prune', ...rules, '--json'], started.env),
    )
    expect(keptIn(result.stdout)).toHaveLength(18)
    expect(requests.GET).toBe(snapshots)
  }, 300_000)

  it('are pruned in 64 MB of heap, and what stays verifies', async () => {
    await using spawned = spawnDashkeep(['prune', ...rules, '--yes', '--json'], {
      env: { ...started.env, DASHKEEP_LOG_LEVEL: 'error' },
      // The young generation of the image; with V8's own there is hardly room for anything else.
      node: ['--max-semi-space-size=1', '--max-old-space-size=64'],
    })
    const { exitCode, stdout } = await spawned.finished
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ removed: snapshots - 18, failed: [] })
    const verified = await started.trial.run(['verify', '--json'], started.env)
    expect(JSON.parse(verified.stdout)).toMatchObject({ snapshots: 18, defects: 0 })
  }, 600_000)
})

function keptIn(stdout: string): unknown[] {
  const { accounts } = JSON.parse(stdout) as { accounts: { snapshots: { keep: boolean }[] }[] }
  return accounts.flatMap((account) => account.snapshots.filter(({ keep }) => keep))
}
