import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Environment } from '../../src/config/config.ts'
import { InterruptedError } from '../../src/errors.ts'
import { jsonLines, runDashkeep } from './run-dashkeep.ts'
import { shopToken, startTrial } from './trial.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-configuration-'))
})
afterAll(() => rm(folder, { recursive: true }))

const identity = await generateIdentity()
const recipient = await identityToRecipient(identity)

/** One account and a store, by variables alone. */
const variables = {
  DASHKEEP_BASE_URL: 'https://api.example.com',
  DASHKEEP_API_TOKEN: 'token-of-the-shop',
  DASHKEEP_STORE: 'file:///var/backups',
}

/** Two accounts and a store, by a file alone. */
const usable = {
  service: { baseUrl: 'https://api.example.com' },
  accounts: [
    { name: 'shop', token: { env: 'SHOP_TOKEN' } },
    { name: 'blog', token: { env: 'BLOG_TOKEN' } },
  ],
  store: { url: 'file:///var/backups' },
}

/** Runs `config check` with a file, or without one, and with nothing else in the environment. */
async function check(file: object | string | undefined, env: Environment = {}, args = ['check']) {
  const path = join(folder, 'dashkeep.yaml')
  if (file !== undefined) await writeFile(path, typeof file === 'string' ? file : stringify(file))
  const given = file === undefined ? {} : { DASHKEEP_CONFIG: path }
  const { exitCode, stdout, stderr } = await runDashkeep(['config', ...args], {
    env: { ...given, ...env },
  })
  const problems = [...stderr.matchAll(/^ {2}- (.*)$/gm)].map(([, problem = '']) => problem)
  return { exitCode, stdout, stderr, problems }
}

describe('a section of the wrong type', () => {
  it('stores nothing in plain text when encryption was asked for in the wrong way', async () => {
    await using trial = await startTrial()
    const DASHKEEP_CONFIG = await trial.write('wrong.yaml', { encryption: recipient })
    const env = { DASHKEEP_CONFIG, DASHKEEP_IDENTITY: identity }
    const { exitCode, stderr } = await trial.run(['backup'], env)
    expect((await trial.files()).size).toBe(0)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      `  - encryption: expected members such as recipients, found "${recipient}"\n`,
    )
    expect(trial.sandbox.requests()).toEqual([])
  })

  it.each([
    ['encryption', { DASHKEEP_IDENTITY: identity }],
    ['encryption', { DASHKEEP_RECIPIENTS: recipient }],
    ['service', { DASHKEEP_BASE_URL: 'https://api.example.com' }],
    ['store', { DASHKEEP_STORE: 'file:///var/backups' }],
    ['store', { AWS_REGION: 'eu-central-1' }],
    ['schedule', { DASHKEEP_SCHEDULE: '15 3 * * *' }],
    ['worker', { DASHKEEP_LISTEN: 'false' }],
    ['metrics', { DASHKEEP_METRICS_TEXTFILE: '/var/metrics/dashkeep.prom' }],
  ])('is an error when the environment sets a member of %s', async (section, env) => {
    for (const value of ['text', null, ['a list'], 7]) {
      const { exitCode, problems } = await check({ ...usable, [section]: value }, env)
      expect(exitCode).toBe(2)
      expect(problems).toContainEqual(
        expect.stringMatching(new RegExp(`^${section}: expected members such as \\w+`)),
      )
    }
  })

  it('is an error without members, and with an empty variable, where it would encrypt', async () => {
    expect(await check({ ...usable, encryption: {} })).toMatchObject({
      exitCode: 2,
      problems: ['encryption: expected recipients, passphrase or identity, found none'],
    })
    expect(await check(usable, { DASHKEEP_RECIPIENTS: ' ' })).toMatchObject({
      exitCode: 2,
      problems: [
        'DASHKEEP_RECIPIENTS: set but empty, so that nothing would be encrypted: unset it, or name recipients',
      ],
    })
  })
})

