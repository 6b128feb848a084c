import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { askDashkeep, runDashkeep } from './run-dashkeep.ts'
import { shopToken, startTrial } from './trial.ts'

let folder = ''
const output = () => join(folder, 'dashkeep.yaml')

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-init-'))
})

afterEach(() => rm(folder, { recursive: true }))

function init(...flags: string[]) {
  return runDashkeep(['config', 'init', '--output', output(), ...flags], { env: {} })
}

const needed = ['--base-url', 'https://api.example.com', '--store', 's3://backups/dashkeep']

describe('config init', () => {
  it('writes a file that config check accepts and that a backup runs with', async () => {
    await using trial = await startTrial()
    const { exitCode, stdout, stderr } = await init(
      ...['--base-url', trial.sandbox.url, '--store', trial.archive, '--account-id', '100001'],
      ...['--token-env', 'SHOP_TOKEN', '--schedule', '15 3 * * *'],
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`dashkeep backup --config ${output()}\n`)
    const env = { SHOP_TOKEN: shopToken }
    const config = ['--config', output()]
    expect((await runDashkeep(['config', 'check', ...config], { env })).exitCode).toBe(0)
    expect((await runDashkeep(['backup', ...config], { env })).exitCode).toBe(0)
    const text = await readFile(output(), 'utf8')
    expect(text).not.toContain(shopToken)
    expect(text.match(/^ *# /gm)?.length).toBeGreaterThan(5)
    expect(parse(text)).toMatchObject({
      service: { baseUrl: trial.sandbox.url },
      accounts: [{ accountId: 100001, token: { env: 'SHOP_TOKEN' } }],
      schedule: { cron: '15 3 * * *' },
    })
    expect(await readdir(folder)).toEqual(['dashkeep.yaml'])
  })

  it('comments out only lines that are valid without the number sign', async () => {
    await init(...needed, '--token-env', 'SHOP_TOKEN')
    const text = await readFile(output(), 'utf8')
    const all = text.replaceAll(/^( *)# ?( *[a-zA-Z]+:( .*)?)$/gm, '$1$2')
    expect(all).not.toBe(text)
    await writeFile(output(), all)
    const env = { SHOP_TOKEN: shopToken }
    const checked = await runDashkeep(['config', 'check', '--config', output()], { env })
    expect(checked.stderr).toBe('')
    expect(checked.exitCode).toBe(0)
    expect(parse(all)).toMatchObject({ schedule: {}, notifications: [{}], encryption: {} })
  })

  it('reads the token from a file that is there', async () => {
    const file = join(folder, 'token')
    await writeFile(file, shopToken)
    expect((await init(...needed, '--token-file', file)).exitCode).toBe(0)
    expect(parse(await readFile(output(), 'utf8'))).toMatchObject({
      accounts: [{ token: { file } }],
    })
  })

  it('names in a pipe every flag that is needed, with exit code 2', async () => {
    const { exitCode, stderr } = await init()
    expect(exitCode).toBe(2)
    for (const flag of ['--base-url', '--store', '--token-env or --token-file']) {
      expect(stderr).toContain(`  - ${flag}: missing\n`)
    }
    expect(stderr).toMatch(/^hint: .*dashkeep config init --base-url/m)
    expect(await readdir(folder)).toEqual([])
  })

  it('names everything that is wrong by its flag, and writes nothing', async () => {
    const { exitCode, stderr } = await init(
      ...['--base-url', 'api.example.com', '--store', 'backups', '--account-id', 'shop'],
      ...['--token-env', 'SHOP_TOKEN', '--schedule', '99 3 * * *'],
    )
    expect(exitCode).toBe(2)
    for (const flag of ['--base-url', '--store', '--account-id', '--schedule']) {
      expect(stderr).toContain(`  - ${flag}: `)
    }
    expect(await readdir(folder)).toEqual([])
  })

  it.each([
    ['--token-env', '6f1c9a4e-8d1b-4b57-9a0e-token'],
    ['--token-env', 'sandboxtoken'],
    ['--token-file', 'c2FuZGJveC10b2tlbg'],
  ])('never shows or writes a token that was given to %s: %s', async (flag, token) => {
    const { exitCode, stdout, stderr } = await init(...needed, flag, token)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(flag)
    expect(stdout + stderr).not.toContain(token)
    expect(stderr).not.toContain('accounts.0')
    expect(await readdir(folder)).toEqual([])
  })

  it('replaces a file only with --force', async () => {
    await writeFile(output(), 'mine')
    const refused = await init(...needed, '--token-env', 'SHOP_TOKEN')
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toMatch(/dashkeep.yaml: it is there already\nhint: .*--force/)
    expect(await readFile(output(), 'utf8')).toBe('mine')
    expect((await init(...needed, '--token-env', 'SHOP_TOKEN', '--force')).exitCode).toBe(0)
    expect(await readFile(output(), 'utf8')).toContain('SHOP_TOKEN')
    expect(await readdir(folder)).toEqual(['dashkeep.yaml'])
  })

  it('asks on a terminal for settings without an option, and again after an invalid answer', async () => {
    const answers = ['api.example.com', 'https://api.example.com', '', 's3://backups/x', '', '']
    const { exitCode, stdout, stderr } = await askDashkeep(['config', 'init', '-o', output()], {
      env: { NO_COLOR: '1' },
      answers,
    })
    const next = ['doctor', 'backup'].map((verb) => `  dashkeep ${verb} --config ${output()}\n`)
    const variable = '  export DASHKEEP_API_TOKEN=…\n'
    const end = `wrote ${output()}\nNext:\n${variable}${next.join('')}`
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(end)])
    expect(stderr + stdout).toMatch(/--base-url: .*api\.example\.com/)
    const written = parse(await readFile(output(), 'utf8'))
    expect(written).toMatchObject({
      service: { baseUrl: 'https://api.example.com' },
      accounts: [{ token: { env: 'DASHKEEP_API_TOKEN' } }],
      store: { url: 's3://backups/x' },
    })
    expect(written.accounts[0]).not.toHaveProperty('accountId')
    expect(written).not.toHaveProperty('schedule')
  })

  it('writes nothing when somebody leaves at a question', async () => {
    const run = await askDashkeep(['config', 'init', '-o', output()], { env: {}, answers: [] })
    expect(run.exitCode).toBe(130)
    expect(await readdir(folder)).toEqual([])
  })
})
