import { describe, expect, it } from 'vitest'
import { mainToken, poorId, richId, startAccounts } from './accounts-trial.ts'
import { until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

const noon = new Date('2026-11-20T12:00:00Z')
const dayLater = new Date('2026-11-21T12:00:00Z')
const weekLater = new Date('2026-11-27T12:00:00Z')
const secrets = { MAIN: mainToken, RICH: 'rich-token', DASHKEEP_API_TOKEN: undefined }

/** A main account that is managed, and a configuration that backs up one of its sub accounts. */
async function startCovered(form: 'specified' | 'deployed' = 'specified') {
  const trial = await startAccounts({ form })
  const config = await trial.write('managed.yaml', {
    management: { token: { env: 'MAIN' } },
    accounts: [{ name: 'rich', token: { env: 'RICH' } }],
    limits: { retryBaseMs: 1, attempts: 1 },
  })
  const prefix = { DASHKEEP_PATH_PREFIX: trial.sandbox.pathPrefix }
  const run = (now: Date, args: readonly string[]) =>
    trial.runAt(now, [...args, '--config', config], { ...secrets, ...prefix })
  const env = { ...trial.env, ...secrets, ...prefix }
  return { trial, run, config, env }
}

describe('accounts coverage', () => {
  it.each(['specified', 'deployed'] as const)(
    'names sub accounts that nobody backs up, with exit code 3, in the %s form',
    async (form) => {
      const { trial, run } = await startCovered(form)
      await using _ = trial
      await run(noon, ['backup'])
      const { exitCode, stdout } = await run(dayLater, ['accounts', 'coverage'])
      expect(exitCode).toBe(3)
      expect(stdout).toMatch(/11 +Rich +covered +1 day ago\n/)
      expect(stdout).toMatch(/12 +Poor +unconfigured +no configured account backs it up\n/)
      expect(stdout).toMatch(/1 of 2 sub accounts not covered\n$/)
    },
  )

  it('reports accounts that were never backed up, and those not for too long', async () => {
    const { trial, run } = await startCovered()
    await using _ = trial
    const states = async (now: Date, ...more: string[]) => {
      const { exitCode, stdout } = await run(now, ['accounts', 'coverage', '--json', ...more])
      const { accounts } = JSON.parse(stdout) as { accounts: { state: string }[] }
      return [exitCode, ...accounts.map(({ state }) => state)]
    }
    expect(await states(noon)).toEqual([3, 'missing', 'unconfigured'])
    await run(noon, ['backup'])
    expect(await states(weekLater)).toEqual([3, 'stale', 'unconfigured'])
    expect(await states(weekLater, '--max-age', '7d')).toEqual([3, 'covered', 'unconfigured'])
  })

  it('is done, with exit code 0, when every sub account is covered', async () => {
    await using trial = await startAccounts()
    const config = await trial.write('both.yaml', {
      management: { token: { env: 'MAIN' } },
      accounts: [
        { name: 'rich', accountId: richId, token: { env: 'RICH' } },
        { name: 'poor', accountId: poorId, token: { env: 'POOR' } },
      ],
    })
    const env = { ...secrets, POOR: trial.sandbox.issueToken(poorId) }
    await trial.run(['backup', '--config', config], env)
    const { exitCode, stdout } = await trial.run(['accounts', 'coverage', '--config', config], env)
    expect([exitCode, stdout.split('\n').at(-2)]).toEqual([0, '0 of 2 sub accounts not covered'])
  })

  it('names configured accounts that nobody could identify', async () => {
    const { trial, run } = await startCovered()
    await using _ = trial
    trial.sandbox.faults.add({ operation: 'whoami', account: richId, status: 500 })
    const { stdout } = await run(noon, ['accounts', 'coverage'])
    expect(stdout).toContain('unidentified configured account rich')
  })
})

describe('with management configured', () => {
  it('status names sub accounts that the archive holds nothing of', async () => {
    const { trial, run } = await startCovered()
    await using _ = trial
    await run(noon, ['backup'])
    const { exitCode, stdout } = await run(dayLater, ['status', '--json'])
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [
        { accountId: richId, state: 'good' },
        { accountId: poorId, name: 'Poor', state: 'missing' },
      ],
    })
  })

  it('status still reports the archive when the service cannot be asked', async () => {
    const { trial, run } = await startCovered()
    await using _ = trial
    await run(noon, ['backup'])
    trial.sandbox.faults.add({ operation: 'list', status: 500 })
    const { exitCode, stdout } = await run(dayLater, ['status'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/11 +rich +good/)
    expect(stdout).toContain('unknown Cannot list the sub accounts: ')
  })

  it('doctor checks the token and warns of sub accounts that are not covered', async () => {
    const { trial, run } = await startCovered()
    await using _ = trial
    await run(noon, ['backup'])
    const { exitCode, stdout } = await run(new Date(), ['doctor'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/ok +management: the token belongs to main account 10 \(Main\)/)
    expect(stdout).toMatch(/warning +coverage: 12 \(Poor\): no configured account backs it up\n/)
    trial.sandbox.faults.add({ operation: 'list', refused: true })
    const refused = await run(new Date(), ['doctor'])
    expect([refused.exitCode, refused.stdout]).toEqual([
      1,
      expect.stringMatching(/failed +management/),
    ])
  })

  it('says what is missing in the configuration by its place', async () => {
    await using trial = await startAccounts()
    const config = await trial.write('bad.yaml', { management: { token: 'secret', email: 'x' } })
    const env = { DASHKEEP_BASE_URL: undefined }
    const { exitCode, stderr } = await trial.accounts(['list', '--config', config], env)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      /- management\.token: expected env: .*\n {2}- management\.email: unknown/,
    )
    const token = { env: 'MAIN' }
    const alone = await trial.write('alone.yaml', { management: { token } })
    const missing = await trial.accounts(['list', '--config', alone], {
      ...env,
      DASHKEEP_API_TOKEN: undefined,
    })
    expect(missing.stderr).toContain('- management.baseUrl: missing, and neither service.baseUrl')
  })
})

it('lists sub accounts without a backup on the first page of the web pages', async () => {
  const { trial, config, env } = await startCovered()
  await using _ = trial
  await using web = spawnDashkeep(['web', '--listen', '127.0.0.1:0', '--config', config], { env })
  await until('the address is printed', () => web.stdout().includes('Ctrl-C'))
  const address = /http:\S+/.exec(web.stdout())?.[0] ?? ''
  const opened = await fetch(address, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  let page = ''
  await until('the service has answered', async () => {
    page = await (await fetch(new URL('/', address), { headers: { cookie } })).text()
    return !page.includes('The service is being asked.')
  })
  expect(page).toContain('2 of 2 sub accounts')
})
