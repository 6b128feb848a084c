import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { futureToleranceMs } from '../../src/archive/future.ts'
import { decodeManifest, encodeManifest } from '../../src/archive/manifest.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { startWorker } from '../worker/start-worker.ts'
import { minutes } from '../worker/stepped-clock.ts'
import { jsonLines } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

const noon = new Date('2026-11-20T12:00:00Z')
const nextYear = new Date('2027-11-20T12:00:00Z')

function hoursLater(hours: number): Date {
  return new Date(noon.getTime() + hours * 3600_000)
}

/** An archive with a snapshot of noon and one of a run whose clock was a year ahead. */
async function startWithFuture() {
  const trial = await startTrial()
  await trial.runAt(noon, ['backup'])
  const wrong = await trial.runAt(nextYear, ['backup', '--full'])
  expect(wrong.exitCode).toBe(0)
  const [real, future] = (await trial.snapshots()) as [string, string]
  const at = (hours: number, args: readonly string[]) => trial.runAt(hoursLater(hours), args)
  return { trial, at, real, future }
}

/** Takes a snapshot that is suspect: every dashboard is gone. */
async function emptyDashboards(trial: Trial, hours: number) {
  trial.sandbox.setObjects(shopId, 'dashboard', [])
  return trial.runAt(hoursLater(hours), ['backup'])
}

