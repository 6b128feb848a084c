import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { neverAnswer, refuse, serverCredentials, startServer } from '../s3-server/stub.ts'
import { startWorker } from '../worker/start-worker.ts'
import { until } from './run-dashkeep.ts'
import { readTree, shopId, startTrial } from './trial.ts'

/** A trial whose configured archive and copy are folders, with one snapshot in both. */
async function startWithCopy() {
  const trial = await startTrial()
  const config = await trial.write('copies.yaml', {
    store: { url: './archive' },
    copies: [{ name: 'offsite', url: './second' }],
  })
  const env = { DASHKEEP_STORE: undefined, DASHKEEP_CONFIG: config }
  const run = (...args: string[]) => trial.run(args, env)
  await run('backup')
  return { trial, run, second: join(trial.folder, 'second') }
}

describe('configured stores', () => {
  it('are reached with their own settings, also by their address', async () => {
    await using server = await startServer(refuse)
    await using trial = await startTrial()
    await trial.run(['backup'])
    const url = 's3://bucket/archive'
    const config = await trial.write('copies.yaml', {
      store: { url, ...server.store },
      copies: [{ name: 'offsite', url: './archive' }],
    })
    const env = { ...serverCredentials, DASHKEEP_STORE: undefined, DASHKEEP_CONFIG: config }
    for (const to of ['archive', url, `${url}/`]) {
      const { stderr } = await trial.run(['copy', '--store', 'offsite', '--to', to], env)
      expect(stderr).toContain(`Cannot list ${url}: access denied`)
    }
    expect(server.requests).toHaveLength(3)
  })

  it('take the address of a copy like its name, and compare the other store with no copy', async () => {
    const { trial, run, second } = await startWithCopy()
    await using _ = trial
    for (const store of [second, `${second}/`, 'offsite']) {
      const verified = await run('verify', '--store', store)
      expect(verified.stdout, verified.stderr).toMatch(/^verified 1 snapshot /)
      const { stdout } = await run('status', '--store', store, '--json')
      expect(JSON.parse(stdout)).not.toHaveProperty('copies')
    }
    const back = await run('copy', '--store', second, '--to', 'archive', '--json')
    expect(JSON.parse(back.stdout)).toMatchObject({ there: 1, missing: 0 })
    const status = await run('status', '--store', trial.archive, '--json')
    expect(JSON.parse(status.stdout)).toMatchObject({ copies: [{ name: 'offsite' }] })
  })

  it('get no copies of another archive that --store names', async () => {
    const { trial, run, second } = await startWithCopy()
    await using _ = trial
    const before = await readTree(second)
    expect((await run('backup', '--store', join(trial.folder, 'other'))).exitCode).toBe(0)
    expect(await readTree(second)).toEqual(before)
  })

  it('are checked by `config check`', async () => {
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', { copies: [{ name: 'a', url: 's3://b' }] })
    const { exitCode, stderr } = await trial.run(['config', 'check', '--config', config])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('"b" is not a valid bucket name')
  })
})

describe('doctor', () => {
  it('checks the rights that a copy needs', async () => {
    const { trial, run, second } = await startWithCopy()
    await using _ = trial
    const { stdout, exitCode } = await run('doctor')
    for (const right of ['write', 'read', 'list', 'apart', 'delete']) {
      expect(stdout).toMatch(new RegExp(`^ok +copy offsite ${right}: file:.*/second$`, 'm'))
    }
    expect(exitCode).toBe(0)
    expect(await readTree(second)).toEqual(await trial.files())
    await rm(second, { recursive: true })
    await writeFile(second, 'a file where the folder should be')
    const failed = await run('doctor')
    expect(failed.stdout).toMatch(/^failed +copy offsite write: Cannot /m)
    expect(failed.exitCode).toBe(1)
  })

  it('finds a copy that is the archive itself by another address of its server', async () => {
    await using server = await startS3Server()
    await using trial = await startTrial()
    const url = `s3://${server.bucketName}/archive`
    const other = server.url.replace('127.0.0.1', 'localhost')
    const config = await trial.write('copies.yaml', {
      store: { url, endpoint: server.url, region: 'us-east-1' },
      copies: [{ name: 'same', url, endpoint: other, region: 'us-east-1' }],
    })
    const { accessKeyId, secretAccessKey } = server.credentials
    const keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }
    const env = { ...keys, DASHKEEP_STORE: undefined, DASHKEEP_CONFIG: config }
    const { stdout, exitCode } = await trial.run(['doctor'], env)
    expect(stdout).toMatch(/^failed +copy same apart: .*that is the archive itself$/m)
    expect(exitCode).toBe(1)
  })
})

