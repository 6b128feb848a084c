import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { InterruptedError } from '../../src/errors.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../s3-server/s3-server.ts'
import type { S3Operation } from '../s3-server/s3-state.ts'
import { type BucketTrial, startBucketTrial } from './bucket-trial.ts'
import { runDashkeep } from './run-dashkeep.ts'
import { shopId, shortLimits } from './trial.ts'

interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly hint?: string
}

interface RightsTrial extends BucketTrial {
  readonly server: S3Server
  /** What doctor says of the store, and its exit code. */
  doctor(): Promise<{ exitCode: number; findings: Finding[] }>
}

/** An archive in a bucket whose server is as said, configured as said. */
async function start(options: S3ServerOptions, config: object = {}): Promise<RightsTrial> {
  const server = await startS3Server(options)
  const { url: endpoint, bucketName: bucket, credentials } = server
  const { trial, env } = await startBucketTrial({ endpoint, bucket, credentials })
  env.DASHKEEP_CONFIG = await trial.write('rights.yaml', { limits: shortLimits, ...config })
  return {
    trial,
    server,
    env,
    async doctor() {
      const { exitCode, stdout } = await trial.run(['doctor', '--json'], env)
      const { findings } = JSON.parse(stdout) as { findings: Finding[] }
      return { exitCode, findings: findings.filter(({ check }) => check.startsWith('store ')) }
    },
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

const retention = { retention: { daily: 7 } }
const lock = { mode: 'compliance', duration: '30d' }

it('names what prune removed although an old proof record cannot be removed', async () => {
  await using started = await start({})
  const { trial, env, server } = started
  const run = (day: number, ...args: string[]) =>
    trial.runAt(new Date(Date.UTC(2026, 10, 20 + day)), args, env)
  await run(0, 'backup')
  await run(1, 'backup', '--full')
  for (const day of [1, 403]) await run(day, 'verify', '--record')
  // The four files of the snapshot are removed first.
  server.inject({
    ...{ operation: 'DeleteObject', after: 4, times: 9 },
    ...{ kind: 'error', status: 403, code: 'AccessDenied' },
  })
  const { exitCode, stdout } = await run(404, 'prune', '--keep-last', '1', '--yes')
  expect(stdout).toMatch(
    /removed 1 folder, .* freed\nkept other items: .*-verify\.json: access denied/,
  )
  expect(exitCode).toBe(3)
})

describe('a server that does not list unfinished uploads', () => {
  it('can be pruned, and doctor says what it lacks', async () => {
    await using started = await start({ unsupported: ['ListMultipartUploads'] }, retention)
    const { trial, env, server } = started
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    const day = (number: number) => new Date(Date.UTC(2026, 10, number))
    for (const [number, title] of ['Slow', 'Slower'].entries()) {
      trial.sandbox.setObjects(shopId, 'search', document.replace('Slow', title))
      expect((await trial.runAt(day(number), ['backup'], env)).exitCode).toBe(0)
    }
    const prune = await trial.runAt(day(9), ['prune', '--keep-last', '1', '--yes', '--json'], env)
    expect(prune.exitCode).toBe(0)
    expect(JSON.parse(prune.stdout)).toMatchObject({ removed: 1, unfinishedWrites: 0 })
    expect(server.bucket.objects.size).toBe(4)
    const { exitCode, findings } = await started.doctor()
    expect(exitCode).toBe(0)
    expect(findings).toContainEqual({
      check: 'store uploads',
      result: 'warning',
      detail: expect.stringContaining('the server does not list unfinished uploads'),
      hint: expect.stringContaining('AbortIncompleteMultipartUpload'),
    })
  })
})

describe('credentials that cannot write', () => {
  it('suffice to verify and to drill, and --record says which right it lacks', async () => {
    const denied: S3Operation[] = []
    await using started = await start({ denied })
    const { trial, env, server } = started
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    const before = [...server.bucket.objects.keys()]
    denied.push('PutObject')
    for (const args of [['verify'], ['restore', '--drill']]) {
      expect((await trial.run(args, env)).exitCode).toBe(0)
      const { exitCode, stdout } = await trial.run([...args, '--record'], env)
      expect(exitCode).toBe(3)
      expect(stdout).toMatch(/every file matches its manifest|identical byte for byte/)
      expect(stdout).toMatch(/not recorded: Cannot write s3:\S+\/proofs\/\S+: access denied/)
      expect(stdout).toContain('hint: allow these credentials s3:PutObject')
    }
    expect([...server.bucket.objects.keys()]).toEqual(before)
  })
})

describe('the policy in docs/s3.md', () => {
  it('allows every right that a hint of the store names, and no other', async () => {
    const folder = join(import.meta.dirname, '../../src/store')
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const texts = await Promise.all(
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
    )
    const named = texts.join('').match(/\bs3:[A-Z]\w+/g) ?? []
    const page = await readFile(new URL('../../docs/s3.md', import.meta.url), 'utf8')
    const [, policy = ''] = /```json\n(\{\n +"Version": "2012-10-17".*?)```/s.exec(page) ?? []
    const { Statement } = JSON.parse(policy) as { Statement: { Action: string[] }[] }
    const allowed = Statement.flatMap(({ Action }) => Action)
    expect(new Set(allowed)).toEqual(new Set(named))
  })
})

describe('doctor', () => {
  const rights: [operation: S3Operation, check: string, hint: string][] = [
    ['DeleteObject', 'store delete', 's3:DeleteObject'],
    ['ListMultipartUploads', 'store uploads', 's3:ListBucketMultipartUploads'],
    ['AbortMultipartUpload', 'store uploads', 's3:AbortMultipartUpload'],
    ['GetObjectLockConfiguration', 'store lock', 's3:GetBucketObjectLockConfiguration'],
    ['GetObjectRetention', 'store retention', 's3:GetObjectRetention'],
  ]

  it.each(rights)('asks for what prune needs: %s', async (operation, check, hint) => {
    const denied = [operation]
    await using backups = await start({ objectLock: true, denied })
    const missing = { check, detail: expect.any(String), hint: expect.stringContaining(hint) }
    const unneeded = await backups.doctor()
    expect(unneeded.exitCode).toBe(0)
    expect(unneeded.findings).toContainEqual({ ...missing, result: 'warning' })
    expect((await backups.trial.run(['backup'], backups.env)).exitCode).toBe(0)
    vi.unstubAllEnvs()
    await using pruned = await start({ objectLock: true, denied }, retention)
    const needed = await pruned.doctor()
    expect(needed.exitCode).toBe(1)
    expect(needed.findings).toContainEqual({ ...missing, result: 'failed' })
  })

  it('proves the lock by asking for it, for minutes only', async () => {
    await using started = await start({ objectLock: true }, { store: { lock } })
    const removed: unknown[] = []
    const { objects } = started.server.bucket
    const remove = objects.delete.bind(objects)
    objects.delete = (key) => {
      removed.push(objects.get(key)?.retention)
      return remove(key)
    }
    const { exitCode, findings } = await started.doctor()
    expect(exitCode).toBe(0)
    expect(findings).toContainEqual({
      check: 'store lock',
      result: 'ok',
      detail: expect.stringMatching(
        /^a test object was locked in compliance mode until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, and the server confirms the lock$/,
      ),
    })
    expect(objects.size).toBe(0)
    expect(removed).toContainEqual({ mode: 'COMPLIANCE', until: expect.any(Date) })
  })

  it('says until when a lock keeps the bytes of its probe', async () => {
    const defaultRetention = { mode: 'COMPLIANCE', days: 30 }
    await using started = await start({ objectLock: true, defaultRetention })
    const { exitCode, findings } = await started.doctor()
    expect(exitCode).toBe(0)
    expect(findings).toContainEqual({
      check: 'store delete',
      result: 'ok',
      detail: expect.stringMatching(/; the lock keeps the test object as an old version until /),
    })
  })

  it('fails where the server forgets the lock, and removes its probes', async () => {
    const ignores = ['lock'] as const
    await using started = await start({ objectLock: true, ignores }, { store: { lock } })
    const { exitCode, findings } = await started.doctor()
    expect(exitCode).toBe(1)
    expect(findings).toContainEqual({
      check: 'store lock',
      result: 'failed',
      detail: expect.stringContaining('the server accepts the lock but does not store it'),
      hint: expect.any(String),
    })
    expect(started.server.bucket.objects.size).toBe(0)
  })

  it('says that its probe is still there, where nothing locked can be removed', async () => {
    await using started = await start({ objectLock: true, keepsLocked: true }, { store: { lock } })
    const { exitCode, findings } = await started.doctor()
    expect(exitCode).toBe(0)
    const [key] = [...started.server.bucket.objects.keys()]
    expect(findings).toContainEqual({
      check: 'store delete',
      result: 'warning',
      detail: expect.stringMatching(
        new RegExp(`^the test object s3://backups/${key} is still there: it is locked until `),
      ),
      hint: expect.stringContaining('remove it after that'),
    })
  })

  it('removes its probe, or says that it is still there, when a later step fails', async () => {
    await using failing = await start({ denied: ['GetObject', 'ListObjectsV2'] })
    await failing.doctor()
    expect(failing.server.bucket.objects.size).toBe(0)
    vi.unstubAllEnvs()
    await using kept = await start({ denied: ['DeleteObject'] })
    const { findings } = await kept.doctor()
    const [key] = [...kept.server.bucket.objects.keys()]
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'store delete',
        detail: `Cannot remove s3://backups/${key}: access denied, so the test object is still there`,
      }),
    )
  })

  it('removes a probe that was stored and not confirmed', async () => {
    const encryption = { mode: 'sse-s3' }
    await using started = await start({ ignores: ['encryption'] }, { store: { encryption } })
    const { exitCode } = await started.doctor()
    expect(exitCode).toBe(1)
    expect(started.server.bucket.objects.size).toBe(0)
  })

  it('removes its probe when it is interrupted', async () => {
    await using started = await start({})
    const { env, server } = started
    const controller = new AbortController()
    const { objects } = server.bucket
    const set = objects.set.bind(objects)
    objects.set = (key, value) => {
      set(key, value)
      controller.abort(new InterruptedError('SIGINT'))
      return objects
    }
    const { exitCode } = await runDashkeep(['doctor'], { env, signal: controller.signal })
    expect(exitCode).toBe(130)
    expect(server.operations()).toContain('PutObject')
    expect(objects.size).toBe(0)
  })
})