describe('with a snapshot from the future', () => {
  it('status exits 3 while the real newest is fresh, and 4 once it is stale', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const fresh = await at(2, ['status', '--max-age', '26h', '--json'])
    expect(fresh.exitCode).toBe(3)
    expect(JSON.parse(fresh.stdout)).toMatchObject({
      accounts: [{ state: 'from-future', snapshot: real, fromFuture: [future], snapshots: 2 }],
    })
    const stale = await at(27, ['status', '--max-age', '26h'])
    expect(stale.exitCode).toBe(4)
    expect(stale.stdout).toMatch(new RegExp(`stale .*${real}`))
    expect(stale.stdout).toContain(`from the future ${shopId}/${future}`)
    expect(stale.stderr).toContain(future)
    expect((await at(-1, ['status', '--json'])).stdout).toContain('"fromFuture":[')
    expect((await trial.runAt(nextYear, ['status'])).exitCode).toBe(0)
  })

  it('status shows the suspects that came after it, and exits 3', async () => {
    const { trial, at, real } = await startWithFuture()
    await using _trial = trial
    expect((await emptyDashboards(trial, 1)).exitCode).toBe(3)
    const { exitCode, stdout } = await at(2, ['status', '--json'])
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [
        { state: 'suspect', snapshot: real, suspects: [{ reasons: [expect.any(String)] }] },
      ],
    })
  })

  it('a backup is measured against the real newest, says so and exits 3', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stdout } = await at(1, ['backup', '--json'])
    expect(exitCode).toBe(3)
    const [account] = (JSON.parse(stdout) as { accounts: object[] }).accounts
    expect(account).toMatchObject({
      result: 'unchanged',
      sameAs: real,
      warnings: [expect.stringContaining(future)],
    })
  })

  it.each([
    ['show', ['show', 'latest', '--json'], 0],
    ['show by date', ['show', '2026-11-20', '--json'], 0],
    ['show by a date to come', ['show', '2030-01-01', '--json'], 0],
    ['cat', ['cat', 'search'], 0],
    ['diff', ['diff', 'latest', 'latest', '--json'], 0],
    ['find', ['find', 'Shop', '--json'], 0],
    ['find --all', ['find', 'Shop', '--all', '--json'], 0],
    ['history', ['history', 'Shop overview', '--json'], 0],
    ['pin', ['pin', 'latest', '--json'], 0],
    ['verify latest', ['verify', 'latest', '--json'], 0],
  ])('%s takes the real one for the newest and says so', async (_name, args, code) => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stdout, stderr } = await at(2, args)
    expect(exitCode).toBe(code)
    expect(stderr).toContain(`snapshots from the future are ignored: ${future}`)
    expect(stdout).not.toContain(future)
    if (['show', 'pin', 'find'].includes(args[0] as string)) expect(stdout).toContain(real)
  })

  it('latest~1 counts from the real newest', async () => {
    const { trial, at } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stderr } = await at(2, ['show', 'latest~1'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('the account has only 1 snapshot')
  })

  it('restore takes the real newest, or the one from the future by its name', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const latest = await at(2, ['restore', '--to', join(trial.folder, 'a'), '--json'])
    expect(latest.exitCode).toBe(0)
    expect(JSON.parse(latest.stdout)).toMatchObject({ source: { snapshot: real } })
    expect(latest.stderr).toContain(future)
    const named = await at(2, ['restore', future, '--to', join(trial.folder, 'b'), '--json'])
    expect(named.exitCode).toBe(0)
    expect(JSON.parse(named.stdout)).toMatchObject({ source: { snapshot: future } })
  })

  it('a drill restores the real newest', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stdout, stderr } = await at(2, ['restore', '--drill', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [{ snapshot: real, result: 'restored', fromFuture: [future] }],
    })
    expect(stderr).toContain(future)
  })

  it('list marks it', async () => {
    const { trial, at, future } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stdout, stderr } = await at(2, ['list', '--json'])
    expect(exitCode).toBe(0)
    expect(jsonLines(stdout).map(({ fromFuture }) => fromFuture)).toEqual([false, true])
    expect(stderr).toContain(future)
    expect((await at(2, ['list'])).stdout).toMatch(new RegExp(`${future} .* from the future `))
  })

  it('verify proves it like any other, and names it', async () => {
    const { trial, at, future } = await startWithFuture()
    await using _trial = trial
    const { exitCode, stdout, stderr } = await at(2, ['verify', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ snapshots: 2, fromFuture: [future] })
    expect(stderr).toContain(future)
  })

  it('prune gives it no place in a rule and keeps the real newest', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    await at(24, ['backup', '--full'])
    const last = (await trial.snapshots())[1] as string
    const { exitCode, stdout, stderr } = await at(26, ['prune', '--keep-last', '1', '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`keep .*${last} .*among the newest 1, newest good snapshot`))
    expect(stdout).toMatch(new RegExp(`keep .*${future} .*from the future`))
    expect(stdout).toMatch(new RegExp(`remove .*${real}`))
    expect(stderr).toContain(future)
    expect(await trial.snapshots()).toEqual([last, future])
  })

  it('prune removes nothing, with exit code 3, while the real newest is suspect', async () => {
    const { trial, at } = await startWithFuture()
    await using _trial = trial
    await emptyDashboards(trial, 1)
    const { exitCode, stdout } = await at(2, ['prune', '--keep-last', '1', '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain('the newest snapshot is suspect')
    expect(await trial.snapshots()).toHaveLength(3)
  })

  it('prune --remove takes it away by its name, and all is well again', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const plan = await at(2, ['prune', '--remove', future])
    expect(plan.exitCode).toBe(0)
    expect(plan.stdout).toMatch(new RegExp(`remove .*${future}`))
    expect(plan.stdout).not.toContain(real)
    expect(await trial.snapshots()).toEqual([real, future])
    const { exitCode, stdout } = await at(2, ['prune', '--remove', future, '--yes', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ done: true, removed: 1 })
    expect(await trial.snapshots()).toEqual([real])
    expect((await at(2, ['status', '--max-age', '26h'])).exitCode).toBe(0)
    expect((await at(2, ['backup'])).exitCode).toBe(0)
    expect((await at(2, ['verify'])).exitCode).toBe(0)
  })

  it('prune --remove keeps what others need, with the reason and exit code 3', async () => {
    const { trial, at, real, future } = await startWithFuture()
    await using _trial = trial
    const newest = await at(2, ['prune', '--remove', real, future, '--yes'])
    expect(newest.exitCode).toBe(3)
    expect(newest.stdout).toMatch(new RegExp(`keep .*${real} .*newest good snapshot`))
    expect(await trial.snapshots()).toEqual([real])
    await at(3, ['backup'])
    await at(6, ['pin', 'latest'])
    await at(24, ['backup', '--full'])
    const [, sharer, last] = (await trial.snapshots()) as [string, string, string]
    const { exitCode, stdout } = await at(26, ['prune', '--remove', real, sharer, '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(new RegExp(`keep .*${sharer} .*pinned`))
    expect(stdout).toMatch(new RegExp(`keep .*${real} .*1 kept snapshot shares its files`))
    expect(await trial.snapshots()).toEqual([real, sharer, last])
  })

  it('prune --remove leaves the only snapshot there is', async () => {
    await using trial = await startTrial()
    await trial.runAt(nextYear, ['backup'])
    const [only] = (await trial.snapshots()) as [string]
    const { exitCode, stdout } = await trial.runAt(noon, ['prune', '--remove', only, '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain('there is no good snapshot but those from the future')
    expect(await trial.snapshots()).toEqual([only])
  })

  it('prune --remove refuses a name that is not there, and rules beside it', async () => {
    const { trial, at, future } = await startWithFuture()
    await using _trial = trial
    const unknown = await at(2, ['prune', '--remove', future.slice(0, 8), '--yes'])
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toMatch(
      /Cannot remove the snapshot 20271120: .*\nhint: use the full name/,
    )
    const both = await at(2, ['prune', '--remove', future, '--keep-last', '1', '--yes'])
    expect(both.exitCode).toBe(2)
    expect(both.stderr).toContain('exclude each other')
    expect(await trial.snapshots()).toHaveLength(2)
  })

  it('reads that need a newest one end in exit code 2 when there is no other', async () => {
    await using trial = await startTrial()
    await trial.runAt(nextYear, ['backup'])
    const shown = await trial.runAt(noon, ['show'])
    expect(shown.exitCode).toBe(2)
    expect(shown.stderr).toContain('every snapshot of the account is from the future')
    const args = ['status', '--max-age', '26h', '--json']
    const status = await trial.runAt(noon, args, { DASHKEEP_ACCOUNT_ID: String(shopId) })
    expect(status.exitCode).toBe(3)
    expect(JSON.parse(status.stdout)).toMatchObject({ accounts: [{ state: 'from-future' }] })
    expect((await trial.runAt(noon, ['restore', '--drill'])).exitCode).toBe(3)
  })
})

describe('a manifest whose time is not that of its name', () => {
  it('is a defect for verify, and does not make status fresh', async () => {
    await using trial = await startTrial()
    await trial.runAt(noon, ['backup'])
    const [snapshot] = await trial.snapshots()
    const key = `${shopId}/${snapshot}/manifest.json`
    const manifest = decodeManifest((await trial.files()).get(key) as Buffer, key)
    const takenAt = hoursLater(47).toISOString()
    const edited = encodeManifest({ ...manifest, takenAt })
    await trial.write(`archive/${key}`, Buffer.from(edited))
    const verified = await trial.runAt(hoursLater(48), ['verify', '--json'])
    expect(verified.exitCode).toBe(5)
    expect(JSON.parse(verified.stdout)).toMatchObject({
      report: [{ snapshot, key, problem: expect.stringContaining(takenAt) }],
    })
    const status = await trial.runAt(hoursLater(48), ['status', '--max-age', '26h'])
    expect(status.exitCode).toBe(4)
  })
})

describe('a snapshot that is hardly ahead', () => {
  it('counts as the newest, and the next run still gets the later name', async () => {
    await using trial = await startTrial()
    const ahead = new Date(noon.getTime() + futureToleranceMs)
    await trial.runAt(ahead, ['backup'])
    expect((await emptyDashboards(trial, 0)).exitCode).toBe(3)
    const [first, second] = await trial.snapshots()
    const { exitCode, stdout } = await trial.runAt(noon, ['status', '--json'])
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [{ state: 'suspect', snapshot: first, suspects: [{ snapshot: second }] }],
    })
    expect((await trial.runAt(noon, ['verify'])).exitCode).toBe(0)
  })
})

const lastSuccess = 'dashkeep_last_success_timestamp_seconds{account="default"}'
const schedule = { DASHKEEP_SCHEDULE: '*/5 * * * *', DASHKEEP_ACCOUNT_ID: String(shopId) }

describe('a worker', () => {
  it('finds an account late whose only fresh snapshot is from the future', async () => {
    const { trial, future } = await startWithFuture()
    await using _trial = trial
    const env = { ...trial.env, ...schedule }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T14:01:00Z' })
    expect(worker.log().map(({ msg }) => msg)).toContain('catching up')
    await worker.untilEnded(1)
    expect(await worker.metric(lastSuccess)).toBe(Date.parse('2026-11-20T14:01:00Z') / 1000)
    expect(await worker.metric('dashkeep_last_run_success{account="default"}')).toBe(0)
    const warnings = worker.log().filter(({ msg }) => String(msg).includes(future))
    expect(warnings.length).toBeGreaterThan(0)
    expect(worker.log().find(({ msg }) => msg === 'run ended')).toMatchObject({ exitCode: 3 })
  })

  it('shows the real last success at its start', async () => {
    const { trial } = await startWithFuture()
    await using _trial = trial
    const env = { ...trial.env, ...schedule }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    expect(await worker.metric(lastSuccess)).toBe(noon.getTime() / 1000)
  })

  it('withdraws a success of its own when the clock turns out to have been wrong', async () => {
    await using trial = await startTrial()
    const env = { ...trial.env, ...schedule }
    await using worker = await startWorker({ trial, env, start: nextYear.toISOString() })
    await worker.untilEnded(1)
    expect(await worker.metric(lastSuccess)).toBe(nextYear.getTime() / 1000)
    trial.sandbox.faults.add({ operation: 'whoami', refused: true })
    worker.clock.set('2026-11-20T12:00:00Z')
    await worker.stepUntilEnded(6 * minutes, 2)
    expect(await worker.metric(lastSuccess)).toBeUndefined()
  })
})

describe('the textfile of single runs', () => {
  it('drops a success from the future when the archive knows no other', async () => {
    await using trial = await startTrial()
    const textfile = join(trial.folder, 'dashkeep.prom')
    const changes = { ...schedule, DASHKEEP_METRICS_TEXTFILE: textfile }
    await trial.runAt(nextYear, ['backup'], changes)
    expect(await readFile(textfile, 'utf8')).toContain(`${lastSuccess} ${+nextYear / 1000}\n`)
    trial.sandbox.faults.add({ operation: 'whoami', refused: true })
    expect((await trial.runAt(noon, ['backup'], changes)).exitCode).toBe(2)
    expect(await readFile(textfile, 'utf8')).not.toContain(lastSuccess)
  })
})

describe('the message of a failed run', () => {
  it('names the real last good snapshot', async () => {
    await using receiver = await startReceiver()
    const { trial } = await startWithFuture()
    await using _trial = trial
    trial.sandbox.faults.add({ operation: 'whoami', refused: true })
    const changes = { ...schedule, DASHKEEP_WEBHOOK_URL: `${receiver.url}/hook` }
    expect((await trial.runAt(hoursLater(2), ['backup'], changes)).exitCode).toBe(2)
    expect(receiver.jsonAt('/hook')).toMatchObject([
      { accounts: [{ lastGood: { takenAt: noon.toISOString() } }] },
    ])
  })
})
