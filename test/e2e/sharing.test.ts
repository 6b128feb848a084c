import { randomUUID } from 'node:crypto'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createS3Store } from '../../src/store/s3/store.ts'
import { flipBit } from '../archive/memory-store.ts'
import { leaveOut } from '../left-out.ts'
import { findRealS3Server, withRealS3Server } from '../s3-server/ceph.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { type Bucket, startBucketTrial } from './bucket-trial.ts'
import { countRequests } from './count-requests.ts'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

const day = 24 * 3600_000
const begin = new Date('2026-11-02T03:00:00Z')
const after = (days: number): Date => new Date(begin.getTime() + days * day)

/** Changes one byte of the only file whose key ends so. Returns the key. */
async function flipByte(trial: Trial, ending: string): Promise<string> {
  const found = [...(await trial.files())].find(([key]) => key.endsWith(ending))
  const [key, bytes] = found ?? expect.fail(`no file ends in ${ending}`)
  await trial.write(`archive/${key}`, Buffer.from(flipBit(bytes, bytes.length * 4)))
  return key
}

/** Renames a dashboard. */
function rename(trial: Trial): void {
  const document = JSON.parse(Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString())
  document.hits[0]._source.dashboard.title = 'Renamed'
  trial.sandbox.setObjects(shopId, 'dashboard', JSON.stringify(document))
}

/** Backs up and returns how it ended for the account. */
async function backup(
  trial: Trial,
  days: number,
  env = {},
): Promise<{ [member: string]: unknown; exitCode: number }> {
  const { exitCode, stdout } = await trial.runAt(after(days), ['backup', '--json'], env)
  return { ...accountsOf(stdout)[0], exitCode }
}

/** Lets files of any size count as too large to be proven in each run. */
async function proveSeldom(trial: Trial) {
  const limits = { retryBaseMs: 1, attempts: 3, proveEachRunBytes: 1 }
  return { DASHKEEP_CONFIG: await trial.write('seldom.yaml', { limits }) }
}

describe('a stored file with a changed byte', () => {
  it('is replaced by the next run, which names it and exits 3; the run after it is good', async () => {
    await using trial = await startTrial()
    await backup(trial, 0)
    const key = await flipByte(trial, 'dashboard.json.zst')
    const healing = await backup(trial, 1)
    expect(healing).toMatchObject({ exitCode: 3, result: 'full' })
    expect(healing.warnings).toEqual([
      expect.stringMatching(`^the previous snapshot is damaged: ${key}: its SHA-256 is `),
    ])
    expect(await backup(trial, 2)).toMatchObject({
      exitCode: 0,
      result: 'unchanged',
      sameAs: healing.snapshot,
      warnings: [],
    })
    expect((await trial.runAt(after(2), ['verify', healing.snapshot as string])).exitCode).toBe(0)
    expect((await trial.runAt(after(2), ['verify'])).exitCode).toBe(5)
  })

  it('is found by a run that follows many unchanged ones', async () => {
    await using trial = await startTrial()
    for (const days of [0, 1, 2]) await backup(trial, days)
    await flipByte(trial, 'search.json.zst')
    expect(await backup(trial, 3)).toMatchObject({ exitCode: 3, result: 'full' })
    expect(await backup(trial, 4)).toMatchObject({ exitCode: 0, result: 'unchanged' })
  })

  it('does not fail a run that compares changed objects with it', async () => {
    await using trial = await startTrial()
    await backup(trial, 0)
    const key = await flipByte(trial, 'dashboard.json.zst')
    rename(trial)
    const { exitCode, warnings } = await backup(trial, 1)
    expect(exitCode).toBe(3)
    expect(warnings).toEqual([expect.stringContaining(key)])
  })
})