describe('a variable beside a file', () => {
  const accounts = usable.accounts
  const listed = 'the configuration file lists accounts'
  it.each([
    [{ DASHKEEP_API_TOKEN: 'x' }, `DASHKEEP_API_TOKEN: ${listed}, and none has this token`],
    [{ DASHKEEP_API_TOKEN_FILE: 'TOKEN' }, `DASHKEEP_API_TOKEN_FILE: ${listed}, and none has`],
    [{ DASHKEEP_ACCOUNT_ID: '7' }, `DASHKEEP_ACCOUNT_ID: ${listed}, and none has the token`],
    [{ DASHKEEP_PING_URL: 'https://x' }, 'DASHKEEP_PING_URL: the configuration file lists'],
    [{ DASHKEEP_SLACK_URL: 'https://x' }, 'DASHKEEP_SLACK_URL: the configuration file lists'],
    [{ DASHKEEP_BASE_URL: 'https://eu.x' }, 'DASHKEEP_BASE_URL: every account'],
    [{ DASHKEEP_PATH_PREFIX: '/v2' }, 'DASHKEEP_PATH_PREFIX: every account'],
    [{ DASHKEEP_SHARD: '0/2', DASHKEEP_SHARDS: '2' }, 'DASHKEEP_SHARDS: DASHKEEP_SHARD is set too'],
  ])('is refused where it would be ignored: %j', async (env, problem) => {
    const token = join(folder, 'token')
    await writeFile(token, 'secret-token\n')
    const given = Object.entries({ JOB_COMPLETION_INDEX: '0', ...env })
    const file = {
      ...usable,
      accounts: accounts.map((one) => ({
        ...one,
        baseUrl: 'https://a.example.com',
        pathPrefix: '/v1',
      })),
      notifications: [{ kind: 'ping', url: { env: 'PING' } }],
    }
    const { exitCode, problems, stderr } = await check(
      file,
      Object.fromEntries(given.map(([key, text]) => [key, text === 'TOKEN' ? token : text])),
    )
    expect(exitCode).toBe(2)
    expect(problems).toEqual([expect.stringContaining(problem)])
    expect(stderr).not.toContain('secret-token')
  })

  it('applies where the file names it as a source', async () => {
    const file = {
      ...usable,
      accounts: [
        ...accounts,
        { name: 'main', token: { env: 'DASHKEEP_API_TOKEN' } },
        { name: 'own', token: { env: 'DASHKEEP_OWN_TOKEN' } },
      ],
      notifications: [{ kind: 'ping', url: { env: 'DASHKEEP_PING_URL' } }],
    }
    const env = {
      DASHKEEP_API_TOKEN: 'x',
      DASHKEEP_OWN_TOKEN: 'y',
      DASHKEEP_ACCOUNT_ID: '7',
      DASHKEEP_PING_URL: 'https://x',
    }
    const { exitCode, stdout, stderr } = await check(file, env, ['print'])
    expect([exitCode, stderr]).toEqual([0, ''])
    const management = { token: { env: 'DASHKEEP_API_TOKEN' } }
    const managed = await check(
      { ...usable, management },
      { DASHKEEP_API_TOKEN: 'x', DASHKEEP_ACCOUNT_ID: '7' },
      ['print'],
    )
    expect(parse(managed.stdout).management).toMatchObject({ ...management, accountId: 7 })
    expect(parse(stdout).accounts.map((one: { accountId?: number }) => one.accountId)).toEqual([
      undefined,
      undefined,
      7,
      undefined,
    ])
  })

  it('is refused when it is misspelt, with what was probably meant', async () => {
    const env = {
      DASHKEEP_STOER: 'file:///x',
      DASHKEEP_RECIPIENT: recipient,
      DASHKEEP_TOKEN: 'secret-token',
      DASHKEEP_TIMEZONE: 'UTC',
      DASHKEEP_STORE_FIEL: '/x',
      DASHKEEP_COLOUR: 'blue',
    }
    const { exitCode, problems, stderr } = await check(usable, env)
    expect(exitCode).toBe(2)
    expect(problems).toEqual([
      'DASHKEEP_STOER: unknown variable; did you mean DASHKEEP_STORE?',
      'DASHKEEP_RECIPIENT: unknown variable; did you mean DASHKEEP_RECIPIENTS?',
      'DASHKEEP_TOKEN: unknown variable; did you mean DASHKEEP_API_TOKEN?',
      'DASHKEEP_TIMEZONE: unknown variable; did you mean DASHKEEP_TIME_ZONE?',
      'DASHKEEP_STORE_FIEL: unknown variable; did you mean DASHKEEP_STORE_FILE?',
      'DASHKEEP_COLOUR: unknown variable',
    ])
    expect(stderr).not.toContain('secret-token')
  })

  it('is left alone when Kubernetes sets it for a Service, or tests for themselves', async () => {
    const services = Object.assign(
      {},
      ...['DASHKEEP', 'DASHKEEP_WORKER'].map((name) => ({
        [`${name}_SERVICE_HOST`]: '10.0.0.1',
        [`${name}_SERVICE_PORT`]: '9090',
        [`${name}_SERVICE_PORT_METRICS`]: '9090',
        [`${name}_PORT`]: 'tcp://10.0.0.1:9090',
        [`${name}_PORT_9090_TCP`]: 'tcp://10.0.0.1:9090',
        [`${name}_PORT_9090_TCP_PROTO`]: 'tcp',
        [`${name}_PORT_9090_TCP_PORT`]: '9090',
        [`${name}_PORT_9090_TCP_ADDR`]: '10.0.0.1',
      })),
    )
    const own = { DASHKEEP_TEST_SEED: '1', DASHKEEP_BENCH_S3_ENDPOINT: 'http://x' }
    expect(await check(usable, { ...services, ...own })).toMatchObject({ exitCode: 0, stderr: '' })
    const { problems } = await check(usable, { DASHKEEP_PORT: '9090' })
    expect(problems).toEqual([expect.stringContaining('DASHKEEP_PORT: unknown variable')])
  })
})

