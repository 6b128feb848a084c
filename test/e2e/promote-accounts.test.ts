import { describe, expect, it } from 'vitest'
import { type PromotionTrial, startPromotion } from './promotion-trial.ts'
import { askDashkeep, until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

const usual = { titlePrefix: '[Copy] ', indexPatterns: { 'shop-*': 'copy-*' } }

/** The command that promotes into the accounts that these names mean. */
async function commandFor(
  trial: PromotionTrial,
  names: readonly string[],
  map: object = usual,
): Promise<string[]> {
  const path = await trial.write('map.yaml', map)
  const targets = names.flatMap((name) => ['--to-accounts', name])
  return ['restore', '--account', 'production', '--to-service', ...targets, '--map', path]
}

/** The sizes of the two targets. */
function sizes(trial: PromotionTrial): number[] {
  return [trial.objects('team-a').size, trial.objects('team-b').size]
}

describe('restore --to-accounts', () => {
  it('promotes into every account that a pattern matches, with a result for each', async () => {
    await using trial = await startPromotion()
    const accounts = { 'team-b': { indexPatterns: { 'shop-*': 'b-*' } } }
    const command = await commandFor(trial, ['team-*'], { ...usual, accounts })
    const plan = await trial.dashkeep([...command, '--dry-run'])
    expect(plan.exitCode, plan.stderr).toBe(0)
    expect(plan.stdout).toMatch(
      /Into account 200001 [\s\S]*shop-\* → copy-\*[\s\S]*Into account 200002 [\s\S]*shop-\* → b-\*/,
    )
    expect(plan.stdout).toMatch(
      /ACCOUNT +RESULT +CREATE +OVERWRITE +LEAVE +SAME\nteam-a +planned +14 +0 +0 +0\nteam-b +planned +14 +0 +0 +0\n$/,
    )
    expect(sizes(trial)).toEqual([0, 0])

    const { exitCode, stdout } = await trial.dashkeep([...command, '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\nteam-a +promoted +14 .*\nteam-b +promoted +14 .*\n$/)
    expect([...trial.objects('team-a').keys()]).toEqual([...trial.objects('team-b').keys()])
    expect(JSON.stringify([...trial.objects('team-b')])).toBe(
      JSON.stringify([...trial.objects('team-a')]).replaceAll('copy-*', 'b-*'),
    )
    const again = await trial.dashkeep([...command, '--yes'])
    expect(again.stdout).toMatch(/\nteam-a +unchanged +0 +0 +0 +14\nteam-b +unchanged .*\n$/)
  })

  it('continues after an account that failed, and ends in exit code 3', async () => {
    await using trial = await startPromotion()
    const command = [...(await commandFor(trial, ['team-*'])), '--yes']
    const refuse = { account: 200001, operation: 'whoami', status: 503 } as const
    trial.sandbox.faults.add(refuse)
    const { exitCode, stdout } = await trial.dashkeep(command)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^failed team-a: Cannot .*: the service is not available/m)
    expect(stdout).toMatch(/\nteam-a +failed\nteam-b +promoted +14 .*\n$/)
    expect(sizes(trial)).toEqual([0, 14])

    const json = await trial.dashkeep([...command, '--json'])
    expect(json.exitCode).toBe(3)
    const { source, leftOut, accounts } = JSON.parse(json.stdout)
    expect([source.accountId, leftOut]).toEqual([100001, []])
    expect(accounts).toEqual([
      {
        name: 'team-a',
        ended: 'failed',
        error: expect.stringContaining('not available'),
        hint: expect.any(String),
      },
      {
        ...{ name: 'team-b', ended: 'unchanged' },
        restore: expect.objectContaining({
          same: 14,
          target: expect.objectContaining({ accountId: 200002 }),
        }),
      },
    ])
    trial.sandbox.faults.clear()
    expect((await trial.dashkeep(command)).exitCode).toBe(0)
    expect(sizes(trial)).toEqual([14, 14])
  })

  it('ends in the exit code of the failure when all accounts failed in the same way', async () => {
    await using trial = await startPromotion()
    const unmapped = await trial.dashkeep(await commandFor(trial, ['team-*'], { ids: 'keep' }))
    expect(unmapped.exitCode).toBe(2)
    expect(unmapped.stdout).toMatch(
      /^failed team-a: Cannot promote: .*\n {2}- "shop-\*": used as id by /m,
    )
    await using other = await startPromotion({ extraOperations: false })
    const command = await commandFor(other, ['team-*'])
    const broken = await other.dashkeep([...command, '--dry-run'])
    expect(broken.exitCode).toBe(1)
    expect(broken.stdout).toMatch(/\nteam-a +failed +14 .*\nteam-b +failed +14 .*\n$/)
  })

  it('leaves out the source when a pattern matches it, and refuses it by name', async () => {
    await using trial = await startPromotion()
    const before = trial.objects('production')
    const all = await trial.dashkeep([...(await commandFor(trial, ['*'])), '--yes'])
    expect(all.exitCode).toBe(0)
    expect(all.stdout).toMatch(
      /\nteam-b +promoted .*\nleft out production: it is the account that the objects come from\n$/,
    )
    const named = await trial.dashkeep(await commandFor(trial, ['team-a', 'production']))
    expect([named.exitCode, named.stdout]).toEqual([2, ''])
    expect(named.stderr).toContain('Cannot promote into production: account 100001 is the account')
    const lone = await trial.dashkeep(await commandFor(trial, ['prod*']))
    expect(lone.exitCode).toBe(2)
    expect(lone.stderr).toContain('Cannot promote into prod*: only the account that the objects')
    expect(trial.objects('production')).toEqual(before)
  })

  it('asks for the id of an account that is configured without one', async () => {
    await using trial = await startPromotion()
    const accounts = [100001, 200001].map((id, place) => ({
      name: ['production', 'team-a'][place],
      token: { env: `TOKEN_${id}` },
    }))
    const config = { service: { baseUrl: trial.sandbox.url }, accounts }
    const DASHKEEP_CONFIG = await trial.write('without-ids.yaml', config)
    const path = await trial.write('map.yaml', usual)
    const command = ['restore', '--to-service', '--to-accounts', '*', '--map', path, '--dry-run']
    const { exitCode, stdout } = await trial.run(command, { ...trial.changes, DASHKEEP_CONFIG })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\nteam-a +planned +14 .*\nleft out production: /)
  })

  it('needs a pattern that matches, a map, and a confirmation', async () => {
    await using trial = await startPromotion()
    const none = await trial.dashkeep(await commandFor(trial, ['group-*']))
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringContaining('Cannot find an account that matches group-*: '),
    ])
    const unasked = await trial.dashkeep(await commandFor(trial, ['team-*']))
    expect([unasked.exitCode, unasked.stderr]).toEqual([
      2,
      expect.stringContaining('Cannot promote: it needs a confirmation'),
    ])
    expect(unasked.stdout).toMatch(/\nteam-a +planned .*\nteam-b +planned .*\n$/)
    const [to, into, map] = [
      ['--to-accounts', 'a'],
      ['--into-account', 'a'],
      ['--map', 'm'],
    ]
    for (const [args, problem] of [
      [['--to-service', ...to], '--to-accounts needs --map'],
      [['--to-service', ...to, ...into], '--into-account and --to-accounts exclude each other'],
      [['--to', 'x', ...to], '--to-accounts needs --to-service'],
      [['--to', 'x', ...into, ...map], '--into-account needs --to-service'],
      [['--to-service', ...map], '--map needs --into-account or --to-accounts'],
    ] as const) {
      const wrong = await trial.dashkeep(['restore', ...args])
      expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining(problem)])
    }
    expect(sizes(trial)).toEqual([0, 0])
  })

  it('asks for each account on a terminal', async () => {
    await using trial = await startPromotion()
    const command = await commandFor(trial, ['team-*'])
    const env = { ...trial.env, ...trial.changes }
    const no = await askDashkeep(command, { env, key: 'n\n' })
    expect(no.exitCode).toBe(0)
    expect(no.stderr).toContain('Send 14 objects to account 200001? [y/N]')
    expect(no.stderr).toContain('Send 14 objects to account 200002? [y/N]')
    expect(sizes(trial)).toEqual([0, 0])
    const interrupted = await askDashkeep(command, { env, key: '\x03' })
    expect(interrupted.exitCode).toBe(130)
    expect(interrupted.stdout).toMatch(/team-a +not begun\n.*team-b +not begun\n/)
    expect(sizes(trial)).toEqual([0, 0])
    expect((await askDashkeep(command, { env, key: 'y\n' })).exitCode).toBe(0)
    expect(sizes(trial)).toEqual([14, 14])
  })

  it('reports every account when it is interrupted, and finishes when run again', async () => {
    await using trial = await startPromotion()
    const command = [...(await commandFor(trial, ['team-*'])), '--yes', '--json']
    trial.sandbox.faults.add({ operation: 'import', after: 2, hang: true })
    await using running = spawnDashkeep(command, { env: { ...trial.env, ...trial.changes } })
    await until('the second import hangs', () => {
      const requests = trial.sandbox.requests().filter(({ operation }) => operation === 'import')
      return requests.length === 3
    })
    running.kill('SIGINT')
    const { exitCode, stdout } = await running.finished
    expect(exitCode).toBe(130)
    expect(JSON.parse(stdout).accounts).toMatchObject([
      { name: 'team-a', restore: { done: true } },
      { name: 'team-b', ended: 'not begun' },
    ])
    trial.sandbox.faults.clear()
    expect((await trial.dashkeep(command)).exitCode).toBe(0)
    expect(sizes(trial)).toEqual([14, 14])
  })
})
