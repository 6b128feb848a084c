import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { DashkeepError } from '../../src/errors.ts'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { askDashkeep, jsonLines, runDashkeep, until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { accountsFrom, readTree, shop, shopId, startTrial, type Trial, types } from './trial.ts'

/** A service that takes imports, with a snapshot of it. */
async function startWithSnapshot(changes: Parameters<typeof shop>[0] = {}) {
  const trial = await startTrial({ extraOperations: true, accounts: [shop(changes)] })
  const backup = await trial.run(['backup'])
  expect(backup.exitCode, backup.stderr).toBe(0)
  const [snapshot] = (await trial.snapshots()) as [string]
  return { trial, snapshot, before: objectsOf(trial) }
}

/** The service's hits in their bytes, by id. */
function objectsOf({ sandbox }: Pick<Trial, 'sandbox'>, accountId = shopId): Map<string, string> {
  const hits = types.flatMap((type) => {
    const document = JSON.parse(Buffer.from(sandbox.objects(accountId, type)).toString())
    return (document as { hits: { _id: string }[] }).hits
  })
  return new Map(hits.map((hit) => [hit._id, JSON.stringify(hit)]))
}

function empty({ sandbox }: Trial): void {
  for (const type of types) sandbox.setObjects(shopId, type, [])
}

/** Gives the first dashboard another title. */
function rename(trial: Trial): void {
  changeDashboard(trial, (dashboard) => ({ ...dashboard, title: 'Renamed' }))
}

function changeDashboard({ sandbox }: Trial, change: (dashboard: object) => object): void {
  const [first, ...others] = sampleObjects().dashboard
  const dashboard = change(first?._source.dashboard as object)
  const changed = { ...first, _source: { ...first?._source, dashboard } }
  sandbox.setObjects(shopId, 'dashboard', [changed, ...others])
}

/** A dashboard that holds a text of this length. */
function textDashboard(id: string, size: number) {
  const dashboard = { title: id, description: 'x'.repeat(size) }
  return { _type: '_doc', _id: `dashboard:${id}`, _source: { type: 'dashboard', dashboard } }
}

interface ImportBody {
  readonly override: boolean
  readonly hits: { _id: string }[]
}

/** Bodies of the imports that the service has received, the question whether it takes any included. */
function requestedImports({ sandbox }: Trial): ImportBody[] {
  const requests = sandbox.requests().filter(({ operation }) => operation === 'import')
  return requests.map(({ body }) => JSON.parse(body))
}

/** The same without that question, which has no objects in it. */
function importsOf(trial: Trial): ImportBody[] {
  return requestedImports(trial).filter(({ hits }) => hits.length > 0)
}

const overview = 'dashboard:shop-overview'

describe('restore --to-service', () => {
  it('shows what it would do, and sends nothing before somebody agrees', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
    rename(trial)
    const changed = objectsOf(trial)
    const { exitCode, stdout, stderr } = await trial.run(['restore', '--to-service'])
    expect(exitCode).toBe(2)
    expect(stdout).toContain(`From snapshot ${snapshot} of account ${shopId} (Shop)`)
    expect(stdout).toMatch(/create +1 .*\n {2}\+ search:failed-orders {2}Failed orders\n/)
    expect(stdout).toMatch(/leave +1 .*kept without --overwrite\n {2}= dashboard:shop-overview/)
    expect(stdout).toMatch(/same +12 /)
    expect(stdout).toContain('Index patterns that must exist, because no export includes them:\n')
    expect(stdout).toMatch(/Nothing was sent\n$/)
    expect(stderr).toMatch(/^error: Cannot restore: it needs a confirmation\nhint: add --yes/m)
    const json = await trial.run(['restore', '--to-service', '--json'])
    expect([json.exitCode, JSON.parse(json.stdout)]).toMatchObject([2, { done: false, same: 12 }])
    expect(requestedImports(trial)).toEqual([])
    expect(objectsOf(trial)).toEqual(changed)
  })

  it('only shows the plan with --dry-run, and that is no failure', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    for (const more of [[], ['--yes'], ['--json']]) {
      const run = await trial.run(['restore', '--to-service', '--dry-run', ...more])
      expect([run.exitCode, run.stderr]).toEqual([0, ''])
    }
    expect(requestedImports(trial).filter(({ hits }) => hits.length > 0)).toEqual([])
    const { exitCode, stderr } = await trial.run(['restore', '--to', '/x', '--dry-run'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/--dry-run .*--to-service/)
  })

  it('is done with when somebody answers no', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const { exitCode, stdout } = await askDashkeep(['restore', '--to-service'], {
      env: trial.env,
      key: 'n\n',
    })
    expect([exitCode, stdout.split('\n').at(-2)]).toEqual([0, 'Nothing was sent'])
    expect(requestedImports(trial)).toEqual([])
  })

  it('brings back everything that was deleted, byte for byte', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('restored 14 of 14 objects, confirmed by a fresh export')
    expect(objectsOf(trial)).toEqual(before)
    const again = await trial.run(['restore', '--to-service', '--yes'])
    expect(again.exitCode).toBe(0)
    expect(again.stdout).toMatch(/same +14 [\s\S]*Nothing to send\n$/)
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('brings back one dashboard with what it needs, and nothing else', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const args = ['restore', '--object', 'shop OVERVIEW', '--to-service', '--yes', '--json']
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(0)
    const restored = objectsOf(trial)
    expect([...restored.keys()].sort()).toEqual([
      overview,
      'search:failed-orders',
      'visualization:failed-orders-by-code',
      'visualization:orders-per-hour',
      'visualization:response-time',
      'visualization:turnover',
    ])
    for (const [id, hit] of restored) expect(hit).toBe(before.get(id))
    expect(JSON.parse(stdout)).toMatchObject({
      done: true,
      added: 5,
      missing: [],
      create: expect.arrayContaining([{ id: overview, title: 'Shop overview' }]),
      result: { restored: 6, differs: [], absent: [], failed: [], notSent: 0, errors: [] },
    })
  })

  it('sends what it creates without override, and leaves what exists', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    await trial.run(['restore', '--to-service', '--yes'])
    expect(importsOf(trial).map(({ override }) => override)).toEqual([false, false, false])
    rename(trial)
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/Nothing to send; --overwrite would replace 1 object\n$/)
    expect(objectsOf(trial).get(overview)).toContain('Renamed')
  })

  it('overwrites once told to, and keeps the state before as a snapshot', async () => {
    const { trial, snapshot, before } = await startWithSnapshot()
    await using _ = trial
    rename(trial)
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--yes', '--json']
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(0)
    expect(importsOf(trial)).toMatchObject([{ override: true, hits: [{ _id: overview }] }])
    expect(objectsOf(trial)).toEqual(before)
    const { before: kept } = JSON.parse(stdout) as { before: string }
    expect(await trial.snapshots()).toEqual([snapshot, kept])
    expect((await trial.content('dashboard', kept)).toString()).toContain('Renamed')
  })

  it('shows beforehand what it would change, as diff does', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    changeDashboard(trial, (dashboard) => {
      const members = Array.from({ length: 11 }, (_, place) => [`own${place}`, place])
      return { ...dashboard, title: 'Renamed', ...Object.fromEntries(members) }
    })
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--dry-run']
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(0)
    const shown = stdout.slice(stdout.indexOf('  ~ dashboard'), stdout.indexOf('\nsame'))
    expect(shown).toMatch(
      /^ {2}~ dashboard:shop-overview {2}Shop overview\n {6}~ title: "Renamed" → "Shop overview"\n( {6}- own\d: \d\n){9} {6}… and 2 more differences$/,
    )
    const { overwrite } = JSON.parse((await trial.run([...args, '--json'])).stdout)
    expect(overwrite).toMatchObject([{ id: overview, title: 'Shop overview' }])
    expect(overwrite[0].patch).toHaveLength(12)
    expect(overwrite[0].patch).toContainEqual({
      op: 'replace',
      path: '/_source/dashboard/title',
      value: 'Shop overview',
    })
  })

  it('sends nothing when the state before cannot be kept', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    rename(trial)
    trial.sandbox.faults.add({ operation: 'export', after: 3, status: 500 })
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--yes']
    const { exitCode, stderr } = await trial.run(args)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('nothing was sent, because the present objects could not be backed up')
    expect(importsOf(trial)).toEqual([])
  })

  it('sends nothing when an object to overwrite changes during the backup', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    const edited = trial.sandbox.objects(shopId, 'dashboard')
    rename(trial)
    // The plan and the backup export the dashboards first.
    trial.sandbox.faults.add({ operation: 'export', type: 'dashboard', after: 2, body: edited })
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--yes']
    const { exitCode, stderr } = await trial.run(args)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`Cannot restore: ${overview} changed in the service after the plan`)
    expect(stderr).toContain(`hint: nothing was sent; plan again from snapshot ${snapshot}`)
    expect(importsOf(trial)).toEqual([])
  })

  it('sends nothing when the backup has fewer objects than the service has now', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    rename(trial)
    const { hits, ...others } = JSON.parse(trial.sandbox.objects(shopId, 'dashboard').toString())
    const body = JSON.stringify({ ...others, hits: hits.slice(1) })
    const type = 'dashboard'
    trial.sandbox.faults.add({ operation: 'export', type, after: 1, times: 1, body })
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--yes']
    const { exitCode, stderr } = await trial.run(args)
    expect(exitCode).toBe(1)
    const counts = `has ${hits.length - 1} of ${hits.length} present objects of type dashboard`
    expect(stderr).toMatch(
      new RegExp(`Cannot restore: nothing was sent, because snapshot \\S+ ${counts}`),
    )
    expect(importsOf(trial)).toEqual([])
  })

  it('backs up the types that it overwrites, also if the configuration has others', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    rename(trial)
    const args = ['restore', snapshot, '--to-service', '--overwrite', '--yes', '--json']
    const { exitCode, stdout } = await trial.run(args, { DASHKEEP_TYPES: 'search' })
    expect(exitCode).toBe(0)
    const { before } = JSON.parse(stdout)
    const shown = await trial.run(['cat', overview, '--snapshot', before])
    expect(shown.stdout).toContain('Renamed')
  })

  it('sends no request that is larger than the limit, but for an object that is', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const config = await trial.write('small.yaml', { limits: { maxImportBytes: 1500 } })
    const args = ['restore', '--to-service', '--yes', '--config', config]
    expect((await trial.run(args)).exitCode).toBe(0)
    expect(objectsOf(trial)).toEqual(before)
    const sizes = trial.sandbox
      .requests()
      .filter(({ operation }) => operation === 'import')
      .map(({ body }) => body.length)
    expect(sizes.length).toBeGreaterThan(3)
    for (const [place, { hits }] of importsOf(trial).entries()) {
      if (hits.length > 1) expect(sizes[place]).toBeLessThanOrEqual(1500)
    }
  })

  it('lists what the service ignored when objects are not restored', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    trial.sandbox.setObjects(shopId, 'dashboard', sampleObjects().dashboard.slice(1))
    const body = JSON.stringify({ created: [], updated: [], ignored: [overview], failed: [] })
    trial.sandbox.faults.add({ operation: 'import', after: 1, body })
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('restored 0 of 1 object')
    expect(stdout).toMatch(/The service ignored 1 object, .*id:\n {2}! dashboard:shop-overview\n/)
    const json = await trial.run(['restore', '--to-service', '--yes', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ result: { ignored: [overview] } })
  })

  it('ends in exit code 3 with the objects that failed, and sends them when it is run again', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    trial.sandbox.faults.add({ operation: 'import', failIds: [overview, 'search:slow-requests'] })
    const first = await trial.run(['restore', '--to-service', '--yes'])
    expect(first.exitCode).toBe(3)
    expect(first.stdout).toContain('restored 12 of 14 objects')
    expect(first.stdout).toContain(`! ${overview} is missing`)
    expect(first.stdout).toContain('The service reports 2 objects as failed:')
    expect(first.stdout).toMatch(
      /To finish, run the command again with the same options and snapshot 2/,
    )
    trial.sandbox.faults.clear()
    const second = await trial.run(['restore', '--to-service', '--yes'])
    expect(second.exitCode).toBe(0)
    expect(second.stdout).toContain('restored 2 of 2 objects')
    expect(objectsOf(trial)).toEqual(before)
  })

  it('ends in exit code 3 when the service reports a failure, also if an export shows the object', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const answer = JSON.stringify({ created: [], updated: [], ignored: [], failed: ['a title'] })
    trial.sandbox.faults.add({ operation: 'import', after: 3, body: answer })
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain('! a title')
  })

  it('believes no answer that promises too much', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const answer = JSON.stringify({ created: ['x'], updated: [], ignored: [], failed: [] })
    trial.sandbox.faults.add({ operation: 'import', body: answer })
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout).result).toMatchObject({ restored: 0, absent: { length: 14 } })
  })

  it('stops at status 429 with the number of restored objects, and finishes when it is run again', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    trial.sandbox.faults.add({ operation: 'import', after: 2, status: 429 })
    const first = await trial.run(['restore', '--to-service', '--yes', '--json'])
    expect(first.exitCode).toBe(3)
    expect(JSON.parse(first.stdout)).toMatchObject({
      result: {
        restored: 4,
        notSent: 3,
        requests: [
          { objects: 4, answer: { created: 4 } },
          { objects: 7, error: /429/ },
        ],
        errors: [/asks for fewer requests/],
      },
    })
    trial.sandbox.faults.clear()
    expect((await trial.run(['restore', '--to-service', '--yes'])).exitCode).toBe(0)
    expect(objectsOf(trial)).toEqual(before)
  })

  it('is not troubled by an answer that was lost', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    trial.sandbox.faults.add({ operation: 'import', after: 1, lost: true, times: 1 })
    const { exitCode, stdout } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('restored 14 of 14 objects')
    expect(objectsOf(trial)).toEqual(before)
  })

  it('reports its progress when the connection ends in the middle, and finishes when it runs again', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    trial.sandbox.faults.add({ operation: 'import', after: 2, hang: true })
    const interruption = new AbortController()
    const running = runDashkeep(['restore', '--to-service', '--yes'], {
      env: trial.env,
      signal: interruption.signal,
    })
    await until('the second import hangs', () => importsOf(trial).length === 2)
    interruption.abort(new DashkeepError('Interrupted by SIGINT', { kind: 'interrupted' }))
    const { exitCode, stdout } = await running
    expect(exitCode).toBe(130)
    expect(stdout).toContain('sent 11 of 14 objects; the result was not checked')
    expect(stdout).toContain('3 objects not sent')
    trial.sandbox.faults.clear()
    const again = await trial.run(['restore', '--to-service', '--yes'])
    expect(again.exitCode).toBe(0)
    expect(again.stdout).toMatch(/create +10 /)
    expect(objectsOf(trial)).toEqual(before)
  })

  it('finishes what a run that was killed has begun', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    trial.sandbox.faults.add({ operation: 'import', after: 2, hang: true })
    const { env } = trial
    await using running = spawnDashkeep(['restore', '--to-service', '--yes'], { env })
    await until('the second import hangs', () => importsOf(trial).length === 2)
    running.kill('SIGKILL')
    const { stderr } = await running.finished
    expect(jsonLines(stderr)).toContainEqual(
      expect.objectContaining({ msg: 'imported', objects: 4, created: 4, failed: 0 }),
    )
    trial.sandbox.faults.clear()
    expect((await trial.run(['restore', '--to-service', '--yes'])).exitCode).toBe(0)
    expect(objectsOf(trial)).toEqual(before)
  })

  it('refuses another kibanaVersion without --any-version', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    for (const type of types) {
      trial.sandbox.setObjects(shopId, type, '{"kibanaVersion":"8.0.0","hits":[]}')
    }
    const stopped = await trial.run(['restore', '--to-service', '--yes'])
    expect(stopped.exitCode).toBe(2)
    expect(stopped.stderr).toContain('is of kibanaVersion 7.10.2, the service of 8.0.0')
    expect(requestedImports(trial)).toEqual([])
    const told = await trial.run(['restore', '--to-service', '--yes', '--any-version'])
    expect(told.exitCode).toBe(0)
    expect(objectsOf(trial).size).toBe(14)
  })

  it('puts objects into another account only when it is named', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    const other = { DASHKEEP_API_TOKEN: trial.sandbox.tokens(100002)[0] }
    const refused = await trial.run(['restore', '--to-service', '--yes'], other)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('the token belongs to account 100002')
    expect(refused.stderr).toContain('--into-account "default"')
    const named = ['restore', '--to-service', '--into-account', 'default', '--yes']
    expect((await trial.run(named, other)).exitCode).toBe(0)
    expect([...objectsOf(trial, 100002).keys()].sort()).toEqual([...before.keys()].sort())
  })

  it('restores nothing from a file that is damaged', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    empty(trial)
    const [path] = [...(await trial.files()).keys()].filter((key) =>
      key.endsWith('search.json.zst'),
    )
    const file = join(trial.archive, path as string)
    const bytes = await readFile(file)
    bytes[30] = (bytes[30] ?? 0) ^ 1
    await writeFile(file, bytes)
    const { exitCode, stderr } = await trial.run(['restore', '--to-service', '--yes'])
    expect(exitCode).toBe(5)
    expect(stderr).toContain('Cannot read the archive')
    expect(requestedImports(trial)).toEqual([])
  })

  it('refuses a suspect snapshot without --allow-suspect', async () => {
    const { trial, snapshot } = await startWithSnapshot()
    await using _ = trial
    trial.sandbox.setObjects(shopId, 'search', [])
    expect((await trial.run(['backup'])).exitCode).toBe(3)
    const refused = await trial.run(['restore', '--to-service'])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('it is suspect (search: 0 objects, down from 4)')
    expect(refused.stderr).toContain(`the last good one is ${snapshot}`)
    const told = await trial.run(['restore', '--to-service', '--allow-suspect', '--dry-run'])
    expect(told.exitCode).toBe(0)
  })

  it('names beforehand what the snapshot does not hold', async () => {
    const { visualization, dashboard } = sampleObjects()
    const documents = { search: [], visualization: visualization.slice(1), dashboard }
    const { trial } = await startWithSnapshot({ objects: { documents } })
    await using _ = trial
    empty(trial)
    const { stdout } = await trial.run(['restore', '-o', overview, '--to-service', '--json'])
    expect(JSON.parse(stdout).missing).toEqual(
      expect.arrayContaining([
        { type: 'search', objectId: 'failed-orders', neededBy: [expect.stringMatching(/^vis/)] },
      ]),
    )
    const shown = await trial.run(['restore', '-o', overview, '--to-service'])
    expect(shown.stdout).toMatch(/missing search:failed-orders, needed by visualization:/)
  })

  it('does not begin where the service takes no imports', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    rename(trial)
    const args = ['restore', '--to-service', '--overwrite', '--yes']
    const { exitCode, stdout, stderr } = await trial.run(args)
    expect(exitCode).toBe(1)
    expect(stdout).not.toContain('restored')
    expect(stderr).toContain(
      'Cannot restore into the service: the service has no endpoint for imports (status 404',
    )
    expect(stderr).toMatch(/hint: not every service accepts imports: .* --form deployed/)
    expect(stderr).not.toContain('import failed')
    // The present state is kept only for a restore that begins.
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('reports with --dry-run, too, that the service accepts no imports', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    rename(trial)
    const args = ['restore', '--to-service', '--overwrite', '--dry-run']
    const { exitCode, stdout, stderr } = await trial.run(args)
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('Nothing was sent')])
    expect(stderr).toContain('the service has no endpoint for imports')
  })
})