describe('the file of a variable', () => {
  it.each([
    ['is not there', 'none', 'DASHKEEP_STORE_FILE: FOLDER/none is not there'],
    ['is a folder', '', 'DASHKEEP_STORE_FILE: FOLDER is a folder'],
    ['is empty', 'empty', 'DASHKEEP_STORE_FILE: FOLDER/empty is empty'],
  ])('is named when it %s', async (_, name, problem) => {
    await writeFile(join(folder, 'empty'), ' \n')
    const { DASHKEEP_STORE: _store, ...env } = variables
    const given = { ...env, DASHKEEP_STORE_FILE: join(folder, name) }
    const { exitCode, problems } = await check(undefined, given)
    expect(exitCode).toBe(2)
    expect(problems.map((one) => one.replace(folder, 'FOLDER').replace('R/ ', 'R '))).toEqual([
      problem,
    ])
  })

  it('may end in a line break, hold a list by lines, and be no substitute for the file', async () => {
    const path = join(folder, 'value')
    await writeFile(path, 'file:///var/backups\n')
    const { DASHKEEP_STORE: _store, ...env } = variables
    const one = await check(undefined, { ...env, DASHKEEP_STORE_FILE: path })
    expect(one).toMatchObject({ exitCode: 0, stderr: '' })
    const recipients = [recipient, await identityToRecipient(await generateIdentity())]
    await writeFile(path, `${recipients.join('\n')}\n`)
    const print = await check(undefined, { ...variables, DASHKEEP_RECIPIENTS_FILE: path }, [
      'print',
    ])
    expect(parse(print.stdout).encryption).toEqual({ recipients })
    await writeFile(path, stringify(usable))
    const { exitCode, problems } = await check(undefined, { DASHKEEP_CONFIG_FILE: path })
    expect(exitCode).toBe(2)
    expect(problems).toEqual([
      `DASHKEEP_CONFIG_FILE: ${path} holds several lines instead of one value; did you mean DASHKEEP_CONFIG?`,
    ])
  })

  it('excludes the variable itself', async () => {
    const env = { ...variables, DASHKEEP_STORE_FILE: '/x' }
    const { problems } = await check(undefined, env)
    expect(problems).toEqual(['DASHKEEP_STORE and DASHKEEP_STORE_FILE are both set: unset one'])
  })
})

