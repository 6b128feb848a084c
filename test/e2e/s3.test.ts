import { afterEach, describe, expect, it, vi } from 'vitest'
import { type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import { type BucketTrial, startBucketTrial } from './bucket-trial.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { shopId, types } from './trial.ts'

/** A trial with its archive on the tests' own server. */
async function startTrialInBucket(
  changes: Record<string, string | undefined> = {},
): Promise<BucketTrial & { server: S3Server }> {
  const server = await startS3Server()
  const { url: endpoint, bucketName: bucket, credentials } = server
  const { trial, env } = await startBucketTrial({ endpoint, bucket, credentials }, changes)
  return {
    trial,
    server,
    env,
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('an archive in a bucket', () => {
  it('is made, listed, shown and verified as one in a folder is', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    const backup = await trial.run(['backup', '--json'], env)
    expect(backup.exitCode).toBe(0)
    const [account] = accountsOf(backup.stdout)
    const keys = [...server.bucket.objects.keys()].sort()
    expect(keys).toEqual(
      ['dashboard.json.zst', 'manifest.json', 'search.json.zst', 'visualization.json.zst'].map(
        (name) => `kept/here/${shopId}/${account?.snapshot}/${name}`,
      ),
    )
    const puts = server.requests.filter(({ operation }) => operation === 'PutObject')
    expect(puts.at(-1)?.key).toMatch(/manifest\.json$/)
    const listed = jsonLines((await trial.run(['list', '--json'], env)).stdout)
    expect(listed).toMatchObject([{ accountId: shopId, snapshot: account?.snapshot, files: 4 }])
    const shown = JSON.parse((await trial.run(['show', '--json'], env)).stdout)
    expect(shown.exports).toEqual(account?.exports)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
    expect(server.bucket.uploads.size).toBe(0)
  })

  it('carries what its files are as metadata, and nothing secret', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    await trial.run(['backup'], env)
    for (const type of types) {
      const [, object] =
        [...server.bucket.objects].find(([key]) => key.endsWith(`${type}.json.zst`)) ?? []
      expect(object?.metadata).toMatchObject({
        'kibana-version': '7.10.2',
        'account-id': String(shopId),
        type,
      })
      expect(object?.metadata['taken-at']).toMatch(/^\d{4}-/)
    }
    expect(JSON.stringify(server.requests.map(({ headers }) => headers))).not.toContain(
      env.DASHKEEP_API_TOKEN,
    )
  })

  it('does not change when a run fails, and gets one manifest when nothing changed', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    await trial.run(['backup'], env)
    const before = new Map(server.bucket.objects)
    trial.sandbox.faults.add({ operation: 'export', type: 'search', times: 1, refused: true })
    expect((await trial.run(['backup'], env)).exitCode).toBe(2)
    expect(server.bucket.objects).toEqual(before)
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    expect(server.bucket.objects.size).toBe(5)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
  })

  it('works for a process that has nothing but its environment', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    vi.unstubAllEnvs()
    await using backup = spawnDashkeep(['backup', '--json'], { env })
    const { exitCode, stdout } = await backup.finished
    expect(exitCode).toBe(0)
    expect(accountsOf(stdout)).toMatchObject([{ accountId: shopId, result: 'first' }])
    expect(server.bucket.objects.size).toBe(4)
    expect(trial.sandbox.requests()).toHaveLength(4)
  })

  it('outlasts what passes, and the log says so line by line', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    server.inject({ operation: 'PutObject', kind: 'error', status: 503, code: 'SlowDown' })
    const { exitCode, stderr } = await trial.run(['backup'], env)
    expect(exitCode).toBe(0)
    const retries = jsonLines(stderr).filter(({ msg }) => msg === 'retrying')
    expect(retries).toEqual([
      expect.objectContaining({
        action: 'write',
        target: expect.stringMatching(/^s3:\/\/backups\/kept\/here\/100001\/.*\.json\.zst$/),
        attempt: 1,
        delayMs: expect.any(Number),
        reason: expect.stringMatching(/: the server asks to slow down$/),
      }),
    ])
  })

  it.each([
    ['backup', 'PutObject'],
    ['list', 'ListObjectsV2'],
    ['doctor', 'PutObject'],
  ] as const)('leaves its cause in the log of %s, once', async (verb, operation) => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    server.inject({ operation, kind: 'error', status: 418, code: 'Teapot', times: 3 })
    const causes = (stderr: string) => stderr.split('\n').filter((line) => line.includes('"cause"'))
    const { stderr } = await trial.run([verb, '--verbose'], env)
    expect(causes(stderr).map((line) => JSON.parse(line))).toMatchObject([
      { level: 'debug', msg: 'cause of the failure', cause: expect.stringMatching(/^Teapot \(/) },
    ])
    server.inject({ operation, kind: 'error', status: 418, code: 'Teapot', times: 3 })
    expect(causes((await trial.run([verb], env)).stderr)).toEqual([])
  })

  it('has what the AWS SDK warns of, and each retry, in the log of doctor', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    const { accessKeyId: id, secretAccessKey: secret } = server.credentials
    const keys = `aws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`
    const config = await trial.write('aws', `[profile nightly]\n${keys}`)
    server.inject({ operation: 'PutObject', kind: 'drop-before' })
    const variables = { ...env, AWS_CONFIG_FILE: config, AWS_PROFILE: 'nightly' }
    const { exitCode, stderr } = await trial.run(['doctor'], variables)
    expect(exitCode).toBe(0)
    expect(jsonLines(stderr)).toMatchObject([
      { level: 'warn', msg: 'the AWS SDK warns', reason: expect.stringMatching(/^AWS_PROFILE/) },
      { level: 'warn', msg: 'retrying', action: 'write' },
    ])
  })

  it('counts no probe of doctor among its snapshots, and keeps none', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    const { exitCode, stdout } = await trial.run(['doctor'], env)
    expect(exitCode).toBe(0)
    for (const right of ['write', 'read', 'list', 'delete']) {
      expect(stdout).toMatch(new RegExp(`^ok +store ${right}: s3://backups/kept/here$`, 'm'))
    }
    expect(server.operations()).toContain('PutObject')
    expect(server.bucket.objects.size).toBe(0)
  })
})