describe('stored files that are too large to be proven in each run', () => {
  it('are proven at least once in seven days, by daily runs', async () => {
    await using trial = await startTrial()
    const env = await proveSeldom(trial)
    for (const days of [0, 1]) await backup(trial, days, env)
    await flipByte(trial, 'visualization.json.zst')
    const results: unknown[] = []
    for (let days = 2; days <= 8; days += 1) results.push((await backup(trial, days, env)).result)
    expect(results).toContain('full')
    expect(results.indexOf('full')).toBeLessThanOrEqual(5)
    expect(results.at(-1)).toBe('unchanged')
  })

  it('are not shared again once verify has found one of them damaged', async () => {
    await using trial = await startTrial()
    const env = await proveSeldom(trial)
    await backup(trial, 0, env)
    await flipByte(trial, 'visualization.json.zst')
    expect(await backup(trial, 1, env)).toMatchObject({ exitCode: 0, result: 'unchanged' })
    expect((await trial.runAt(after(1), ['verify'], env)).exitCode).toBe(5)
    const healing = await backup(trial, 2, env)
    expect(healing).toMatchObject({ exitCode: 3, result: 'full' })
    expect(healing.warnings).toEqual([expect.stringContaining('found damaged by `verify`')])
    expect(await backup(trial, 3, env)).toMatchObject({ exitCode: 0, result: 'unchanged' })
    expect((await trial.runAt(after(3), ['verify', 'latest'], env)).exitCode).toBe(0)
  })
})

describe('a snapshot that verify has found damaged', () => {
  it('is shown by status, and prune removes no sound one for it', async () => {
    await using trial = await startTrial()
    const sound = await backup(trial, 0)
    rename(trial)
    const damaged = await backup(trial, 0.5)
    await flipByte(trial, `${damaged.snapshot}/search.json.zst`)
    expect((await trial.runAt(after(0.6), ['verify'])).exitCode).toBe(5)
    const status = await trial.runAt(after(0.6), ['status', '--json'])
    expect(status.exitCode).toBe(3)
    expect(JSON.parse(status.stdout).accounts).toMatchObject([
      {
        state: 'damaged',
        problems: [`files of snapshot ${damaged.snapshot} were found damaged by \`verify\``],
      },
    ])
    const refused = await trial.runAt(after(0.6), ['prune', '--keep-last', '1', '--yes'])
    expect(refused.exitCode).toBe(3)
    expect(await trial.snapshots()).toEqual([sound.snapshot, damaged.snapshot])
    const healed = await backup(trial, 1)
    expect(healed).toMatchObject({ exitCode: 3, result: 'full' })
    expect((await trial.runAt(after(1), ['status'])).exitCode).toBe(0)
    await trial.runAt(after(1.5), ['prune', '--keep-daily', '2', '--yes'])
    expect(await trial.snapshots()).toEqual([sound.snapshot, healed.snapshot])
  })
})

const startReal = findRealS3Server()
if (!startReal) leaveOut('requests that a real S3 server counts', withRealS3Server)

const servers: [name: string, start: (() => Promise<Bucket & AsyncDisposable>) | undefined][] = [
  [
    'on the tests’ own server',
    async () => {
      const server = await startS3Server()
      const { url: endpoint, bucketName: bucket, credentials } = server
      const dispose = () => server[Symbol.asyncDispose]()
      return { endpoint, bucket, credentials, [Symbol.asyncDispose]: dispose }
    },
  ],
  [
    'on a real server',
    startReal &&
      (async () => {
        const server = await startReal()
        const bucket = `dashkeep-${randomUUID()}`
        await server.client.send(new CreateBucketCommand({ Bucket: bucket }))
        const { endpoint, credentials } = server
        const dispose = () => server[Symbol.asyncDispose]()
        return { endpoint, bucket, credentials, [Symbol.asyncDispose]: dispose }
      }),
  ],
]