describe('a configuration with many problems', () => {
  it('names all of them, those between settings included', async () => {
    const file = {
      stroe: {},
      accounts: [
        { name: 'shop', token: { env: 'SHOP_TOKEN' } },
        { name: 'shop', token: 'secret-token', accountId: '12x' },
        { name: 'blog', token: { env: 'BLOG_TOKEN' }, include: ['sub-accounts'] },
      ],
      store: { url: 'ftp://x', lock: { mode: 'goverance', duration: '0d' } },
      types: ['sub-accounts', 'dashboard', 'dashboard'],
      compression: 'zip',
      encryption: { recipients: [recipient], passphrase: { env: 'PASSPHRASE' } },
      schedule: { timeZone: 'Europe/Berlim', pruneAfter: true },
      limits: { attempts: 0, accounts: '4' },
    }
    const { exitCode, problems, stderr } = await check(file)
    expect(exitCode).toBe(2)
    expect(problems.toSorted()).toEqual(
      [
        'stroe: unknown key; did you mean store?',
        'accounts.0.baseUrl: missing, and neither service.baseUrl nor DASHKEEP_BASE_URL is set',
        'accounts.1.baseUrl: missing, and neither service.baseUrl nor DASHKEEP_BASE_URL is set',
        'accounts.2.baseUrl: missing, and neither service.baseUrl nor DASHKEEP_BASE_URL is set',
        'accounts.1.name: "shop" comes twice',
        'accounts.1.token: expected env: NAME_OF_VARIABLE or file: /path, never the secret itself, found text that is not shown',
        'accounts.1.accountId: expected a number, found "12x"',
        'accounts.2.include: sub-accounts comes twice, also in types',
        'store.url: expected s3://bucket/prefix, file:///folder or a path such as ./backups, found "ftp://x"',
        'store.lock.mode: expected governance or compliance, found "goverance"; did you mean governance?',
        'store.lock.duration: expected a duration above 0, found "0d"',
        'types.2: "dashboard" comes twice',
        'compression: expected zstd, gzip or none, found "zip"; did you mean gzip?',
        'encryption: recipients and passphrase exclude each other',
        'schedule.cron: missing, and DASHKEEP_SCHEDULE is not set: a time zone alone (timeZone, DASHKEEP_TIME_ZONE) is no schedule',
        'schedule.timeZone: expected a time zone such as Europe/Berlin, found "Europe/Berlim"',
        'schedule.pruneAfter: needs retention, which says what to keep',
        'limits.attempts: expected at least 1, found 0',
        'limits.accounts: expected a number, found "4"',
      ].toSorted(),
    )
    expect(stderr).not.toContain('secret-token')
  })

  it('is reported alone when the file is missing or broken', async () => {
    const at = join(folder, 'dashkeep.yaml')
    const missing = await check(undefined, { DASHKEEP_CONFIG: join(folder, 'none.yaml') })
    expect(missing).toMatchObject({
      exitCode: 2,
      problems: [`${join(folder, 'none.yaml')} is not there`],
    })
    for (const [text, problem] of [
      ['accounts: [', 'line 1, column 12: the indentation is wrong, or a bracket is not closed'],
      ['accounts: a: b', 'line 1, column 11: two keys on one line'],
      ['store: {}\nstore: {}', 'line 2, column 1: the key appears twice'],
      ['store: !secret x', 'line 1, column 8: a tag such as !name is not known here'],
      ['a: "x', 'line 1, column 6: a quote or bracket is not closed'],
      ['\ta: 1', 'line 1, column 1: a tab indents; use spaces'],
      ['a: 1\n---\nb: 1', 'line 2, column 1: a second document begins'],
      ['a: *b', 'an alias such as *name has no anchor before it, or is used too often'],
      ['key\nother: 1', 'line 1, column 1: a key without a colon'],
      ['}', 'line 1, column 1: not valid YAML'],
    ]) {
      const { exitCode, problems } = await check(text)
      expect(exitCode).toBe(2)
      expect(problems, text).toEqual([`${at}: ${problem}`])
    }
  })
})