describe('choosing objects', () => {
  it.each([
    [
      'a name that is none',
      'shop overviev',
      /Cannot find the object/,
      /dashboard:shop-overview \(Shop overview\)/,
    ],
    ['a part that several have', 'orders', /objects of snapshot .* match/, /search:failed-orders/],
  ])('refuses %s and lists what is meant', async (_what, name, message, hint) => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const { exitCode, stderr } = await trial.run(['restore', '-o', name, '--to', trial.folder])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).toMatch(hint)
  })

  it('takes several by a glob, and leaves what they need when told to', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const to = join(trial.folder, 'out')
    const args = ['restore', '-o', 'dashboard:*', '--without-references', '--to', to, '--json']
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ written: { files: 1, objects: 3 }, missing: [] })
    expect([...(await readTree(to)).keys()]).toEqual(['dashboard.json'])
  })

  it.each([
    [[], /no target is given/],
    [['--to', '/x', '--ndjson', '/y'], /several targets are given/],
    [['latest', '--from', '/x', '--to', '/y'], /--from and a snapshot exclude/],
    [['--drill', '-o', 'x'], /newest good snapshot of every account/],
    [['--from', '/nowhere/at/all', '--to', '/y'], /there is no such folder/],
  ])('refuses restore %j', async (args, message) => {
    await using trial = await startTrial()
    const { exitCode, stderr } = await trial.run(['restore', ...args])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
  })
})

