import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AccountSeed } from '../../src/sandbox/options.ts'
import {
  mainToken,
  poorId,
  replacesOf,
  richId,
  richSettings,
  startAccounts,
} from './accounts-trial.ts'

/** A main account whose snapshots hold the settings of its sub accounts; one has been taken. */
async function startKept(
  form: 'specified' | 'deployed' = 'specified',
  changes: Partial<AccountSeed> = {},
) {
  const objects = { generated: { seed: 1, count: 3 } }
  const trial = await startAccounts({ form, extraOperations: true }, { objects, ...changes })
  const config = await trial.write('kept.yaml', {
    accounts: [{ name: 'main', token: { env: 'MAIN' }, include: ['sub-accounts'] }],
    limits: { retryBaseMs: 1, attempts: 2 },
  })
  const DASHKEEP_PATH_PREFIX = trial.sandbox.pathPrefix
  const env = { MAIN: mainToken, DASHKEEP_API_TOKEN: undefined, DASHKEEP_PATH_PREFIX }
  const run = (...args: string[]) => trial.run([...args, '--config', config], env)
  const backup = await run('backup')
  expect(backup.exitCode, backup.stderr).toBe(0)
  /** Sets capacities as somebody else would. */
  const setCapacities = async (rich: number, poor: number) => {
    for (const [id, gb] of [
      [richId, rich],
      [poorId, poor],
    ] as const) {
      await run('accounts', 'update', String(id), '--max-daily-gb', String(gb), '--yes')
    }
    trial.sandbox.clearRequests()
  }
  return { trial, run, setCapacities }
}

describe('a snapshot with sub accounts', () => {
  it.each(['specified', 'deployed'] as const)(
    'holds their settings, verified, and tells when they change, in the %s form',
    async (form) => {
      const { trial, run, setCapacities } = await startKept(form)
      await using _ = trial
      const document = JSON.parse((await trial.content('sub-accounts')).toString())
      expect(document.hits).toContainEqual(
        expect.objectContaining({ _id: `sub-accounts:${richId}` }),
      )
      expect((await run('backup')).stdout).toContain('unchanged')
      await setCapacities(4, 1)
      expect((await run('backup')).exitCode).toBe(0)
      expect((await run('verify')).exitCode).toBe(0)
      const [before = '', , after = ''] = await trial.snapshots()
      const diff = await run('diff', before, after)
      expect(diff.stdout).toMatch(/sub-accounts:11[\s\S]*maxDailyGB[\s\S]*5[\s\S]*4/)
      const live = await run('diff', after)
      expect([live.exitCode, live.stdout]).toEqual([0, expect.not.stringContaining('maxDailyGB')])
      const history = await run('history', `sub-accounts:${richId}`)
      expect(history.stdout).toMatch(/appeared[\s\S]*changed/)
    },
  )

  it('names them in diff, history, find and cat by the name of the account', async () => {
    const { trial, run } = await startKept()
    await using _ = trial
    await run('accounts', 'update', String(poorId), '--name', 'Humble', '--yes')
    await run('accounts', 'update', String(richId), '--retention-days', '9', '--yes')
    expect((await run('backup')).stdout).toMatch(/~ sub-accounts:11 +Rich\n/)
    const diff = await run('diff', 'latest~1', 'latest', '--object', 'rich')
    expect(diff.stdout).toMatch(/sub-accounts:11 +Rich\n/)
    const history = await run('history', 'Humble')
    expect(history.stdout).toMatch(/^sub-accounts:12 +Humble\n[\s\S]*renamed/)
    const found = JSON.parse((await run('find', 'Humble', '--json')).stdout)
    expect(found.objects).toMatchObject([{ id: 'sub-accounts:12', title: 'Humble' }])
    expect(JSON.parse((await run('cat', 'Rich')).stdout)._id).toBe('sub-accounts:11')
    expect((await run('history', 'Nobody')).stderr).toContain('Cannot find the object Nobody')
  })

  it('gives nothing of them to an import of saved objects', async () => {
    const { trial, run } = await startKept('deployed')
    await using _ = trial
    for (const type of ['search', 'visualization', 'dashboard']) {
      trial.sandbox.setObjects(10, type, [])
    }
    const restored = await run('restore', '--to-service', '--yes')
    expect([restored.exitCode, restored.stderr]).toEqual([0, expect.not.stringContaining('error')])
    expect(restored.stdout).toContain('restored 9 of 9 objects')
    expect((await run('restore', '--drill')).exitCode).toBe(0)
    const folder = join(trial.folder, 'objects')
    await run('restore', '--to', folder)
    await writeFile(join(folder, 'sub-accounts.json'), await trial.content('sub-accounts'))
    trial.sandbox.setObjects(10, 'search', [])
    expect((await run('restore', '--from', folder, '--to-service', '--yes')).exitCode).toBe(0)
    const imports = trial.sandbox.requests().filter(({ operation }) => operation === 'import')
    expect(imports.map(({ body }) => body).join('')).not.toContain('sub-accounts')
  })

  it('is not taken with the token of a sub account', async () => {
    const { trial, run } = await startKept()
    await using _ = trial
    trial.sandbox.faults.add({ operation: 'list', refused: true })
    const { exitCode, stdout } = await run('backup')
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(/Cannot list the sub accounts: the service refuses the token/)
    expect(await trial.snapshots()).toHaveLength(1)
    const doctor = await run('doctor')
    expect([doctor.exitCode, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(/failed +account main: Cannot list the sub accounts/),
    ])
  })
})