describe('copies after a run', () => {
  it('get pins too', async () => {
    const { trial, run, second } = await startWithCopy()
    await using _ = trial
    await run('pin', 'latest')
    expect((await run('backup')).exitCode).toBe(0)
    expect(await readTree(second)).toEqual(await trial.files())
  })

  it('that do not answer end after their deadline, and hold up no other copy', async () => {
    await using server = await startServer(neverAnswer)
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', {
      copies: [
        { name: 'dead', url: 's3://bucket/copy', ...server.store, deadline: '1s' },
        { name: 'good', url: './second' },
      ],
    })
    const { exitCode, stdout } = await trial.run(['backup', '--config', config], serverCredentials)
    expect(stdout).toContain(
      'warning not copied to dead: Cannot finish the copy: it takes longer than 1s',
    )
    expect(exitCode).toBe(3)
    expect(await readTree(join(trial.folder, 'second'))).toEqual(await trial.files())
  })

  it('name the first of several defects, which may cause the others', async () => {
    const { trial, run } = await startWithCopy()
    await using _ = trial
    await run('backup', '--full')
    const [, ...keys] = [...(await trial.files()).keys()].sort()
    const key = keys.findLast((one) => one.endsWith('search.json.zst')) as string
    await trial.write(join('archive', key), 'x')
    const { stdout } = await run('backup')
    expect(stdout).toContain(`warning not copied to offsite: ${key}: it has 1 bytes instead of`)
  })

  it('that do not answer leave a good run of the worker, with exit code 3, at its deadline', async () => {
    await using server = await startServer(neverAnswer)
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', {
      schedule: { cron: '0 * * * *', deadline: '10m' },
      copies: [{ name: 'dead', url: 's3://bucket/copy', ...server.store }],
    })
    const env = { ...trial.env, ...serverCredentials, DASHKEEP_CONFIG: config }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await until('the copy is asked', () => server.requests.length > 0)
    await worker.stepUntilEnded(10 * 60_000, 1)
    const ended = worker.log().find(({ msg }) => msg === 'run ended')
    expect(ended).toMatchObject({ good: 1, failed: 0, exitCode: 3 })
    expect(ended).not.toHaveProperty('reason')
    expect(worker.log().find(({ msg }) => msg === 'not copied')).toMatchObject({
      reason: 'not copied to dead: Cannot finish the run: it takes longer than 600 s',
    })
  })

  it('that are not done when the worker is stopped leave a run that is reported', async () => {
    await using server = await startServer(neverAnswer)
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', {
      schedule: { cron: '0 * * * *' },
      copies: [{ name: 'dead', url: 's3://bucket/copy', ...server.store }],
    })
    const env = { ...trial.env, ...serverCredentials, DASHKEEP_CONFIG: config }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await until('the copy is asked', () => server.requests.length > 0)
    await worker.stop()
    expect(worker.log().find(({ msg }) => msg === 'run ended')).toMatchObject({
      good: 1,
      exitCode: 3,
    })
    expect(worker.log().some(({ msg }) => msg === 'run interrupted')).toBe(false)
  })

  it.each([
    ['lack something', { copies: [{ name: 'broken', url: './a-file' }] }, false],
    ['are complete', { copies: [{ name: 'good', url: './second' }] }, true],
  ])('that %s decide whether the worker prunes the account', async (_what, section, isPruned) => {
    await using trial = await startTrial()
    await trial.write('a-file', 'no folder')
    for (const hour of ['10', '11']) {
      await trial.runAt(new Date(`2026-11-20T${hour}:00:00Z`), ['backup', '--full'])
    }
    trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
    const config = await trial.write('copies.yaml', {
      schedule: { cron: '0 * * * *', pruneAfter: true },
      retention: { last: 1 },
      ...section,
    })
    const env = { ...trial.env, DASHKEEP_CONFIG: config }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await worker.untilEnded(1)
    expect((await trial.snapshots()).length < 3).toBe(isPruned)
  })
})