describe('restore into files', () => {
  it('writes export documents that the service takes back', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _ = trial
    const to = join(trial.folder, 'documents')
    expect((await trial.run(['restore', '--to', to])).exitCode).toBe(0)
    for (const type of types) {
      expect(await readFile(join(to, `${type}.json`))).toEqual(await trial.content(type))
    }
    const twice = await trial.run(['restore', '--to', to])
    expect(twice.exitCode).toBe(2)
    expect(twice.stderr).toContain('it is there already')
    empty(trial)
    const back = await trial.run(['restore', '--from', to, '--to-service', '--yes'])
    expect(back.exitCode, back.stderr).toBe(0)
    expect(objectsOf(trial)).toEqual(before)
  })

  it.each([
    ['one object of 100,000 bytes', [100_000]],
    ['large objects at the end', [10, 10, 10, 10, 10, 70_000, 90_000]],
    ['one object of 700,000 bytes', [700_000]],
  ])('loses no object of a document with %s', async (_case, sizes) => {
    const dashboard = sizes.map((size, place) => textDashboard(`d${place}`, size))
    const objects = { documents: { search: [], visualization: [], dashboard } }
    const { trial, before } = await startWithSnapshot({ objects })
    await using _ = trial
    const to = join(trial.folder, 'documents')
    const written = await trial.run(['restore', '--to', to, '--json'])
    expect(JSON.parse(written.stdout).written.objects).toBe(sizes.length)
    const document = await readFile(join(to, 'dashboard.json'), 'utf8')
    expect(JSON.parse(document).hits).toHaveLength(sizes.length)
    for (const source of [['--from', to], []]) {
      empty(trial)
      const back = await trial.run(['restore', ...source, '--to-service', '--yes'])
      expect(back.stdout).toContain(`restored ${sizes.length} of ${sizes.length} object`)
      expect(back.exitCode, back.stderr).toBe(0)
      expect(objectsOf(trial)).toEqual(before)
    }
    const cat = await trial.run(['cat', `dashboard:d${sizes.length - 1}`])
    expect(JSON.parse(cat.stdout)).toEqual(dashboard.at(-1))
  })

  it('writes files for git, and brings back what was edited there', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const folder = join(trial.folder, 'git')
    expect((await trial.run(['restore', '--pretty', folder])).exitCode).toBe(0)
    const path = join(folder, 'dashboard', 'shop-overview.json')
    const text = await readFile(path, 'utf8')
    expect(text).toContain('            "panelIndex": 1,\n')
    await writeFile(path, text.replace('"size_x": 6', '"size_x": 12'))
    const args = ['restore', '--from', folder, '--to-service', '--overwrite', '--yes']
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/overwrite +1 .*\n {2}~ dashboard:shop-overview/)
    expect(objectsOf(trial).get(overview)).toContain('\\"size_x\\":12')
  })

  it('takes objects that are gone out of the files for git, and nothing else', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const folder = join(trial.folder, 'git')
    await trial.run(['restore', '--pretty', folder])
    await writeFile(join(folder, 'README.json'), 'mine')
    await writeFile(join(folder, 'search', 'notes.txt'), 'mine')
    trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
    await trial.run(['backup'])
    const one = await trial.run(['restore', '-o', overview, '--pretty', folder])
    expect(one.exitCode, one.stderr).toBe(0)
    expect([...(await readTree(folder)).keys()]).toContain('search/failed-orders.json')
    await trial.run(['restore', '--pretty', folder])
    const names = [...(await readTree(folder)).keys()]
    expect(names).toContain('README.json')
    expect(names).toContain('search/notes.txt')
    expect(names).not.toContain('search/failed-orders.json')
    expect(names).toContain('search/slow-requests.json')
  })

  it('touches no folder of somebody else', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    await mkdir(join(trial.folder, 'src', 'search'), { recursive: true })
    const { exitCode, stderr } = await trial.run(['restore', '--pretty', join(trial.folder, 'src')])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('it is there already')
  })

  it('writes NDJSON, a line an object', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const file = join(trial.folder, 'objects.ndjson')
    const { stdout } = await trial.run(['restore', '--ndjson', file])
    expect(stdout).toContain('shop-*  for 4 objects')
    const lines = jsonLines(await readFile(file, 'utf8'))
    expect(lines).toHaveLength(14)
    expect(lines.find(({ id }) => id === 'shop-overview')).toMatchObject({
      type: 'dashboard',
      attributes: { title: 'Shop overview' },
      references: [{ name: 'panel_0', type: 'visualization', id: 'turnover' }, {}, {}, {}],
    })
  })
})