describe('config check', () => {
  const longest = 'at most 2147483647 ms (24 days), the longest that a timer can wait'
  it.each<[object, string]>([
    [{ worker: { listen: '0.0.0.0:99999' } }, 'worker.listen: expected a port up to 65535'],
    [{ worker: { grace: '30d' } }, `worker.grace: expected ${longest}, found "30d"`],
    [{ schedule: { cron: '@daily', deadline: '4w' } }, `schedule.deadline: expected ${longest}`],
    [{ schedule: { cron: '@daily', jitter: '25d' } }, `schedule.jitter: expected ${longest}`],
    [
      { schedule: { cron: '@daily', deadline: '0s' } },
      'schedule.deadline: expected a duration above 0',
    ],
    [{ limits: { connectTimeoutMs: 3e9 } }, `limits.connectTimeoutMs: expected ${longest}`],
    [{ limits: { headersTimeoutMs: 3e9 } }, `limits.headersTimeoutMs: expected ${longest}`],
    [{ limits: { bodyTimeoutMs: 3e9 } }, `limits.bodyTimeoutMs: expected ${longest}`],
    [{ limits: { retryBaseMs: 3e9 } }, `limits.retryBaseMs: expected ${longest}`],
    [{ limits: { maxHitBytes: 1e30 } }, 'limits.maxHitBytes: expected at most 9007199254740991'],
    [{ guard: { maxFall: 2 } }, 'guard.maxFall: expected at most 1, found 2'],
    [{ guard: { window: '99999w' } }, 'guard.window: expected at most 36500d, found "99999w"'],
    [{ retention: { within: '9999999999w' } }, 'retention.within: expected at most 36500d'],
    [
      { store: { url: 's3://x', lock: { mode: 'governance', duration: '36501d' } } },
      'store.lock.duration: expected at most 36500d',
    ],
    [
      { encryption: { recipients: ['age1qqqq'] } },
      'encryption.recipients.0: expected an age recipient as age-keygen prints it, found "age1qqqq"',
    ],
    [
      { encryption: { recipients: [`${recipient.slice(0, -1)}b`] } },
      'encryption.recipients.0: expected an age recipient as age-keygen prints it, found "age1',
    ],
    [
      { accounts: [{ name: 'a', baseUrl: 'http://x', token: { env: 'A B' } }] },
      'accounts.0.token.env: expected the name of a variable such as API_TOKEN',
    ],
    [{ accounts: { name: 'a' } }, 'accounts: expected a list, found members'],
    [{ notifications: 'x' }, 'notifications: expected a list, found text that is not shown'],
    [{ types: ['dashboards'] }, 'types.0: not a known type, found "dashboards"; did you mean dash'],
    [{ schedule: { cron: '0 3 31 2 *' } }, 'schedule.cron: never due, found "0 3 31 2 *"'],
    [{ schedule: { cron: '0 25 * * *' } }, 'schedule.cron: expected a cron expression'],
    [{ schedule: { cron: '0 3 29 2 1#1' } }, 'schedule.cron: never due, found "0 3 29 2 1#1"'],
    [{ service: { baseUrl: 'api.example.com' } }, 'service.baseUrl: expected an http:// or'],
    [{ logLevel: 'loud' }, 'logLevel: expected debug, info, warn, error or silent, found "loud"'],
  ])('finds %j', async (part, problem) => {
    const { exitCode, problems } = await check({ ...usable, ...part })
    expect(exitCode).toBe(2)
    expect(problems).toEqual([expect.stringContaining(problem)])
  })

  it('finds a time zone without a schedule', async () => {
    const { problems } = await check(usable, { DASHKEEP_TIME_ZONE: 'Europe/Berlin' })
    expect(problems).toEqual([
      'schedule.cron: missing, and DASHKEEP_SCHEDULE is not set: a time zone alone (timeZone, DASHKEEP_TIME_ZONE) is no schedule',
    ])
  })

  it('never shows what may be a secret', async () => {
    const token = '6d6315f7-2b14-4b2f-b2a5-7f2a3b1c9d01'
    for (const [file, env] of [
      [{ ...usable, encryption: 'correct horse' }, {}],
      [{ ...usable, encryption: { recipients: [identity] } }, {}],
      [{ ...usable, encryption: { passphrase: 'correct horse' } }, {}],
      [{ ...usable, encryption: { identity } }, {}],
      [{ ...usable, accounts: [{ name: 'x', token: 'correct horse' }] }, {}],
      [{ ...usable, accounts: [{ name: 'x', token: { env: 'correct horse' } }] }, {}],
      [{ ...usable, accounts: 'correct horse' }, {}],
      [{ ...usable, notifications: [{ kind: 'slack', url: 'https://x/correct horse' }] }, {}],
      [{ ...usable, service: { baseUrl: 'https://me:correct horse@x' } }, {}],
      [usable, { DASHKEEP_RECIPIENTS: identity }],
      [usable, { DASHKEEP_BASE_URL: token }],
      [usable, { DASHKEEP_STORE: 's3://key:correct horse@bucket' }],
      [usable, { DASHKEEP_ACCOUNT_ID: token }],
      [usable, { DASHKEEP_LOG_LEVEL: token }],
      [`token: "correct horse\n`, {}],
    ] as const) {
      const { exitCode, stdout, stderr } = await check(file, env)
      expect(exitCode).toBe(2)
      expect(stdout + stderr).not.toMatch(/correct|horse|AGE-SECRET-KEY|6d6315f7/)
    }
  })

  it('says what a private key among the recipients is', async () => {
    const { problems } = await check(usable, { DASHKEEP_RECIPIENTS: identity })
    expect(problems).toEqual([
      'DASHKEEP_RECIPIENTS: expected an age recipient, and this is a private key; age-keygen -y prints its recipient, found text that is not shown',
    ])
  })

  it('warns of what is allowed and often a mistake', async () => {
    const file = {
      ...usable,
      types: ['dashboard', 'canvas'],
      schedule: { cron: '0 3 1 * 1' },
      encryption: { identity: { env: 'IDENTITY' } },
    }
    const { exitCode, stdout } = await check(file, {}, ['check', '--json'])
    expect(exitCode).toBe(0)
    const [{ warnings } = {}] = jsonLines(stdout)
    expect(warnings).toEqual([
      'schedule.cron: 0 3 1 * 1 is due only when day of month and day of week both match; cron and CronJobs run when either does',
      'types: canvas is not a known type; if the service does not have it, its export is empty or fails',
      'encryption.identity: it only decrypts; without recipients or a passphrase, new files are not encrypted',
    ])
    expect((await check(file)).stdout).toMatch(/^warning schedule.cron: .*\n(warning .*\n){2}ok /)
    for (const cron of ['0 3 1 * *', '0 3 * * 1', '0 3 */2 * 1', '@weekly']) {
      const calm = await check({ ...usable, schedule: { cron } }, {}, ['check', '--json'])
      expect(jsonLines(calm.stdout)).toMatchObject([{ valid: true, warnings: [] }])
    }
  })
})

