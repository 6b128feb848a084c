import { describe, expect, it } from 'vitest'
import { startMany } from './many-trial.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'

const ids = [501, 502, 503, 504, 505, 506, 507]

describe('one run over many accounts', () => {
  it('takes a snapshot of each, in the order of the configuration', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    const { exitCode, stdout } = await trial.run(['backup', '--json'], changes)
    expect(exitCode).toBe(0)
    expect(accountsOf(stdout).map(({ accountId }) => accountId)).toEqual(ids)
    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    expect(listed.map(({ accountId }) => accountId)).toEqual(ids)
    const verified = jsonLines((await trial.run(['verify', '--json'])).stdout)
    expect(verified).toMatchObject([{ snapshots: 7, defects: 0 }])
  })

  it('keeps the others when one fails, exits 3 and names it', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    trial.sandbox.faults.add({ operation: 'export', account: 503, refused: true })
    const { exitCode, stdout, stderr } = await trial.run(['backup'], changes)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/\nteam-503 +failed\n/)
    expect(stdout).toMatch(/\nfailed team-503: Cannot back up account 503: 3 of 3 exports failed: /)
    expect(stdout).toContain('\n6 of 7 accounts in ')
    expect(jsonLines(stderr).filter(({ level }) => level === 'error')).toMatchObject([
      { account: 'team-503', msg: 'backup failed' },
    ])
    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    expect(listed.map(({ accountId }) => accountId)).toEqual(ids.filter((id) => id !== 503))
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('exits with what they have in common when all fail', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    trial.sandbox.faults.add({ operation: 'whoami', status: 503 })
    expect((await trial.run(['backup'], changes)).exitCode).toBe(1)
    const noTokens = Object.fromEntries(ids.map((id) => [`TOKEN_${id}`, undefined]))
    const { exitCode, stdout } = await trial.run(['backup'], { ...changes, ...noTokens })
    expect(exitCode).toBe(2)
    expect(stdout).toContain('Cannot read the token: the variable TOKEN_501 is not set')
    expect((await trial.files()).size).toBe(0)
  })

  it('exits 2 when every token is refused, missing, or of another account', async () => {
    await using trial = await startMany(ids)
    trial.sandbox.faults.add({ operation: 'whoami', account: 501, refused: true })
    const args = ['backup', '-a', 'team-501', 'team-502', 'team-503', 'team-504']
    const { exitCode } = await trial.run(args, {
      ...trial.changes,
      TOKEN_502: 'token-of-nobody',
      TOKEN_503: undefined,
      TOKEN_504: 'token-505',
    })
    expect(exitCode).toBe(2)
  })

  it('exits 1 when they fail in different ways, one of which may pass', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    trial.sandbox.faults.add({ operation: 'whoami', status: 503 })
    const { exitCode } = await trial.run(['backup'], { ...changes, TOKEN_501: undefined })
    expect(exitCode).toBe(1)
  })

  it('refuses a token of another account than the configuration expects', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    const { exitCode, stdout } = await trial.run(['backup', '-a', 'team-501', 'team-502'], {
      ...changes,
      TOKEN_502: 'token-503',
    })
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(
      /\nfailed team-502: Cannot back up account 502: the token belongs to account 503 \(Account 503\)\n {2}hint: /,
    )
    expect(await trial.snapshots()).toHaveLength(1)
    expect([...(await trial.files()).keys()].filter((key) => key.startsWith('503/'))).toEqual([])
  })

  it('takes only the accounts asked for, and knows no others', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    const { exitCode } = await trial.run(['backup', '--account', 'team-504', 'team-501'], changes)
    expect(exitCode).toBe(0)
    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    expect(listed.map(({ accountId }) => accountId)).toEqual([501, 504])
    const unknown = await trial.run(['backup', '--account', 'team-999'], changes)
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toMatch(
      /^error: Cannot find the account team-999: the configuration has no such account\nhint: use one of the configured names: team-501, /,
    )
  })

  it('asks for one account when several could be meant, and lists or verifies one', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    await trial.run(['backup'], changes)
    const show = await trial.run(['show'])
    expect(show.exitCode).toBe(2)
    expect(show.stderr).toContain(`hint: choose one with --account: ${ids.join(', ')}\n`)
    const [shown] = jsonLines((await trial.run(['show', '--account', '505', '--json'])).stdout)
    expect(shown?.account).toEqual({
      id: 505,
      name: 'Account 505',
      configuredAs: 'team-505',
    })
    const listed = jsonLines((await trial.run(['list', '--account', '505', '--json'])).stdout)
    expect(listed).toMatchObject([{ accountId: 505, snapshot: shown?.snapshot }])
    const verified = await trial.run(['verify', '--account', '505', '--json'])
    expect(jsonLines(verified.stdout)).toMatchObject([{ snapshots: 1, defects: 0 }])
  })

  it('says whom each token belongs to, also when one is refused', async () => {
    await using trial = await startMany(ids)
    const { changes } = trial
    const good = await trial.run(['whoami'], changes)
    expect(good.exitCode).toBe(0)
    expect(good.stdout).toMatch(/^ACCOUNT +ID +NAME\nteam-501 +501 +Account 501\n/)
    const { exitCode, stdout } = await trial.run(['whoami', '--json'], {
      ...changes,
      TOKEN_502: 'nonsense',
      TOKEN_503: 'token-504',
    })
    expect(exitCode).toBe(3)
    const accounts = accountsOf(stdout)
    expect(accounts[0]).toEqual({ name: 'team-501', accountId: 501, accountName: 'Account 501' })
    expect(accounts[1]).toMatchObject({ name: 'team-502' })
    expect(accounts[1]?.error).toMatch(/the service refuses the token/)
    expect(accounts[2]?.error).toMatch(
      /for account 503: the token belongs to account 504 \(Account 504\)/,
    )
    const all = ids.map((id) => [`TOKEN_${id}`, 'nonsense'])
    expect((await trial.run(['whoami'], { ...changes, ...Object.fromEntries(all) })).exitCode).toBe(
      2,
    )
  })

  it('names no more than ten thousand changed objects in all, and counts every one', async () => {
    await using trial = await startMany(ids)
    await trial.run(['backup'], trial.changes)
    for (const type of ['search', 'dashboard']) {
      const hits = Array.from({ length: 1000 }, (_, number) => ({
        _id: `${type}:new-${number}`,
        _source: { type, [type]: { title: `New ${number}` } },
      }))
      for (const id of ids) trial.sandbox.setObjects(id, type, hits)
    }
    const { stdout } = await trial.run(['backup', '--json', '--accept-fall'], trial.changes)
    const named = accountsOf(stdout).map(({ changes }) =>
      (changes as { added: unknown[] }[]).reduce((sum, { added }) => sum + added.length, 0),
    )
    expect(named.toSorted((a, b) => b - a)).toEqual([2000, 2000, 2000, 2000, 0, 0, 0])
    for (const id of ids) {
      const shown = await trial.run(['show', '--account', `${id}`, '--json'])
      const added = { search: { added: 1000 }, dashboard: { added: 1000 } }
      expect(jsonLines(shown.stdout)).toMatchObject([{ changes: added }])
    }
  })
})