describe('a bucket that cannot take the archive', () => {
  const wrong: [
    what: string,
    changes: Record<string, string | undefined>,
    state: RegExp,
    hint: RegExp,
  ][] = [
    [
      'it does not exist',
      { DASHKEEP_STORE: 's3://no-such-bucket/x' },
      /the bucket no-such-bucket does not exist/,
      /create the bucket/,
    ],
    [
      'the access key is unknown',
      { AWS_ACCESS_KEY_ID: 'somebody' },
      /the server does not know the access key/,
      /AWS_ACCESS_KEY_ID/,
    ],
    [
      'there are no credentials',
      { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined },
      /no credentials were found/,
      /AWS_ACCESS_KEY_ID/,
    ],
  ]

  it.each(wrong)('is named when %s', async (_what, changes, state, hint) => {
    await using started = await startTrialInBucket(changes)
    const { trial, server, env } = started
    const backup = await trial.run(['backup', '--json'], env)
    expect(backup.exitCode).toBe(2)
    const [account] = accountsOf(backup.stdout)
    expect(account?.error).toMatch(state)
    expect(account?.hint).toMatch(hint)
    for (const verb of ['list', 'show', 'verify']) {
      const { exitCode, stdout, stderr } = await trial.run([verb], env)
      expect(exitCode).toBe(2)
      expect(stdout).toBe('')
      expect(stderr.match(/^error: /gm)).toHaveLength(1)
      expect(stderr).toMatch(state)
      expect(stderr).toMatch(hint)
    }
    const doctor = await trial.run(['doctor'], env)
    expect(doctor.exitCode).toBe(1)
    expect(doctor.stdout.match(/^failed +store write: .*$/gm)?.join()).toMatch(state)
    expect(server.bucket.objects.size).toBe(0)
  })

  const faults: [what: string, status: number, code: string, exitCode: number, state: RegExp][] = [
    ['the secret key is wrong', 403, 'SignatureDoesNotMatch', 2, /the secret key does not belong/],
    ['it may not be written', 403, 'AccessDenied', 2, /access denied/],
    ['its quota is used up', 403, 'QuotaExceeded', 1, /the quota is used up/],
  ]

  it.each(faults)('is named when %s', async (_what, status, code, exitCode, state) => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    const before = new Map(server.bucket.objects)
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    trial.sandbox.setObjects(shopId, 'search', document.replace('Slow', 'Slower'))
    server.inject({ operation: 'PutObject', kind: 'error', status, code, times: 100 })
    const backup = await trial.run(['backup', '--json'], env)
    expect(backup.exitCode).toBe(exitCode)
    const [account] = accountsOf(backup.stdout)
    expect(account?.error).toMatch(state)
    expect(account?.hint).toMatch(/\w/)
    expect(server.bucket.objects).toEqual(before)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
  })

  it('leaves no snapshot when the manifest is refused, and the next run succeeds', async () => {
    await using started = await startTrialInBucket()
    const { trial, server, env } = started
    const refuse = { operation: 'PutObject', kind: 'error', status: 403, code: 'AccessDenied' }
    let seen = 0
    const put = server.bucket.objects.set.bind(server.bucket.objects)
    server.bucket.objects.set = (key, value) => {
      seen += 1
      if (seen === 3) server.inject({ ...refuse, times: 1 } as Parameters<typeof server.inject>[0])
      return put(key, value)
    }
    expect((await trial.run(['backup'], env)).exitCode).toBe(2)
    const list = await trial.run(['list', '--json'], env)
    expect(list).toMatchObject({ exitCode: 0, stdout: '' })
    // There is no snapshot to prove.
    expect((await trial.run(['verify'], env)).exitCode).toBe(3)
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
  })

  it('is found out when it keeps other bytes than it was given, or none', async () => {
    for (const fault of [{ kind: 'flip-byte', afterBytes: 100 }, { kind: 'pretend' }] as const) {
      await using started = await startTrialInBucket()
      const { trial, server, env } = started
      server.inject({ operation: 'PutObject', ...fault })
      const { exitCode, stdout } = await trial.run(['backup'], env)
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(/failed default: Cannot trust what was stored under 100001\//)
      expect((await trial.run(['list', '--json'], env)).stdout).toBe('')
    }
  })
})
