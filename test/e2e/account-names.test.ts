import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ManyTrial, startMany } from './many-trial.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shortLimits } from './trial.ts'

const ids = [501, 502] as const

/** A trial whose two accounts have been backed up; their configuration changes with `accounts`. */
async function startKept(accounts?: readonly object[]): Promise<ManyTrial> {
  const trial = await startMany(ids)
  await trial.run(['backup'], trial.changes)
  return accounts === undefined ? trial : { ...trial, changes: await configure(trial, accounts) }
}

/** The variables of a run with these accounts, whose tokens are those of the trial. */
async function configure(trial: ManyTrial, accounts: readonly object[]) {
  const config = { service: { baseUrl: trial.sandbox.url }, limits: shortLimits, accounts }
  return { ...trial.changes, DASHKEEP_CONFIG: await trial.write('other.yaml', config) }
}

const token = (id: number) => ({ env: `TOKEN_${id}` })

describe('an account of the archive', () => {
  it.each([
    ['list', ['list', '--json']],
    ['show', ['show', '--json']],
    ['ls', ['ls', '--json']],
    ['verify', ['verify', '--json']],
    ['status', ['status']],
    ['diff', ['diff', 'latest', 'latest', '--json']],
    ['history', ['history', 'search:*', '--json']],
    ['find', ['find', 'a', '--json']],
    ['cat', ['cat', 'dashboard']],
    ['prune', ['prune', '--keep-last', '1', '--json']],
    ['pin', ['pin', 'latest', '--json']],
    ['unpin', ['unpin', 'latest', '--json']],
    ['restore --drill', ['restore', '--drill', '--json']],
  ])('is the same by its configured name and by its id in %s', async (_verb, args) => {
    await using trial = await startKept()
    // One time for all runs, since some print the age of a snapshot in seconds.
    const now = new Date()
    const run = (account: string) =>
      trial.runAt(now, [...args, '--account', account], trial.changes)
    const byId = await run('502')
    const byName = await run('team-502')
    expect(byName).toEqual(byId)
    const other = await run('team-501')
    expect(other).not.toEqual(byName)
    expect(other.exitCode).toBe(byName.exitCode)
  })

  it.each([
    [['list'], ''],
    [['prune', '--keep-last', '1'], ': nothing to remove'],
  ])('without any snapshot is named as such: %s', async (args, more) => {
    await using trial = await startKept()
    const absence = `${trial.env.DASHKEEP_STORE} holds no snapshot of account 7`
    const { exitCode, stdout } = await trial.run([...args, '--account', '7'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${absence}${more}\n` })
    const json = await trial.run([...args, '--json', '--account', '7'])
    expect(jsonLines(json.stderr)).toContainEqual(expect.objectContaining({ msg: absence }))
  })

  it('is restored from by its configured name', async () => {
    await using trial = await startKept()
    const args = ['restore', '--to', join(trial.folder, 'objects'), '--json', '-a', 'team-502']
    const { exitCode, stdout } = await trial.run(args, trial.changes)
    expect([exitCode, JSON.parse(stdout).source.accountId]).toEqual([0, 502])
  })

  it('is found by what the newest manifest says when it is not configured, or without an id', async () => {
    await using trial = await startKept()
    const without = await configure(trial, [{ name: 'team-502', token: token(502) }])
    for (const [name, env] of [
      ['team-502', without],
      ['team-502', {}],
      ['Account 502', {}],
    ] as const) {
      const { stdout } = await trial.run(['list', '--json', '--account', name], env)
      expect(jsonLines(stdout)).toMatchObject([{ accountId: 502 }])
    }
  })

  it('is not guessed when two were taken under one name', async () => {
    const other = [{ name: 'team-501', token: token(502) }]
    await using trial = await startKept()
    const changes = await configure(trial, other)
    expect((await trial.run(['backup', '--full'], changes)).exitCode).toBe(0)
    const { exitCode, stderr } = await trial.run(['show', '--account', 'team-501'])
    expect([exitCode, stderr]).toEqual([
      2,
      'error: Cannot choose the account team-501: the archive has several accounts with this name\nhint: use one of the ids 501, 502\n',
    ])
    // With its id in the configuration, it is clear which one is meant.
    const shown = await trial.run(['show', '--json', '--account', 'team-501'], trial.changes)
    expect(jsonLines(shown.stdout)).toMatchObject([{ account: { id: 501 } }])
  })

  it('is not guessed when a number is the name of one account and may be the id of another', async () => {
    const accounts = [
      { name: '502', accountId: 501, token: token(501) },
      { name: '501', token: token(502) },
    ]
    await using trial = await startKept(accounts)
    for (const text of ['501', '502']) {
      const { exitCode, stderr } = await trial.run(['list', '--account', text], trial.changes)
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringMatching(
          /is the name of a configured account and may be the id of another\nhint: /,
        ),
      ])
    }
    const same = await configure(trial, [{ name: '501', accountId: 501, token: token(501) }])
    const { stdout } = await trial.run(['list', '--json', '--account', '501'], same)
    expect(jsonLines(stdout)).toMatchObject([{ accountId: 501 }])
  })

  it('that nothing names is an error with the names there are', async () => {
    await using trial = await startKept()
    const { exitCode, stderr } = await trial.run(['list', '-a', 'team-503'], trial.changes)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: Cannot find the account team-503: neither the configuration nor .*archive has this name\nhint: use one of the known names: team-501, team-502/,
      ),
    ])
  })

  it('that is configured without an id is compared with the service, and restored into it', async () => {
    await using trial = await startKept()
    const accounts = [501, 502].map((id) => ({ name: `team-${id}`, token: token(id) }))
    const changes = await configure(trial, accounts)
    const diff = await trial.run(['diff', 'latest', '--json', '-a', 'team-502'], changes)
    expect([diff.exitCode, diff.stderr]).toEqual([0, ''])
    expect(JSON.parse(diff.stdout)).toMatchObject({
      accountId: 502,
      after: { service: trial.sandbox.url },
    })
    const args = ['restore', '--to-service', '--dry-run', '--json', '-a', 'team-502']
    const { stdout } = await trial.run(args, changes)
    expect(JSON.parse(stdout)).toMatchObject({ target: { name: 'team-502', accountId: 502 } })
    const swapped = await configure(trial, [
      { name: 'team-501', token: token(502) },
      { name: 'team-502', token: token(501) },
    ])
    for (const verb of [['diff', 'latest'], args.slice(0, 3)]) {
      const refused = await trial.run([...verb, '-a', 'team-502'], swapped)
      expect([refused.exitCode, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/501.*502|502.*501/),
      ])
    }
  })

  it('that is configured without an id and has no snapshot is missing in status', async () => {
    await using trial = await startKept()
    const changes = await configure(trial, [{ name: 'new', token: token(502) }])
    const { exitCode, stdout } = await trial.run(['status', '--json', '-a', 'new'], changes)
    expect([exitCode, JSON.parse(stdout).accounts]).toMatchObject([
      3,
      [{ name: 'new', state: 'missing' }],
    ])
    const shown = await trial.run(['show', '-a', 'new'], changes)
    expect([shown.exitCode, shown.stderr]).toEqual([
      2,
      expect.stringMatching(/no snapshot was taken under this name\nhint: .*accountId/),
    ])
  })
})

describe('a configured account', () => {
  it('is the same by its id in backup, whoami and restore --into-account', async () => {
    await using trial = await startKept()
    const backup = await trial.run(['backup', '--json', '--account', '502'], trial.changes)
    expect(accountsOf(backup.stdout)).toMatchObject([{ name: 'team-502', result: 'unchanged' }])
    const whoami = await trial.run(['whoami', '--json', '--account', '502'], trial.changes)
    expect(accountsOf(whoami.stdout)).toMatchObject([{ name: 'team-502', accountId: 502 }])
    const args = ['restore', '--to-service', '--dry-run', '--json', '-a', '501']
    const into = await trial.run([...args, '--into-account', '502'], trial.changes)
    expect(JSON.parse(into.stdout)).toMatchObject({ target: { accountId: 502 } })
  })

  it('without an id is asked for its own when an id is given', async () => {
    const accounts = ids.map((id) => ({ name: `a${id}`, token: token(id) }))
    await using trial = await startKept(accounts)
    const { exitCode, stdout } = await trial.run(['backup', '--json', '-a', '502'], trial.changes)
    expect([exitCode, accountsOf(stdout)]).toMatchObject([0, [{ name: 'a502', accountId: 502 }]])
    const unknown = await trial.run(['backup', '-a', '77'], trial.changes)
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: Cannot find the account 77: .*\nhint: use one of the configured names: a501, a502\n$/,
      ),
    ])
  })

  it('is not guessed when a number is the name of one and the id of another', async () => {
    const accounts = [
      { name: '502', accountId: 501, token: token(501) },
      { name: 'team-502', accountId: 502, token: token(502) },
    ]
    await using trial = await startKept(accounts)
    const { exitCode, stderr } = await trial.run(['backup', '-a', '502'], trial.changes)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: Cannot choose the account 502: .*\nhint: .*501.* team-502/),
    ])
  })
})

describe('the configured name', () => {
  it('is next to the id in list, status and show', async () => {
    await using trial = await startKept()
    const list = await trial.run(['list'], trial.changes)
    expect(list.stdout).toMatch(/^ACCOUNT +NAME +SNAPSHOT.*\n +501 +team-501 +2/)
    const [listed] = jsonLines((await trial.run(['list', '--json'], trial.changes)).stdout)
    expect(listed).toMatchObject({ accountId: 501, configuredAs: 'team-501' })
    const status = await trial.run(['status'], trial.changes)
    expect(status.stdout).toMatch(/\n +502 +team-502 +good/)
    const { accounts } = JSON.parse((await trial.run(['status', '--json'], trial.changes)).stdout)
    expect(accounts[1]).toMatchObject({ name: 'Account 502', configuredAs: 'team-502' })
    const show = await trial.run(['show', '-a', '502'], trial.changes)
    expect(show.stdout).toMatch(/\nAccount +502 \(Account 502\), configured as team-502\n/)
  })

  it('comes from the manifest in status and show where nothing is configured', async () => {
    await using trial = await startKept()
    const list = await trial.run(['list'])
    expect(list.stdout).toMatch(/^ACCOUNT +SNAPSHOT/)
    expect((await trial.run(['status'])).stdout).toMatch(/\n +502 +team-502 +good/)
    expect((await trial.run(['show', '-a', '502'])).stdout).toContain('configured as team-502\n')
  })
})
