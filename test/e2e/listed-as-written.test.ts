import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jsonLines } from './run-dashkeep.ts'
import { readTree, shop, shopId, shopToken, startTrial, type Trial } from './trial.ts'

/** Expects a backup to fail with nothing stored. */
async function expectRefusal(trial: Trial, message: RegExp, now = new Date()): Promise<void> {
  const { exitCode, stdout } = await trial.runAt(now, ['backup', '--json'])
  const [account] = JSON.parse(stdout).accounts
  expect(account.error).toMatch(message)
  expect(account.hint).toEqual(expect.any(String))
  expect(exitCode).toBe(1)
  expect((await trial.files()).size).toBe(0)
}

describe('what a backup writes', () => {
  it.each([999_999_999_999_999, 1_000_000_000_000_000, Number.MAX_SAFE_INTEGER, 0, -7])(
    'is listed, proven and found for account %d',
    async (accountId) => {
      await using trial = await startTrial({ accounts: [shop({ accountId, subAccounts: [] })] })
      const changes = { DASHKEEP_ACCOUNT_ID: `${accountId}` }
      expect((await trial.run(['backup'], changes)).exitCode).toBe(0)
      const { stdout } = await trial.run(['list', '--json'])
      expect(jsonLines(stdout)).toMatchObject([{ accountId }])
      const status = await trial.run(['status', `--account=${accountId}`], changes)
      expect(status.exitCode).toBe(0)
      expect(status.stdout).toContain(`${accountId}`)
      expect((await trial.run(['verify'])).stdout).toContain('verified 1 snapshot')
    },
  )

  it('does not go through a symbolic link, where no list would find it', async () => {
    await using trial = await startTrial()
    const elsewhere = join(trial.folder, 'elsewhere')
    await mkdir(elsewhere)
    await mkdir(trial.archive)
    await symlink(elsewhere, join(trial.archive, `${shopId}`))
    const { exitCode, stdout } = await trial.run(['backup', '--json'])
    expect(JSON.parse(stdout).accounts[0]).toMatchObject({
      result: 'failed',
      error: expect.stringContaining(`${shopId} is a symbolic link`),
      hint: expect.any(String),
    })
    expect(exitCode).toBe(2)
    expect((await readTree(elsewhere)).size).toBe(0)
  })

  it('goes through a link to the whole archive', async () => {
    await using trial = await startTrial()
    await mkdir(join(trial.folder, 'elsewhere'))
    await symlink(join(trial.folder, 'elsewhere'), trial.archive)
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('does not pin through a symbolic link, where prune would not see the pin', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    await rename(trial.archive, join(trial.folder, 'elsewhere'))
    await mkdir(trial.archive)
    await rename(join(trial.folder, 'elsewhere', `${shopId}`), join(trial.archive, `${shopId}`))
    await symlink(join(trial.folder, 'elsewhere'), join(trial.archive, 'pins'))
    const { exitCode, stderr } = await trial.run(['pin', 'latest'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('pins is a symbolic link')
  })
})

describe('a backup that no reader could use', () => {
  it('is refused for an account name that does not fit a manifest', async () => {
    const accountName = 'n'.repeat(1_200_000)
    await using trial = await startTrial({ accounts: [shop({ accountName })] })
    await expectRefusal(trial, /^Cannot write the manifest .*12\d{5} bytes, more than 1048576$/)
  })

  it('is refused for a kibanaVersion that does not fit a manifest', async () => {
    await using trial = await startTrial()
    const document = JSON.stringify({ kibanaVersion: '7'.repeat(1_048_000), hits: [] })
    trial.sandbox.setObjects(shopId, 'dashboard', document)
    await expectRefusal(trial, /^Cannot write the manifest .*10\d{5} bytes, more than 1048576$/)
  })

  it.each(['manifest', 'damaged'])(
    'is refused for the type %s without compression, since the archive has such a file itself',
    async (type) => {
      await using trial = await startTrial({ types: ['search', type] })
      const config = { types: ['search', type], compression: 'none' }
      const changes = { DASHKEEP_CONFIG: await trial.write('c.yaml', config) }
      for (const verb of ['backup', 'doctor']) {
        const { exitCode, stderr } = await trial.run([verb], changes)
        expect(exitCode).toBe(2)
        expect(stderr).toContain(`types: ${type} needs compression`)
      }
      expect((await trial.files()).size).toBe(0)
      for (const result of ['first', 'unchanged']) {
        const args = ['backup', '--json']
        const { stdout } = await trial.run(args, { DASHKEEP_TYPES: `search,${type}` })
        expect(JSON.parse(stdout).accounts[0].result).toBe(result)
      }
      expect((await trial.run(['verify'])).exitCode).toBe(0)
    },
  )

  it('is refused for sub-accounts that are listed twice', async () => {
    await using trial = await startTrial()
    const config = {
      service: { baseUrl: trial.sandbox.url },
      types: ['search', 'sub-accounts'],
      accounts: [{ name: 'shop', token: { env: 'TOKEN' }, include: ['sub-accounts'] }],
    }
    const changes = { TOKEN: shopToken, DASHKEEP_CONFIG: await trial.write('c.yaml', config) }
    for (const verb of ['backup', 'doctor']) {
      const { exitCode, stderr } = await trial.run([verb], changes)
      expect(exitCode).toBe(2)
      expect(stderr).toContain('accounts.0.include: sub-accounts comes twice, also in types')
    }
    expect((await trial.files()).size).toBe(0)
  })

  it('is refused at a time that no snapshot can be named by', async () => {
    await using trial = await startTrial()
    const now = new Date('+010000-01-01T00:00:00Z')
    await expectRefusal(trial, /^Cannot write the manifest .*a listing would not show it$/, now)
  })
})