describe('accounts restore', () => {
  it('shows the plan first, then reduces before it increases, and sends every member', async () => {
    const { trial, run, setCapacities } = await startKept('deployed')
    await using _ = trial
    await setCapacities(1, 5)
    const planned = await run('accounts', 'restore')
    expect(planned.stdout).toMatch(/maxDailyGB: 5 → 1[\s\S]*maxDailyGB: 1 → 5[\s\S]*Nothing was/)
    expect(planned.exitCode).toBe(2)
    expect(planned.stderr).toMatch(/^hint: add --yes/m)
    expect(replacesOf(trial)).toEqual([])
    const { exitCode, stdout } = await run('accounts', 'restore', '--yes')
    expect([exitCode, stdout.split('\n').at(-2)]).toEqual([
      0,
      'replaced the settings of 2 of 2 sub accounts',
    ])
    expect(trial.replaced()).toEqual(['12=1', '11=5'])
    expect(trial.settings(richId)).toEqual(richSettings)
    expect((await run('accounts', 'restore', '--yes')).stdout).toMatch(/Nothing to change\n$/)
  })

  it('prints the exact bodies with --dry-run, and sends nothing', async () => {
    const { trial, run, setCapacities } = await startKept()
    await using _ = trial
    await setCapacities(3, 1)
    const { exitCode, stdout } = await run('accounts', 'restore', '--dry-run', '--yes')
    expect([exitCode, replacesOf(trial)]).toEqual([0, []])
    expect(stdout).toMatch(
      /"maxDailyGB": 5,[\s\S]*changed; these are the bodies of the requests\n$/,
    )
  })

  it('restores only the accounts that are chosen', async () => {
    const { trial, run, setCapacities } = await startKept()
    await using _ = trial
    await setCapacities(3, 0)
    const { exitCode } = await run('accounts', 'restore', '--only', String(poorId), '--yes')
    expect([exitCode, trial.capacities()]).toEqual([0, [3, 1]])
    const absent = await run('accounts', 'restore', '--only', '77', '--yes')
    expect([absent.exitCode, absent.stderr]).toEqual([2, expect.stringMatching(/it holds 11, 12/)])
  })

  it('restores an account whose name no new one may have', async () => {
    const subAccounts = [
      { accountId: 21, accountName: 'Shop (EU)', settings: { maxDailyGB: 2, retentionDays: 3 } },
    ]
    const { trial, run } = await startKept('specified', { subAccounts })
    await using _ = trial
    await run('accounts', 'update', '21', '--retention-days', '9', '--yes')
    const { exitCode, stderr } = await run('accounts', 'restore', '--yes')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(trial.settings(21).retentionDays).toBe(3)
  })

  it('prints what was done when one account is refused, and finishes when it is run again', async () => {
    const { trial, run, setCapacities } = await startKept()
    await using _ = trial
    await setCapacities(1, 5)
    trial.sandbox.faults.add({ operation: 'replace', after: 1, status: 400, times: 1 })
    const { exitCode, stdout } = await run('accounts', 'restore', '--yes')
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/settings of 1 of 2 sub accounts\nfailed Cannot replace .*\n {2}hint: /)
    expect(trial.capacities()).toEqual([1, 1])
    expect((await run('accounts', 'restore', '--yes')).exitCode).toBe(0)
    expect(trial.capacities()).toEqual([5, 1])
  })

  it('fails when the snapshot holds no settings', async () => {
    await using trial = await startAccounts({}, { objects: { generated: { seed: 1, count: 1 } } })
    await trial.run(['backup'], { DASHKEEP_API_TOKEN: mainToken })
    const { exitCode, stderr } = await trial.accounts(['restore', '--yes'])
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/no such type\nhint: it holds /)])
  })
})
