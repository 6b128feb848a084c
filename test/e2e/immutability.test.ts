import { afterEach, describe, expect, it, vi } from 'vitest'
import { type S3Server, type S3ServerOptions, startS3Server } from '../s3-server/s3-server.ts'
import { type BucketTrial, startBucketTrial } from './bucket-trial.ts'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, shortLimits, startTrial } from './trial.ts'

const day = 24 * 3600_000
const begin = new Date('2026-11-01T03:00:00Z')

interface LockedTrial extends BucketTrial {
  readonly server: S3Server
  /** Runs a command line so many days after the beginning. */
  onDay(day: number, ...args: string[]): ReturnType<BucketTrial['trial']['runAt']>
}

/** An archive whose store is configured as said, in a bucket made as said. */
async function startLocked(store: object, options: S3ServerOptions = {}): Promise<LockedTrial> {
  const server = await startS3Server(options)
  const { url: endpoint, bucketName: bucket, credentials } = server
  const { trial, env } = await startBucketTrial({ endpoint, bucket, credentials })
  env.DASHKEEP_CONFIG = await trial.write('locked.yaml', { limits: shortLimits, store })
  return {
    trial,
    server,
    env,
    onDay: (number, ...args) => trial.runAt(new Date(begin.getTime() + number * day), args, env),
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

const lock = { mode: 'compliance', duration: '30d' }

describe('an archive with a lock', () => {
  it('has every file locked, and loses nothing to prune before the lock is over', async () => {
    await using started = await startLocked({ lock }, { objectLock: true })
    const { trial, server, onDay } = started
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    for (const [number, title] of ['Slow', 'Slower', 'Slowest'].entries()) {
      trial.sandbox.setObjects(shopId, 'search', document.replace('Slow', title))
      expect((await onDay(number, 'backup')).exitCode).toBe(0)
    }
    const before = new Map(server.bucket.objects)
    expect(before.size).toBe(12)
    for (const { retention } of before.values()) expect(retention?.mode).toBe('COMPLIANCE')

    const early = await onDay(10, 'prune', '--keep-last', '1', '--yes', '--json')
    expect(early.exitCode).toBe(0)
    expect(JSON.parse(early.stdout)).toMatchObject({
      removed: 0,
      failed: [],
      locked: [
        { accountId: shopId, keptUntil: '2026-12-02T03:00:00.000Z' },
        { accountId: shopId, keptUntil: '2026-12-01T03:00:00.000Z' },
      ],
    })
    expect(server.bucket.objects).toEqual(before)
    const shown = await onDay(10, 'prune', '--keep-last', '1', '--yes')
    expect(shown.stdout).toMatch(/^removed 0 folders, 0 B freed$/m)
    expect(shown.stdout).toMatch(/^kept 100001\/\S+: locked until 2026-12-01 03:00:00$/m)
    expect((await onDay(10, 'verify')).exitCode).toBe(0)

    const late = await onDay(40, 'prune', '--keep-last', '1', '--yes', '--json')
    expect(JSON.parse(late.stdout)).toMatchObject({ removed: 2, locked: [], failed: [] })
    expect(server.bucket.objects.size).toBe(4)
    expect((await onDay(40, 'verify')).exitCode).toBe(0)
  })

  it('extends what an unchanged run shares', async () => {
    await using started = await startLocked({ lock }, { objectLock: true })
    const { server, onDay } = started
    for (const number of [0, 20]) expect((await onDay(number, 'backup')).exitCode).toBe(0)
    expect(server.bucket.objects.size).toBe(5)
    for (const { retention } of server.bucket.objects.values()) {
      expect(retention?.until).toEqual(new Date('2026-12-21T03:00:00Z'))
    }
  })

  const unfit: [what: string, options: S3ServerOptions, exitCode: number, error: RegExp][] = [
    ['forgets locks', { objectLock: true, ignores: ['lock'] }, 1, /does not store it$/],
    ['has no Object Lock', {}, 2, /refuses the request \(400 InvalidRequest\)$/],
  ]
  it.each(unfit)('is not begun where the bucket %s', async (_what, options, exitCode, error) => {
    await using started = await startLocked({ lock }, options)
    const { onDay } = started
    const backup = await onDay(0, 'backup', '--json')
    expect(backup.exitCode).toBe(exitCode)
    expect(accountsOf(backup.stdout)).toMatchObject([{ error: expect.stringMatching(error) }])
    expect((await onDay(0, 'list')).stdout).not.toContain('20261101T')
  })
})

describe('an archive encrypted by the server', () => {
  it('is as any other, and fails where the server does not encrypt', async () => {
    const encryption = { mode: 'sse-s3' }
    await using encrypted = await startLocked({ encryption })
    expect((await encrypted.onDay(0, 'backup')).exitCode).toBe(0)
    for (const object of encrypted.server.bucket.objects.values()) {
      expect(object.encryption).toBe('AES256')
    }
    expect((await encrypted.onDay(0, 'verify')).exitCode).toBe(0)
    vi.unstubAllEnvs()
    await using plain = await startLocked({ encryption }, { ignores: ['encryption'] })
    const backup = await plain.onDay(0, 'backup', '--json')
    expect(backup.exitCode).toBe(1)
    expect(accountsOf(backup.stdout)).toMatchObject([{ error: expect.stringContaining('sse-s3') }])
    const doctor = await plain.onDay(0, 'doctor')
    expect(doctor.stdout).toMatch(/^failed +store write: .*sse-s3/m)
  })
})

describe('doctor', () => {
  it('looks at the bucket, and leaves its probe unlocked', async () => {
    await using started = await startLocked({ lock }, { objectLock: true })
    const { server, onDay } = started
    const { exitCode, stdout } = await onDay(0, 'doctor')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ok +store versioning: the bucket keeps versions$/m)
    expect(stdout).toMatch(/^ok +store lock: files are locked in compliance mode$/m)
    expect(stdout).toMatch(/^warning +store lifecycle: no rule removes old versions/m)
    const put = server.requests.find(({ operation }) => operation === 'PutObject')
    expect(put?.headers).not.toHaveProperty('x-amz-object-lock-mode')
  })

  it('fails when the bucket cannot lock, and warns when nobody asked it to', async () => {
    await using asked = await startLocked({ lock })
    const failed = await asked.onDay(0, 'doctor')
    expect(failed.exitCode).toBe(1)
    expect(failed.stdout).toMatch(/^failed +store lock: the bucket has no Object Lock/m)
    vi.unstubAllEnvs()
    await using unasked = await startLocked({})
    const warned = await unasked.onDay(0, 'doctor')
    expect(warned.exitCode).toBe(0)
    expect(warned.stdout).toMatch(/^warning +store lock: .*\n +hint: create a bucket/m)
  })
})

describe('a configuration with a lock', () => {
  const wrong: [store: object, problem: string][] = [
    [{ lock: { mode: 'governance' } }, 'store.lock.duration'],
    [{ lock: { mode: 'strict', duration: '30d' } }, 'store.lock.mode'],
    [{ lock: { ...lock, duration: 'a month' } }, 'store.lock.duration: expected a duration'],
    [{ lock: { ...lock, duration: '0d' } }, 'store.lock.duration: expected a duration above 0'],
    [{ encryption: { mode: 'sse-c' } }, 'store.encryption.mode'],
    [{ encryption: { mode: 'sse-s3', keyId: 'k' } }, 'a keyId belongs to sse-kms'],
  ]
  it.each(wrong)('is refused when it is %j', async (store, problem) => {
    await using trial = await startTrial()
    const env = {
      DASHKEEP_CONFIG: await trial.write('wrong.yaml', { store }),
      DASHKEEP_STORE: 's3://backups',
    }
    const { exitCode, stderr } = await trial.run(['list'], env)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(problem)
  })

  it('is refused for a folder', async () => {
    await using trial = await startTrial()
    const store = { lock, encryption: { mode: 'sse-s3' } }
    const env = { DASHKEEP_CONFIG: await trial.write('wrong.yaml', { store }) }
    const { exitCode, stderr } = await trial.run(['list'], env)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('store.lock: only an s3:// store can do this')
    expect(stderr).toContain('store.encryption: only an s3:// store can do this')
  })
})