describe('the worker', () => {
  it('logs the warnings at its start', async () => {
    await using trial = await startTrial()
    const env = { ...trial.env, DASHKEEP_SCHEDULE: '0 3 1 * 1', DASHKEEP_LISTEN: 'false' }
    const signal = AbortSignal.abort(new InterruptedError('SIGTERM'))
    const { stderr } = await runDashkeep(['worker'], { env, signal })
    expect(jsonLines(stderr)[0]).toMatchObject({
      level: 'warn',
      msg: expect.stringMatching(/^schedule.cron: 0 3 1 \* 1 is due only when day of month and/),
    })
  })
})

describe('a plain path as the store', () => {
  const urlOf = (path: string) => pathToFileURL(path).href
  const storeOf = async (file: object | undefined, env: Environment, args: string[] = []) => {
    const { stdout, stderr } = await check(file, env, ['print', ...args])
    expect(stderr).toBe('')
    return parse(stdout).store.url
  }

  it('is a folder: of the flag and the variable from the working directory', async () => {
    const { DASHKEEP_STORE: _store, ...env } = variables
    for (const path of ['./backups', '../backups', '.', '/var/my backups', '/a%2F?b#c']) {
      const expected = urlOf(path === '/a%2F?b#c' ? path : join(process.cwd(), path))
      const absolute = path.startsWith('/') ? urlOf(path) : expected
      expect(await storeOf(undefined, env, ['--store', path])).toBe(absolute)
      expect(await storeOf(undefined, { ...env, DASHKEEP_STORE: path })).toBe(absolute)
    }
    expect(await storeOf(undefined, env, ['--store', '~/x'])).toBe(urlOf(join(homedir(), 'x')))
  })

  it('begins with ~/ for the home folder, as every path of a variable, flag or file may', async () => {
    const env = { ...variables, DASHKEEP_METRICS_TEXTFILE: '~/x.prom', AWS_CA_BUNDLE: '~/x.pem' }
    const { stdout } = await check(undefined, env, ['print'])
    expect(parse(stdout)).toMatchObject({
      metrics: { textfile: join(homedir(), 'x.prom') },
      store: { caBundle: join(homedir(), 'x.pem') },
    })
    const none = join(homedir(), 'no-such-file')
    const flag = await check(undefined, variables, ['check', '--config', '~/no-such-file'])
    expect(flag.problems).toEqual([`${none} is not there`])
    const file = await check(undefined, { ...variables, DASHKEEP_TYPES_FILE: '~/no-such-file' })
    expect(file.problems).toEqual([`DASHKEEP_TYPES_FILE: ${none} is not there`])
  })

  it('is, like every path in a file, relative to the folder of the file', async () => {
    await writeFile(join(folder, 'token'), shopToken)
    const file = {
      ...usable,
      accounts: [{ name: 'shop', token: { file: 'token' } }],
      store: { url: './backups' },
      metrics: { textfile: 'metrics/dashkeep.prom' },
    }
    const { stdout } = await check(file, {}, ['print'])
    expect(parse(stdout)).toMatchObject({
      accounts: [{ token: { file: join(folder, 'token') } }],
      store: { url: urlOf(join(folder, 'backups')) },
      metrics: { textfile: join(folder, 'metrics/dashkeep.prom') },
    })
  })

  it('holds the archive', async () => {
    await using trial = await startTrial()
    await mkdir(join(trial.folder, 'plain store'))
    const store = relative(process.cwd(), join(trial.folder, 'plain store'))
    expect(store).toMatch(/^\.\.\//)
    const { exitCode } = await trial.run(['backup', '--store', store])
    expect(exitCode).toBe(0)
    const listed = await trial.run(['list', '--json', '--store', store])
    expect(jsonLines(listed.stdout)).toHaveLength(1)
  })

  it.each(['backups', 'backups/daily', 'file:backups', 'file://./backups', '~', '/', 's3:/b'])(
    'is not %s',
    async (store) => {
      const { exitCode, problems } = await check(undefined, { ...variables, DASHKEEP_STORE: store })
      expect(exitCode).toBe(2)
      expect(problems).toEqual([
        `DASHKEEP_STORE: expected s3://bucket/prefix, file:///folder or a path such as ./backups, found "${store}"`,
      ])
    },
  )
})