describe('verify that may not write', () => {
  it('says that it could not leave a note about the damage', async () => {
    await using server = await startS3Server()
    const { url: endpoint, bucketName: bucket, credentials } = server
    await using started = await startBucketTrial({ endpoint, bucket, credentials })
    const { trial, env } = started
    const { snapshot } = await backup(trial, 0, env)
    server.bucket.objects.delete(`kept/here/${shopId}/${snapshot}/search.json.zst`)
    server.inject({ kind: 'error', status: 403, code: 'AccessDenied', operation: 'PutObject' })
    const { exitCode, stdout } = await trial.runAt(after(1), ['verify'], env)
    vi.unstubAllEnvs()
    expect(exitCode).toBe(5)
    expect(stdout).toMatch(/^warning Cannot .*damaged\.json: .*: run `dashkeep backup --full`/m)
  })
})

describe.each(servers)('an archive in a bucket %s', (_name, start) => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it.skipIf(start === undefined)(
    'takes these requests: a first run, an unchanged one, a changed one',
    async () => {
      await using bucket = (await start?.()) ?? expect.fail()
      await using started = await startBucketTrial(bucket)
      const { trial, env } = started
      const count = (days: number) => countRequests(bucket.endpoint, () => backup(trial, days, env))
      const first = await count(0)
      expect(first.result).toMatchObject({ exitCode: 0, result: 'first' })
      // A listing of the last weeks and, since it is empty, of the account.
      expect(first.requests).toEqual({ LIST: 2, PUT: 4, GET: 4 })
      for (const days of [1, 2]) {
        const unchanged = await count(days)
        expect(unchanged.result).toMatchObject({ exitCode: 0, result: 'unchanged' })
        // The manifest before, three files, the new manifest, the manifest of the shared folder.
        expect(unchanged.requests).toEqual({ LIST: 1, PUT: 1, GET: 6 })
      }
      rename(trial)
      const changed = await count(3)
      expect(changed.result).toMatchObject({ exitCode: 0, result: 'changed' })
      // The manifest before and the one file that differs; three files and the manifest read back.
      expect(changed.requests).toEqual({ LIST: 1, PUT: 4, GET: 6 })
    },
  )

  it.skipIf(start === undefined)(
    'takes these requests for a copy, and deletes nothing',
    async () => {
      await using bucket = (await start?.()) ?? expect.fail()
      await using started = await startBucketTrial(bucket)
      const { trial, env } = started
      const copyEnv = { ...env, DASHKEEP_STORE: trial.env.DASHKEEP_STORE }
      for (const days of [0, 1]) await backup(trial, days, copyEnv)
      const args = ['copy', '--to', env.DASHKEEP_STORE ?? '', '--json']
      const count = () => countRequests(bucket.endpoint, () => trial.run(args, copyEnv))
      // Three files and a manifest, then the manifest of the snapshot that shares them; each read back.
      expect((await count()).requests).toEqual({ LIST: 1, PUT: 5, GET: 5 })
      expect((await count()).requests).toEqual({ LIST: 1 })
    },
  )

  it.skipIf(start === undefined)('heals in one run after a byte has changed', async () => {
    await using bucket = (await start?.()) ?? expect.fail()
    await using started = await startBucketTrial(bucket)
    const { trial, env } = started
    const { snapshot: first } = await backup(trial, 0, env)
    expect(await backup(trial, 1, env)).toMatchObject({ result: 'unchanged' })
    const key = `${shopId}/${first}/dashboard.json.zst`
    const { endpoint, credentials, bucket: name } = bucket
    const store = createS3Store({ endpoint, credentials, bucket: name, prefix: 'kept/here' })
    const bytes = (await store.get(key, { maxBytes: 1e9 })) ?? expect.fail()
    await store.put(key, flipBit(bytes, bytes.length * 4))
    await store.close()
    const healing = await backup(trial, 2, env)
    expect(healing).toMatchObject({ exitCode: 3, result: 'full' })
    expect(healing.warnings).toEqual([expect.stringContaining(key)])
    expect(await backup(trial, 3, env)).toMatchObject({
      exitCode: 0,
      result: 'unchanged',
      sameAs: healing.snapshot,
    })
    expect((await trial.runAt(after(3), ['verify', 'latest'], env)).exitCode).toBe(0)
  })
})
