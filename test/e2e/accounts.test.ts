import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run.ts'
import { InterruptedError } from '../../src/errors.ts'
import {
  adminEmail,
  mainId,
  mainToken,
  poorId,
  replacesOf,
  richId,
  richSettings,
  startAccounts,
} from './accounts-trial.ts'
import { runDashkeep, until } from './run-dashkeep.ts'

const forms = ['specified', 'deployed'] as const

/** What a list in this form shows, and a replace must send back. */
function sentSettings(form: (typeof forms)[number]) {
  const { isFlexible, reservedDailyGB, softLimitGB, snapSearchRetentionDays, ...specified } =
    richSettings
  const further = { isFlexible, reservedDailyGB, softLimitGB, snapSearchRetentionDays }
  return {
    accountName: 'Rich',
    ...specified,
    ...(form === 'deployed' && further),
  }
}

/** What a change says in a pipe without `--yes`. */
const notConfirmed = expect.stringMatching(
  /^error: Cannot .*: it needs a confirmation\nhint: add --yes/m,
)

const newAccount = ['--email', adminEmail, '--name', 'New', '--retention-days', '4']

describe.each(forms)('sub accounts of a service in its %s form', (form) => {
  it('are listed, with the main account marked', async () => {
    await using trial = await startAccounts({ form })
    const { exitCode, stdout } = await trial.accounts(['list'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^Main account 10 \(Main\) at http/)
    expect(stdout).toMatch(/11 +Rich +5 +5 +yes +yes +yes +every 10 min +10, 12\n/)
    expect(stdout.includes('main account\n')).toBe(form === 'deployed')
    expect(stdout).toMatch(/2 sub accounts, 6 GB per day in total\n$/)
    const listed = JSON.parse((await trial.accounts(['list', '--json'])).stdout)
    const expected = { accountId: richId, isMain: false, maxDailyGB: 5 }
    expect(listed).toMatchObject({ main: { accountId: mainId, accountName: 'Main' } })
    expect(listed.accounts).toContainEqual(expect.objectContaining(expected))
  })

  it('are updated with every other member sent back as it was', async () => {
    await using trial = await startAccounts({ form })
    const { exitCode, stdout, stderr } = await trial.accounts([
      ...['update', String(richId), '--max-daily-gb', '4', '--utilization', 'off', '--yes'],
    ])
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('~ maxDailyGB: 5 → 4\n')
    expect(stdout).toContain('~ utilizationSettings.frequencyMinutes: 10 → null\n')
    expect(stdout).toMatch(/replaced sub account 11; the service lists the new settings\n$/)
    const [request] = replacesOf(trial)
    expect(JSON.parse(request?.body ?? '')).toEqual({
      ...sentSettings(form),
      maxDailyGB: 4,
      utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
    })
    expect(request?.status).toBe(form === 'deployed' ? 204 : 200)
    if (form === 'deployed') {
      const utilizationSettings = { frequencyMinutes: null, utilizationEnabled: false }
      expect(trial.settings(richId)).toEqual({
        ...richSettings,
        maxDailyGB: 4,
        utilizationSettings,
      })
    }
  })

  it('are replaced by a document from a file or from standard input', async () => {
    await using trial = await startAccounts({ form })
    const document = JSON.stringify({ ...sentSettings(form), retentionDays: 9 })
    const file = await trial.write('eleven.json', document)
    const { exitCode } = await trial.accounts(['replace', String(richId), file, '--yes'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(replacesOf(trial)[0]?.body ?? '')).toEqual(JSON.parse(document))
    const output: string[] = []
    const stream = Object.assign(Readable.from([]), { write: (text: string) => output.push(text) })
    const piped = await runCli(['accounts', 'replace', String(richId), '--json', '--yes'], {
      env: trial.env,
      stdout: stream as never,
      stderr: stream as never,
      stdin: () => Readable.from([JSON.stringify({ ...sentSettings(form), searchable: false })]),
      signal: new AbortController().signal,
      now: () => new Date(),
    })
    expect([piped, JSON.parse(output.join(''))]).toMatchObject([0, { done: true, shown: true }])
    expect(trial.settings(richId)).toMatchObject({ searchable: false, retentionDays: 5 })
  })

  it('are replaced by an unedited entry of accounts list --json: nothing to change', async () => {
    await using trial = await startAccounts({ form })
    const { accounts } = JSON.parse((await trial.accounts(['list', '--json'])).stdout)
    const entry = accounts.find(({ accountId }: { accountId: number }) => accountId === richId)
    const file = await trial.write('eleven.json', JSON.stringify(entry))
    const same = await trial.accounts(['replace', String(richId), file, '--yes'])
    expect([same.exitCode, same.stderr]).toEqual([0, ''])
    expect(same.stdout).toMatch(/Nothing to change\n$/)
    await trial.write('eleven.json', JSON.stringify({ ...entry, retentionDays: 9 }))
    const { exitCode } = await trial.accounts(['replace', String(richId), file, '--yes'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(replacesOf(trial)[0]?.body ?? '')).toEqual({
      ...sentSettings(form),
      retentionDays: 9,
    })
  })

  it('are created, and their token is shown once', async () => {
    await using trial = await startAccounts({ form })
    const planned = await trial.accounts(['create', ...newAccount])
    expect(planned.stdout).toMatch(/warning with 0 GB[\s\S]*Nothing was created\n$/)
    expect([planned.exitCode, planned.stderr]).toEqual([2, notConfirmed])
    expect(trial.sandbox.accounts()).toHaveLength(3)
    const { exitCode, stdout, stderr } = await trial.accounts(['create', ...newAccount, '--yes'])
    expect(exitCode).toBe(0)
    const created = trial.sandbox.accounts().find(({ accountName }) => accountName === 'New')
    expect(created?.settings).toMatchObject({ maxDailyGB: 0, retentionDays: 4 })
    expect(stdout.split(created?.accountToken ?? '-')).toHaveLength(2)
    expect(stderr).not.toContain(created?.accountToken)
  })

  it('get 3 and 3 GB of 5 and 1, the higher reduced first, and keep all else', async () => {
    await using trial = await startAccounts({ form })
    const args = ['--from', String(richId), '--to', String(poorId), '--gb', '2']
    const planned = await trial.move(args)
    expect(planned.stdout).toMatch(/1 +reduce +11 +Rich +5 +3\n2 +increase +12 +Poor +1 +3\n/)
    expect(planned.stdout).toContain(
      'In total 6 GB per day before and 6 after; never more in between',
    )
    expect([planned.exitCode, planned.stderr]).toEqual([2, notConfirmed])
    expect(replacesOf(trial)).toEqual([])
    const poorBefore = trial.settings(poorId)
    const { exitCode, stdout } = await trial.move([...args, '--yes'])
    expect([exitCode, stdout.split('\n').at(-2)]).toEqual([
      0,
      'moved, and the service lists the new capacities',
    ])
    expect(trial.replaced()).toEqual(['11=3', '12=3'])
    expect(JSON.parse(replacesOf(trial)[0]?.body ?? '')).toEqual({
      ...sentSettings(form),
      maxDailyGB: 3,
    })
    expect(trial.settings(poorId)).toEqual({ ...poorBefore, maxDailyGB: 3 })
    await expect(stat(trial.journal)).rejects.toThrow('ENOENT')
  })
})

describe('accounts create', () => {
  it('writes the token to a new file that only its owner reads', async () => {
    await using trial = await startAccounts()
    const file = join(trial.folder, 'token')
    const args = ['create', ...newAccount, '--token-file', file, '--yes', '--json']
    const { exitCode, stdout } = await trial.accounts(args)
    const created = trial.sandbox.accounts().find(({ accountName }) => accountName === 'New')
    expect(exitCode).toBe(0)
    expect(await readFile(file, 'utf8')).toBe(`${created?.accountToken}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(stdout)).toMatchObject({ accountId: created?.accountId, tokenFile: file })
    expect(stdout).not.toContain(created?.accountToken)
    const again = await trial.accounts(args)
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('there already')])
    expect(trial.sandbox.accounts()).toHaveLength(4)
  })

  it('says in plain words that a file cannot be written or read', async () => {
    await using trial = await startAccounts()
    const missing = join(trial.folder, 'missing', 'file')
    const create = ['create', ...newAccount, '--token-file', missing, '--yes']
    for (const [args, what] of [
      [create, 'write the token to'],
      [['replace', String(richId), missing, '--yes'], 'read'],
    ] as const) {
      const { exitCode, stderr } = await trial.accounts(args)
      expect(exitCode).toBe(2)
      expect(stderr).toContain(`Cannot ${what} ${missing}: there is no such file or folder\nhint: `)
      expect(stderr).not.toContain('ENOENT')
    }
  })

  it('leaves no file behind when the service refuses', async () => {
    await using trial = await startAccounts()
    const file = join(trial.folder, 'token')
    const args = ['create', '--email', 'nobody@shop.example', ...newAccount.slice(2)]
    const { exitCode, stderr } = await trial.accounts([...args, '--token-file', file, '--yes'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^error: Cannot create the sub account New: .*not an admin of the account/m,
    )
    expect(stderr).toMatch(/^hint: .*email must belong to an admin user/m)
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('prints the exact body with --dry-run, and sends nothing', async () => {
    await using trial = await startAccounts()
    const args = ['create', ...newAccount, '--share-with', '11', '--dry-run', '--yes']
    const { exitCode, stdout } = await trial.accounts(args)
    const body = JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1))
    expect(body).toEqual({
      email: adminEmail,
      accountName: 'New',
      retentionDays: 4,
      maxDailyGB: 0,
      sharingObjectsAccounts: [11],
    })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/warning with 0 GB[\s\S]*Nothing was created; this is the body/)
    const { stdout: json } = await trial.accounts([...args, '--json'])
    expect(JSON.parse(json)).toMatchObject({ done: false, body })
    expect(trial.sandbox.accounts()).toHaveLength(3)
  })

  it('finds the account whose answer was lost, and creates no second one', async () => {
    await using trial = await startAccounts({ staleLists: 2 })
    trial.sandbox.faults.add({ operation: 'create', lost: true, times: 1 })
    const { exitCode, stderr } = await trial.accounts(['create', ...newAccount, '--yes'])
    const created = trial.sandbox.accounts().filter(({ accountName }) => accountName === 'New')
    expect(created).toHaveLength(1)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`account ${created[0]?.accountId} with this name`)
    expect(stderr).toMatch(/^hint: do not create it again/m)
  })

  it('says that no account has appeared when the connection was cut', async () => {
    await using trial = await startAccounts()
    trial.sandbox.faults.add({ operation: 'create', cut: true })
    const { exitCode, stderr } = await trial.accounts(['create', ...newAccount, '--yes'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('was interrupted')
    expect(stderr).toContain('; the list shows no new account with this name\n')
    expect(stderr).toMatch(/^hint: .*`dashkeep accounts list`/m)
  })

  it('says that the list cannot be read either', async () => {
    await using trial = await startAccounts()
    trial.sandbox.faults.add({ operation: 'create', lost: true })
    trial.sandbox.faults.add({ operation: 'list', after: 1, status: 400 })
    const { exitCode, stderr } = await trial.accounts(['create', ...newAccount, '--yes'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^error: .*was interrupted.*; it is unknown whether .*: Cannot list the sub accounts/m,
    )
    expect(stderr).toMatch(/^hint: the sub account may have been created/m)
  })

  it.each([
    ['has appeared since', { atByte: 0 }, 2, / with this name\nhint: do not cre/],
    ['has not appeared', {}, 0, /shows no new account with this name\nhint: the service may/],
  ])('that is interrupted says that the account %s', async (_what, when, staleLists, told) => {
    await using trial = await startAccounts({ staleLists })
    trial.sandbox.faults.add({ operation: 'create', hang: true, ...when })
    const interruption = new AbortController()
    const running = runDashkeep(['accounts', 'create', ...newAccount, '--yes'], {
      env: trial.env,
      signal: interruption.signal,
    })
    const { sandbox } = trial
    await until('the create is sent', () =>
      sandbox.requests().some(({ operation }) => operation === 'create'),
    )
    interruption.abort(new InterruptedError('SIGTERM'))
    const { exitCode, stdout, stderr } = await running
    expect(exitCode).toBe(143)
    expect(stdout).not.toContain('created')
    expect(stderr).toMatch(
      /^error: Cannot create the sub account New: interrupted by SIGTERM during the request; /m,
    )
    expect(stderr).toMatch(told)
  })

  it('shows its token and ends as interrupted when it waits for the list', async () => {
    await using trial = await startAccounts()
    trial.sandbox.faults.add({ operation: 'list', after: 1, hang: true })
    const interruption = new AbortController()
    const running = runDashkeep(['accounts', 'create', ...newAccount, '--yes'], {
      env: trial.env,
      signal: interruption.signal,
    })
    const { sandbox } = trial
    const listed = () => sandbox.requests().filter(({ operation }) => operation === 'list').length
    await until('the list hangs', () => listed() === 2)
    interruption.abort(new InterruptedError('SIGINT'))
    const { exitCode, stdout } = await running
    expect([exitCode, stdout]).toEqual([130, expect.stringContaining('Token for shipping logs')])
  })

  it('says so when the list does not show the new account', async () => {
    await using trial = await startAccounts({ staleLists: 100 })
    const { exitCode, stdout } = await trial.accounts(['create', ...newAccount, '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/not listed the service does not list the account yet\n$/)
  })
})

describe('accounts update', () => {
  const args = ['update', String(richId), '--retention-days', '9']

  it('prints the exact body with --dry-run, and sends nothing', async () => {
    await using trial = await startAccounts({ form: 'deployed' })
    const { exitCode, stdout } = await trial.accounts([...args, '--dry-run', '--yes'])
    const body = JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1))
    expect(body).toEqual({ ...sentSettings('deployed'), retentionDays: 9 })
    expect(exitCode).toBe(0)
    const { stdout: json } = await trial.accounts([...args, '--dry-run', '--json'])
    expect(JSON.parse(json)).toMatchObject({
      done: false,
      changes: [{ member: 'retentionDays', before: 5, after: 9 }],
      body,
    })
    expect(replacesOf(trial)).toEqual([])
  })

  it('changes nothing without --yes, nor when there is nothing to change', async () => {
    await using trial = await startAccounts()
    const planned = await trial.accounts(args)
    expect(planned.stdout).toMatch(/~ retentionDays: 5 → 9\nNothing was changed\n$/)
    expect([planned.exitCode, planned.stderr]).toEqual([2, notConfirmed])
    const json = await trial.accounts([...args, '--json'])
    expect([json.exitCode, JSON.parse(json.stdout)]).toMatchObject([2, { done: false }])
    const same = ['update', String(richId), '--retention-days', '5', '--yes']
    expect((await trial.accounts(same)).stdout).toMatch(/Nothing to change\n$/)
    expect(replacesOf(trial)).toEqual([])
  })

  it('is refused when somebody else changes the account in between, without --force', async () => {
    await using trial = await startAccounts()
    const meddle = () => {
      const others = { ...sentSettings('specified'), accountName: 'Other', retentionDays: 6 }
      const body = JSON.stringify([{ accountId: richId, email: null, ...others }])
      trial.sandbox.faults.add({ operation: 'list', after: 1, times: 1, body })
    }
    meddle()
    const { exitCode, stderr } = await trial.accounts([...args, '--yes'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('somebody else has changed accountName, retentionDays since')
    expect(stderr).toMatch(/^hint: .*--force/m)
    expect(replacesOf(trial)).toEqual([])
    trial.sandbox.faults.clear()
    meddle()
    expect((await trial.accounts([...args, '--yes', '--force'])).exitCode).toBe(0)
    expect(trial.settings(richId).retentionDays).toBe(9)
  })

  it('says so when the list does not show what was replaced, with exit code 3', async () => {
    await using trial = await startAccounts({ staleLists: 100 })
    const { exitCode, stdout } = await trial.accounts([...args, '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/does not list the new settings yet\n {2}~ retentionDays: 5 → 9\n$/)
    expect(trial.settings(richId).retentionDays).toBe(9)
  })

  it('says that nobody knows when every answer is lost, and has nothing to change then', async () => {
    await using trial = await startAccounts()
    trial.sandbox.faults.add({ operation: 'replace', lost: true, times: 3 })
    const { exitCode, stderr } = await trial.accounts([...args, '--yes'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /it is unclear whether account 11 has the new settings\nhint: run it again/,
    )
    expect((await trial.accounts([...args, '--yes'])).stdout).toMatch(/Nothing to change\n$/)
  })

  it('keeps a capacity that is a fraction or null', async () => {
    await using trial = await startAccounts(
      { form: 'deployed' },
      {
        subAccounts: [
          { accountId: 21, accountName: 'Fraction', settings: { maxDailyGB: 0.5 } },
          { accountId: 22, accountName: 'Flexible', settings: { maxDailyGB: null } },
        ],
      },
    )
    for (const id of ['21', '22']) {
      await trial.accounts(['update', id, '--retention-days', '9', '--yes'])
    }
    expect(trial.replaced()).toEqual(['21=0.5', '22=null'])
  })
})

describe('an account whose name no new one may have', () => {
  const legacyId = 21
  const legacy = {
    subAccounts: [
      { accountId: legacyId, accountName: 'Shop (EU) & more', settings: { maxDailyGB: 3 } },
      { accountId: 22, accountName: 'Plain', settings: { maxDailyGB: 1 } },
    ],
  }
  const named = (trial: Awaited<ReturnType<typeof startAccounts>>) =>
    trial.sandbox.accounts().find(({ accountId }) => accountId === legacyId)

  it('keeps it when other settings are updated, replaced or moved', async () => {
    await using trial = await startAccounts({}, legacy)
    const { accounts } = JSON.parse((await trial.accounts(['list', '--json'])).stdout)
    const file = await trial.write('a.json', JSON.stringify({ ...accounts[0], retentionDays: 8 }))
    for (const args of [
      ['replace', String(legacyId), file],
      ['update', String(legacyId), '--searchable', 'yes'],
    ]) {
      const { exitCode, stderr } = await trial.accounts([...args, '--yes'])
      expect([exitCode, stderr]).toEqual([0, ''])
    }
    const args = ['--from', String(legacyId), '--to', '22', '--gb', '1', '--yes']
    expect((await trial.move(args)).exitCode).toBe(0)
    expect(named(trial)).toMatchObject({
      accountName: 'Shop (EU) & more',
      settings: { retentionDays: 8, searchable: true, maxDailyGB: 2 },
    })
  })

  it('cannot be given another such name', async () => {
    await using trial = await startAccounts({}, legacy)
    const { accounts } = JSON.parse((await trial.accounts(['list', '--json'])).stdout)
    const file = await trial.write('a.json', JSON.stringify({ ...accounts[0], accountName: 'A&B' }))
    for (const args of [
      ['replace', String(legacyId), file],
      ['update', String(legacyId), '--name', 'A&B'],
    ]) {
      const { exitCode, stderr } = await trial.accounts([...args, '--yes'])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('accountName: expected')])
    }
    expect(replacesOf(trial)).toEqual([])
  })
})

describe('on a terminal', () => {
  it.each([
    ['y', ['11=4'], 'replaced sub account 11'],
    ['n', [], 'Nothing was changed'],
  ])('a replace is asked for, and the answer %s is followed', async (answer, replaced, told) => {
    await using trial = await startAccounts()
    const terminal = () => Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
    const [stdin, stdout, stderr] = [terminal(), terminal(), terminal()]
    let asked = ''
    stderr.on('data', (text: string) => {
      asked += text
      if (text.includes('[y/N]')) stdin.write(`${answer}\n`)
    })
    const exitCode = await runCli(['accounts', 'update', '11', '--max-daily-gb', '4'], {
      env: { ...trial.env, NO_COLOR: '1' },
      ...{ stdin: () => stdin, stdout, stderr },
      signal: new AbortController().signal,
      now: () => new Date(),
    })
    expect(exitCode).toBe(0)
    expect(asked).toContain('Replace the settings of sub account 11? [y/N]')
    expect(stdout.read()).toContain(told)
    expect(trial.replaced()).toEqual(replaced)
  })
})

describe('a refusal', () => {
  const update = ['update', String(richId), '--retention-days', '9', '--yes']
  const region = 'Account region us-east-1 differs from current server region eu-central-1'

  it.each([
    [
      'of the token, under 403',
      update,
      { refusalStatus: 403 },
      2,
      /refuses the token \(status 403/,
    ],
    [
      'of the token, under 200',
      update,
      { refusalStatus: 200 },
      2,
      /refuses the token \(status 200/,
    ],
  ] as const)('%s gives message, hint and exit code', async (_what, args, options, code, state) => {
    await using trial = await startAccounts(options)
    for (const token of ['rich-token', 'unknown']) {
      const { exitCode, stderr } = await trial.accounts(args, { DASHKEEP_API_TOKEN: token })
      expect([exitCode, stderr]).toEqual([code, expect.stringMatching(state)])
      expect(stderr).toMatch(/^hint: .*API token/m)
    }
    expect(replacesOf(trial)).toEqual([])
  })

  it('of another region names both', async () => {
    await using trial = await startAccounts()
    trial.sandbox.faults.add({ operation: 'replace', status: 400, body: region })
    const { exitCode, stderr } = await trial.accounts(update)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('is in region us-east-1, the base address serves region eu-central-1')
    expect(stderr).toMatch(/^hint: use the base address of region us-east-1/m)
  })

  it('of more than the plan holds says what to do', async () => {
    await using trial = await startAccounts()
    const args = ['update', String(richId), '--max-daily-gb', '6', '--yes']
    const { exitCode, stderr } = await trial.accounts(args)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^error: Cannot replace .*ILLEGAL_PLAN_REQUEST/m)
    expect(stderr).toMatch(/^hint: .*reduce another one first/m)
    expect(trial.capacities()).toEqual([5, 1])
  })

  it('of a body that the service does not take keeps what it says', async () => {
    await using trial = await startAccounts()
    const args = ['update', String(richId), '--max-daily-gb', '4.5', '--yes']
    const { exitCode, stderr } = await trial.accounts(args)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^error: .*Request\/INVALID_BODY, "maxDailyGB: /m)
    expect(stderr).toMatch(/^hint: /m)
  })

  it.each([
    [
      'an unknown id',
      ['update', '77', '--retention-days', '9'],
      /sub account 77.*\nhint: .*11, 12/,
    ],
    ['the main account', ['update', '10', '--retention-days', '9'], /main account itself\nhint: /],
    ['no setting', ['update', '11'], /no setting is given\nhint: /],
    ['no id', ['update', 'eleven', '--retention-days', '9'], /not a whole number\nhint: /],
    ['a retention of nothing', ['update', '11', '--retention-days', '0'], /retentionDays: /],
    ['a document that is not there', ['replace', '11', '/nowhere/at/all'], /Cannot read \/nowhere/],
    [
      'a bad e-mail',
      ['create', '--email', 'x', ...newAccount.slice(2)],
      /email: expected an e-mail/,
    ],
    ['a move of too much', ['move-capacity', '--from', '11', '--to', '12', '--gb', '6'], /keep -1/],
    ['a move to more', ['move-capacity', '--set', '11=5', '12=2'], /have 7 GB per day .* of 6/],
    ['half a move', ['move-capacity', '--from', '11'], /do not say what to move\nhint: /],
  ])('of %s is dashkeep’s own, with exit code 2', async (_what, args, state) => {
    await using trial = await startAccounts()
    const { exitCode, stderr } = await trial.accounts([...args, '--yes'])
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(state)])
    expect(replacesOf(trial)).toEqual([])
  })

  it('of a token of another account than the configured one comes first', async () => {
    await using trial = await startAccounts()
    const changes = { DASHKEEP_ACCOUNT_ID: '99' }
    const { exitCode, stderr } = await trial.accounts(update, changes)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('for account 99: the token belongs to account 10'),
    ])
    expect(trial.sandbox.requests().map(({ operation }) => operation)).toEqual(['whoami'])
  })
})

describe('the main account', () => {
  it('is the configured one, another by name, or the only one', async () => {
    await using trial = await startAccounts()
    const accounts = [
      { name: 'main', token: { env: 'MAIN' } },
      { name: 'rich', token: { env: 'RICH' } },
    ]
    const env = { MAIN: mainToken, RICH: 'rich-token', DASHKEEP_API_TOKEN: undefined }
    const two = await trial.write('two.yaml', { accounts })
    const managed = await trial.write('managed.yaml', {
      accounts,
      management: { token: { env: 'MAIN' }, accountId: mainId },
    })
    const unclear = await trial.accounts(['list', '--config', two], env)
    expect([unclear.exitCode, unclear.stderr]).toEqual([
      2,
      expect.stringMatching(/hint: .*--account/),
    ])
    expect((await trial.accounts(['list', '--config', two, '-a', 'main'], env)).exitCode).toBe(0)
    expect((await trial.accounts(['list', '--config', managed], env)).exitCode).toBe(0)
    for (const config of [two, managed]) {
      const byId = await trial.accounts(['list', '--config', config, '-a', `${mainId}`], env)
      expect([byId.exitCode, byId.stdout]).toEqual([
        0,
        expect.stringContaining('account 10 (Main)'),
      ])
    }
    expect((await trial.accounts(['list', '--config', managed, '-a', 'rich'], env)).exitCode).toBe(
      2,
    )
  })
})