describe('restore --drill', () => {
  it('proves the newest good snapshot of every account, and changes nothing', async () => {
    await using trial = await startTrial({ accounts: accountsFrom([1, 2]) })
    for (const id of [1, 2]) await trial.run(['backup'], { DASHKEEP_API_TOKEN: `token-${id}` })
    trial.sandbox.clearRequests()
    const files = await trial.files()
    const drill = await trial.run(['restore', '--drill', '--json'], {
      DASHKEEP_API_TOKEN: undefined,
    })
    expect(drill.exitCode, drill.stderr).toBe(0)
    expect(JSON.parse(drill.stdout)).toMatchObject({
      accounts: [1, 2].map((accountId) => ({
        ...{ accountId, result: 'restored', objects: 9, restored: 9, differing: [], reasons: [] },
      })),
    })
    expect(await trial.files()).toEqual(files)
    expect(trial.sandbox.requests()).toEqual([])
    const shown = await trial.run(['restore', '--drill', '--account', '2'])
    expect(shown.stdout).toMatch(/1 of 1 account restored into a sandbox/)
  })

  it.each(['specified', 'newer', 'oldest'] as const)('proves hits of the %s form', async (form) => {
    const objects = { generated: { seed: 7, count: 20, form } }
    const { trial, before } = await startWithSnapshot({ objects })
    await using _ = trial
    const { exitCode, stdout } = await trial.run(['restore', '--drill'])
    expect(exitCode, stdout).toBe(0)
    empty(trial)
    expect((await trial.run(['restore', '--to-service', '--yes'])).exitCode).toBe(0)
    expect(objectsOf(trial)).toEqual(before)
  })

  it('proves an account whose types are of several versions', async () => {
    await using trial = await startTrial()
    for (const [place, type] of types.entries()) {
      const document = Buffer.from(trial.sandbox.objects(shopId, type)).toString()
      trial.sandbox.setObjects(shopId, type, document.replace('"7.10.2"', `"7.${place}.0"`))
    }
    await trial.run(['backup'])
    expect((await trial.run(['restore', '--drill'])).exitCode).toBe(0)
  })

  it('ends in exit code 5 with the reason when a snapshot cannot be restored', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const [path] = [...(await trial.files()).keys()].filter((key) =>
      key.endsWith('search.json.zst'),
    )
    await writeFile(join(trial.archive, path as string), 'nothing')
    const { exitCode, stdout } = await trial.run(['restore', '--drill'])
    expect(exitCode).toBe(5)
    expect(stdout).toMatch(/failed 100001: Cannot read the archive/)
    expect(stdout).toContain('0 of 1 account restored')
  })

  it('calls no backup damaged when the store refuses to answer', async () => {
    await using trial = await startTrial()
    await using server = await startS3Server()
    const env = {
      DASHKEEP_STORE: `s3://${server.bucketName}`,
      AWS_ENDPOINT_URL_S3: server.url,
      AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    }
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    // The first read is the manifest's.
    const refusal = { kind: 'error', status: 403, code: 'AccessDenied' } as const
    server.inject({ ...refusal, operation: 'GetObject', after: 1 })
    const { exitCode, stderr } = await trial.run(['restore', '--drill'], env)
    expect(stderr).toMatch(/^error: Cannot read \S+: access denied\n/m)
    expect(exitCode).toBe(2)
  })

  it('calls a backup beyond the limits of today a matter of configuration', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const config = await trial.write('tight.yaml', { limits: { maxObjects: 1 } })
    const drill = await trial.run(['restore', '--drill', '--config', config])
    expect(drill.exitCode).toBe(2)
    expect(drill.stderr).toMatch(
      /Cannot drill account 100001: search holds \d+ objects, more than limits.maxObjects allows \(1\)\nhint: /,
    )
  })

  it('asks for the key of encrypted files', async () => {
    const { trial } = await startWithSnapshot()
    await using _ = trial
    const identity = await generateIdentity()
    const recipients = { DASHKEEP_RECIPIENTS: await identityToRecipient(identity) }
    await trial.run(['backup', '--full'], recipients)
    const { exitCode, stderr } = await trial.run(['restore', '--drill'], recipients)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('it is encrypted, and no key is configured')
    const open = { ...recipients, DASHKEEP_IDENTITY: identity }
    expect((await trial.run(['restore', '--drill'], open)).exitCode).toBe(0)
  })
})
