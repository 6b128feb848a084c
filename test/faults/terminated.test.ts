import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { createS3Store } from '../../src/store/s3/store.ts'
import { exportBody } from '../archive/scripted-source.ts'
import { accountsOf, type Finished, until } from '../e2e/run-dashkeep.ts'
import { spawnDashkeep } from '../e2e/spawn-dashkeep.ts'
import { shopId, startTrial, type Trial } from '../e2e/trial.ts'
import { type Fault, type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import { writeHistory } from './history.ts'
import { expectInvariant } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

/** More than two parts of an upload. */
const large = exportBody('visualization', { a: 'x'.repeat(9_000_000), b: 'x'.repeat(9_000_000) })

async function environment(trial: Trial, server: S3Server): Promise<Environment> {
  trial.sandbox.setObjects(shopId, 'visualization', Buffer.from(large))
  return {
    ...trial.env,
    DASHKEEP_CONFIG: await trial.write('plain.yaml', { compression: 'none' }),
    DASHKEEP_STORE: `s3://${server.bucketName}`,
    AWS_ENDPOINT_URL_S3: server.url,
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  }
}

/** Sends SIGTERM to a backup once something is so; says how it ended and how long that took. */
async function terminate(
  env: Environment,
  isTime: () => boolean,
): Promise<Finished & { tookMs: number }> {
  await using backup = spawnDashkeep(['backup'], { env })
  await until('the backup has come so far', isTime)
  const begin = performance.now()
  backup.kill('SIGTERM')
  return { ...(await backup.finished), tookMs: performance.now() - begin }
}

/** A run to its end, in a process of its own. */
async function backUp(env: Environment): Promise<string> {
  await using backup = spawnDashkeep(['backup', '--json'], { env })
  const [account] = accountsOf((await backup.finished).stdout)
  return `${account?.accountId}/${account?.snapshot}`
}

/** How many requests a whole run makes, of the store and of the service. */
async function countRequests(): Promise<{ ofStore: number; ofService: number }> {
  await using server = await startS3Server()
  await using trial = await startTrial()
  await backUp(await environment(trial, server))
  expect(server.operations()).toContain('CompleteMultipartUpload')
  return { ofStore: server.requests.length, ofService: trial.sandbox.requests().length }
}

describe('a backup that is asked to stop by SIGTERM', () => {
  const tally = countPoints('SIGTERM while a request hangs')

  async function tryOne(name: string, hang: { store?: number; service?: number }): Promise<void> {
    await tally.point(name, async () => {
      await using server = await startS3Server()
      await using trial = await startTrial()
      const { url: endpoint, bucketName: bucket, credentials } = server
      const store = createS3Store({ endpoint, bucket, credentials })
      const before = await writeHistory(store)
      const begun = server.requests.length
      const { store: ofStore, service: ofService } = hang
      if (ofStore !== undefined) server.inject({ kind: 'hang', after: ofStore } satisfies Fault)
      if (ofService !== undefined)
        trial.sandbox.faults.add({ hang: true, after: ofService, times: 1 })

      const env = await environment(trial, server)
      const ended = await terminate(env, () =>
        ofStore !== undefined
          ? server.requests.length - begun > ofStore
          : trial.sandbox.requests().length > (ofService ?? 0),
      )
      expect([ended.exitCode, ended.stderr]).toEqual([143, expect.stringContaining('Interrupted')])
      expect(ended.tookMs).toBeLessThan(10_000)
      expect(server.bucket.uploads.size).toBe(0)
      await expectInvariant(store, { before, nextRun: () => backUp(env) })
      await store.close()
    })
  }

  it(
    'stops within seconds with exit code 143 and leaves no upload',
    async () => {
      const { ofStore, ofService } = await countRequests()
      const requests = [
        ...Array.from({ length: ofStore }, (_, store) => ({ store })),
        ...Array.from({ length: ofService }, (_, service) => ({ service })),
      ]
      for (const hang of sample(requests, scaled(2, 40), 1)) {
        await tryOne(`hanging at request ${JSON.stringify(hang)}`, hang)
      }
    },
    longMs,
  )
})
