import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeManifest, encodeManifest } from '../../src/archive/manifest.ts'
import type { Environment } from '../../src/config/config.ts'
import { leaveOut } from '../left-out.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shop, shopId, shopToken, startTrial, type Trial } from './trial.ts'

/** A trial with one good snapshot, and a check that nothing of it was touched. */
async function startWithSnapshot(): Promise<{ trial: Trial; expectUntouched(): Promise<void> }> {
  const trial = await startTrial()
  expect((await trial.run(['backup'])).exitCode).toBe(0)
  const before = await trial.files()
  async function expectUntouched(): Promise<void> {
    expect(await trial.files()).toEqual(before)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  }
  return { trial, expectUntouched }
}

/** The one failed account of a backup: its error and hint. */
async function failedBackup(trial: Trial, changes: Environment) {
  const { exitCode, stdout, stderr } = await trial.run(['backup', '--json'], changes)
  const [account, ...others] = accountsOf(stdout)
  expect(others).toEqual([])
  expect(jsonLines(stderr).filter(({ msg }) => msg === 'backup failed')).toHaveLength(1)
  return { exitCode, error: account?.error, hint: account?.hint }
}

/** An export with so many bytes of hits, and other members before or behind them. */
function exportWith(members: object, { bytes, last }: { bytes: number; last: boolean }): string {
  const text = 'x'.repeat(1000)
  const hits = Array.from({ length: Math.ceil(bytes / 1000) }, (_, place) => ({
    _id: `dashboard:${place}`,
    _source: { type: 'dashboard', dashboard: { title: `Dashboard ${place}`, text } },
  }))
  const document = { kibanaVersion: '7.10.2', hits }
  return JSON.stringify(last ? { ...document, ...members } : { ...members, ...document })
}

const placesOfErrors = [
  { bytes: 2000, last: true },
  { bytes: 70_000, last: false },
  { bytes: 70_000, last: true },
  { bytes: 300_000, last: true },
]

describe('an export that contains hits and an error', () => {
  it.each([
    [{ code: 403, message: 'Insufficient privileges' }, /refuses the token .*code 403/, 1, 2],
    [{ code: '500' }, /not available .*code 500/, 3],
    [{ code: -1 }, /\(status 200, code -1\)/, 1],
    [{ errorCode: 'EXPORT/INCOMPLETE' }, /EXPORT\/INCOMPLETE/, 1],
    [{ message: 'Too many objects' }, /message "Too many objects"/, 1],
    [{ error: { reason: 'all shards failed' }, status: 503 }, /all shards failed/, 3],
    [{ error: `for ${shopToken}` }, /error "for \[token\]"/, 1],
    [{ _shards: { total: 5, failed: 2 } }, /2 of 5 shards failed/, 3],
    [{ _shards: { failures: [{}] }, message: 'partial' }, /1 shards failed/, 3],
    [{ timed_out: true, took: 30_000 }, /it timed out/, 3],
  ])(
    'fails the backup at any body size, before or behind the hits: %j',
    async (said, named, attempts, code = 1) => {
      const { trial, expectUntouched } = await startWithSnapshot()
      await using _trial = trial
      for (const place of placesOfErrors) {
        trial.sandbox.clearRequests()
        trial.sandbox.faults.add({ ...faulty, body: exportWith(said, place), times: attempts })
        const failed = await failedBackup(trial, {})
        expect(failed.exitCode).toBe(code)
        expect(failed.error).toMatch(/^Cannot export the saved objects of type dashboard: /)
        expect(failed.error).toMatch(named)
        expect(failed.hint).toBeTruthy()
        const exports = trial.sandbox.requests().filter(({ body }) => body.includes('dashboard'))
        expect(exports).toHaveLength(attempts)
      }
      await expectUntouched()
    },
  )

  it('is requested again, and the backup succeeds when the next answer is complete', async () => {
    await using trial = await startTrial()
    const place = { bytes: 70_000, last: true }
    trial.sandbox.faults.add({ ...faulty, body: exportWith({ timed_out: true }, place), times: 2 })
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    expect(await trial.content('dashboard')).toEqual(
      Buffer.from(trial.sandbox.objects(shopId, 'dashboard')),
    )
  })

  it('is accepted when its members report no error', async () => {
    await using trial = await startTrial()
    const harmless = {
      ...{ code: 200, status: 'complete', errorCode: null, error: false, errors: [] },
      ...{ message: '', total: 3, took: 12, timed_out: false, success: true },
      ...{ _shards: { total: 5, successful: 5, skipped: 0, failed: 0 } },
    }
    for (const members of [harmless, { code: 0, message: 'OK', error: null, errorCode: '0' }]) {
      for (const place of placesOfErrors) {
        const body = exportWith(members, place)
        trial.sandbox.faults.add({ ...faulty, body, times: 1 })
        const backup = await trial.run(['backup', '--full', '--accept-fall'])
        expect(backup.exitCode, backup.stdout).toBe(0)
        expect(
          (await trial.content('dashboard', (await trial.snapshots()).at(-1))).toString(),
        ).toBe(body)
      }
    }
  })

  it('makes diff, restore and whoami fail', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const body = exportWith({ message: 'Too many objects' }, { bytes: 70_000, last: true })
    trial.sandbox.faults.add({ ...faulty, body })
    for (const args of [
      ['diff', 'latest'],
      ['restore', '--to-service', '--yes'],
    ]) {
      const { exitCode, stderr } = await trial.run(args)
      expect(exitCode).toBe(1)
      expect(stderr).toContain('message "Too many objects"')
    }
    const account = { accountId: shopId, accountName: 'Shop', error: 'stale' }
    trial.sandbox.faults.add({ operation: 'whoami', body: JSON.stringify(account) })
    const whoami = await trial.run(['whoami'])
    expect(whoami.exitCode).toBe(1)
    expect(whoami.stdout + whoami.stderr).toContain('error "stale"')
    trial.sandbox.faults.clear()
    await expectUntouched()
  })

  it('is refused by a restore from a folder', async () => {
    await using trial = await startTrial({ extraOperations: true })
    const folder = join(trial.folder, 'documents')
    await mkdir(folder)
    for (const place of placesOfErrors) {
      const document = exportWith({ _shards: { total: 5, failed: 2 } }, place)
      await writeFile(join(folder, 'dashboard.json'), document)
      const { exitCode, stderr } = await trial.run([
        'restore',
        '--from',
        folder,
        '--to-service',
        '--yes',
      ])
      expect(exitCode).toBe(2)
      expect(stderr).toContain('dashboard.json: it reports an error (2 of 5 shards failed)')
    }
    expect(trial.sandbox.requests()).toEqual([])
  })
})

const faulty = { operation: 'export', type: 'dashboard' } as const

describe('a wrong token or address', () => {
  it('is reported when the service refuses the token', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const failed = await failedBackup(trial, { DASHKEEP_API_TOKEN: 'unknown-token' })
    expect(failed.exitCode).toBe(2)
    expect(failed.error).toMatch(/^Cannot find the account of the token: the service refuses/)
    expect(failed.hint).toMatch(/valid API token/)
    await expectUntouched()
  })

  it('is reported when the token belongs to another account', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const failed = await failedBackup(trial, { DASHKEEP_ACCOUNT_ID: '4711' })
    expect(failed).toEqual({
      exitCode: 2,
      error: `Cannot back up account 4711: the token belongs to account ${shopId} (Shop)`,
      hint: 'use a token of the expected account, or correct the expected account id',
    })
    await expectUntouched()
  })

  it('is reported when the token is for another region, with status 403 or 200', async () => {
    for (const refusalStatus of [403, 200] as const) {
      await using trial = await startTrial({
        refusalStatus,
        region: 'eu-central-1',
        accounts: [shop({ region: 'us-east-1' })],
      })
      const failed = await failedBackup(trial, {})
      expect(failed.exitCode).toBe(2)
      expect(failed.error).toMatch(
        /the token's account is in region us-east-1, the base address serves region eu-central-1/,
      )
      expect(failed.hint).toMatch(/^use the base address of region us-east-1/)
      expect((await trial.files()).size).toBe(0)
    }
  })

  it('is reported when the path prefix is wrong', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const failed = await failedBackup(trial, { DASHKEEP_PATH_PREFIX: '/v1' })
    expect(failed.exitCode).toBe(1)
    expect(failed.error).toMatch(/3 of 3 exports failed: .* the service has no such endpoint/)
    expect(failed.hint).toMatch(/path prefix/)
    await expectUntouched()
  })

  it('is reported when the address returns a web page', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const server = createServer((_, response) => response.end('<html>Welcome</html>'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const failed = await failedBackup(trial, { DASHKEEP_BASE_URL: `http://127.0.0.1:${port}` })
    server.close()
    expect(failed.exitCode).toBe(1)
    expect(failed.error).toMatch(/the answer is not JSON but begins "<html>Welcome/)
    expect(failed.hint).toMatch(/not a web page or a proxy/)
    await expectUntouched()
  })

  it('is reported when nothing listens at the address', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const gone = await startTrial()
    await gone[Symbol.asyncDispose]()
    const failed = await failedBackup(trial, { DASHKEEP_BASE_URL: gone.sandbox.url })
    expect(failed.exitCode).toBe(1)
    expect(failed.error).toMatch(/http:\S+ cannot be reached \(ECONNREFUSED\)/)
    expect(failed.hint).toMatch(/base address/)
    await expectUntouched()
  })

  it.each(['two words', 'line\nbreak', 'tökén'])(
    'is reported without a request when the token has invalid characters: %j',
    async (token) => {
      await using trial = await startTrial()
      const failed = await failedBackup(trial, { DASHKEEP_API_TOKEN: token })
      expect(failed.exitCode).toBe(2)
      expect(failed.error).toMatch(/^Cannot use the API token: /)
      expect(failed.error + String(failed.hint)).not.toContain(token)
      expect(trial.sandbox.requests()).toEqual([])
    },
  )
})

describe('an invalid configuration', () => {
  const cases: [what: string, env: Environment, file: string | object, problems: string[]][] = [
    [
      'nothing at all',
      { DASHKEEP_CONFIG: undefined, DASHKEEP_API_TOKEN: undefined, DASHKEEP_STORE: undefined },
      {},
      ['DASHKEEP_API_TOKEN: not set', 'DASHKEEP_STORE: not set'],
    ],
    ['no address', { DASHKEEP_BASE_URL: undefined }, {}, ['accounts.0.baseUrl: missing']],
    [
      'unknown keys',
      {},
      { stroe: {}, store: { ur: 'x' }, limits: { attempt: 1 } },
      ['stroe: unknown key', 'store.ur: unknown key', 'limits.attempt: unknown key'],
    ],
    ['a bad cron', { DASHKEEP_SCHEDULE: '61 3 * *' }, {}, ['DASHKEEP_SCHEDULE: expected a cron']],
    [
      'a bad cron in the file',
      {},
      { schedule: { cron: 'daily' } },
      ['schedule.cron: expected a cron'],
    ],
    [
      'a bad address',
      { DASHKEEP_BASE_URL: 'api.example.com' },
      {},
      ['DASHKEEP_BASE_URL: expected an http'],
    ],
    ['a bad store', { DASHKEEP_STORE: 'backups' }, {}, ['DASHKEEP_STORE: expected s3://']],
    [
      'a bad account id',
      { DASHKEEP_ACCOUNT_ID: '12x' },
      {},
      ['DASHKEEP_ACCOUNT_ID: expected an integer, found "12x"'],
    ],
    ['a bad log level', { DASHKEEP_LOG_LEVEL: 'loud' }, {}, ['DASHKEEP_LOG_LEVEL: ']],
    [
      'a type twice',
      { DASHKEEP_TYPES: 'search,search' },
      {},
      ['DASHKEEP_TYPES: "search" comes twice'],
    ],
    [
      'a _FILE that is not there',
      { DASHKEEP_API_TOKEN: undefined, DASHKEEP_API_TOKEN_FILE: '/no/such/token' },
      {},
      ['DASHKEEP_API_TOKEN_FILE: /no/such/token is not there'],
    ],
    [
      'a variable and its _FILE together',
      { DASHKEEP_API_TOKEN_FILE: '/no/such/token' },
      {},
      ['DASHKEEP_API_TOKEN and DASHKEEP_API_TOKEN_FILE are both set: unset one'],
    ],
    ['a file that is no YAML', {}, 'accounts: [', ['limits.yaml: ']],
    ['a file that is a list', {}, '- a\n', ['limits.yaml: expected members such as accounts']],
    ['an empty file', {}, '', ['limits.yaml: expected members such as accounts']],
    [
      'a file that is not there',
      { DASHKEEP_CONFIG: '/no/such.yaml' },
      {},
      ['/no/such.yaml is not there'],
    ],
  ]

  it.each(cases)('ends in one error with every problem: %s', async (_what, env, file, problems) => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    const path = await trial.write('limits.yaml', file)
    const { exitCode, stdout, stderr } = await trial.run(['backup'], {
      DASHKEEP_CONFIG: path,
      ...env,
    })
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^error: Cannot use the configuration.*:\n {2}- /)
    expect(stderr.match(/^error: /gm)).toHaveLength(1)
    expect(stderr).toMatch(/\nhint: .+\n$/)
    const named = [...stderr.matchAll(/^ {2}- (.*)$/gm)].map(([, problem]) => problem)
    expect(named).toHaveLength(problems.length)
    for (const problem of problems) expect(named.join('\n')).toContain(problem)
    await trial.write('limits.yaml', { limits: {} })
    await expectUntouched()
  })

  it('ends in an error with the name of the account when its token file is missing', async () => {
    await using trial = await startTrial()
    const config = await trial.write('one.yaml', {
      accounts: [{ name: 'shop', token: { file: '/no/such/token' } }],
    })
    const env = { DASHKEEP_CONFIG: config, DASHKEEP_API_TOKEN: undefined }
    const { exitCode, stdout } = await trial.run(['backup'], env)
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(
      /failed shop: Cannot read the token: \/no\/such\/token is not there\n {2}hint: set it, or /,
    )
  })
})

describe('a folder that cannot hold the archive', () => {
  it('is reported when the user may not write to it', async () => {
    const { trial, expectUntouched } = await startWithSnapshot()
    await using _trial = trial
    trial.sandbox.setObjects(shopId, 'search', [])
    await chmod(trial.archive, 0o500)
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      execFileSync('chown', ['-R', 'nobody', trial.folder])
      process.seteuid?.('nobody')
    }
    const failed = await failedBackup(trial, {}).finally(() => isRoot && process.seteuid?.(0))
    await chmod(trial.archive, 0o700)
    expect(failed.exitCode).toBe(2)
    expect(failed.error).toMatch(/permission denied/)
    await expectUntouched()
  })

  it.each(['backup', 'list', 'show', 'verify'])(
    'is reported by `%s` when its path is a file',
    async (verb) => {
      await using trial = await startTrial()
      await trial.write('archive', 'no folder')
      const { exitCode, stdout, stderr } = await trial.run([verb])
      expect(exitCode).toBe(2)
      expect(stdout + stderr).toMatch(/a file is where a folder is needed\n *hint: choose another/)
    },
  )

  it('is reported when its file system is read-only', async ({ skip }) => {
    await using trial = await startTrial()
    if (!mountTmpfs(trial.archive, '1m')) return skipMount(skip, 'a read-only file system')
    try {
      expect((await trial.run(['backup'])).exitCode).toBe(0)
      const before = await trial.files()
      execFileSync('mount', ['-o', 'remount,ro', trial.archive])
      const failed = await failedBackup(trial, {})
      expect(failed.exitCode).toBe(2)
      expect(failed.error).toMatch(
        /^Cannot back up account 100001: 3 of 3 .*: the file system is read-only$/,
      )
      expect(failed.hint).toMatch(/^mount it writable/)
      expect(await trial.files()).toEqual(before)
      expect((await trial.run(['verify'])).exitCode).toBe(0)
    } finally {
      execFileSync('umount', [trial.archive])
    }
  })

  it('is reported when the disk is full, and earlier snapshots stay undamaged', async ({
    skip,
  }) => {
    await using trial = await startTrial()
    if (!mountTmpfs(trial.archive, '256k')) return skipMount(skip, 'a full disk')
    try {
      expect((await trial.run(['backup'])).exitCode).toBe(0)
      const before = await trial.files()
      const hits = Array.from({ length: 2000 }, (_, id) => ({
        _id: `search:${id}`,
        _source: { type: 'search', search: { title: randomBytes(200).toString('base64') } },
      }))
      trial.sandbox.setObjects(shopId, 'search', hits)
      const failed = await failedBackup(trial, {})
      expect(failed.exitCode).toBe(1)
      expect(failed.error).toMatch(/: no space is left$/)
      expect(failed.hint).toMatch(/stored snapshots are undamaged/)
      expect(await trial.files()).toEqual(before)
      expect((await trial.run(['verify'])).exitCode).toBe(0)
    } finally {
      execFileSync('umount', [trial.archive])
    }
  })
})

/** Mounts an empty file system of a few bytes. Returns false where that is not allowed. */
function mountTmpfs(folder: string, size: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    mkdirSync(folder)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}

function skipMount(skip: () => never, what: string): never {
  leaveOut(what, 'by testing as root on Linux, with the right to mount')
  return skip()
}

describe('an archive with an unreadable manifest', () => {
  type Case = [what: string, spoil: (text: string) => string, problem: RegExp, exitCode?: number]
  const manifests: Case[] = [
    ['no JSON', (text) => text.slice(0, 200), /Cannot read the manifest \S+: it is not JSON/],
    [
      'a newer format',
      (text) => text.replace('"formatVersion": 1', '"formatVersion": 2'),
      /Cannot read the manifest \S+: it has format 2, this dashkeep reads up to 1/,
      1,
    ],
    [
      'a member that does not fit',
      (text) => text.replace(/"objects": \d+/, '"objects": "many"'),
      /Cannot read the manifest \S+: exports\.0\.objects is invalid in format 1/,
    ],
    ['nothing in it', () => '', /Cannot read the manifest \S+: it is not JSON/],
    [
      'a member that somebody changed',
      (text) => text.replace('"name": "', '"name": "x'),
      /Cannot read the manifest \S+: its bytes do not match the SHA-256 at its end/,
    ],
    ['the name of another snapshot', renamed, /it is the manifest of snapshot 20200101/],
  ]

  function renamed(text: string): string {
    const manifest = decodeManifest(Buffer.from(text), 'it')
    const snapshot = manifest.snapshot.replace(/^\d{8}/, '20200101')
    return String(encodeManifest({ ...manifest, snapshot }))
  }

  it.each(manifests)(
    'ends in one error and stays unchanged: %s',
    async (_what, spoil, problem, exitCode = 5) => {
      await using trial = await startTrial()
      await trial.run(['backup'])
      const [snapshot] = await trial.snapshots()
      const key = `${shopId}/${snapshot}/manifest.json`
      const good = (await trial.files()).get(key)
      await trial.write(`archive/${key}`, spoil(String(good)))
      const before = await trial.files()

      const show = await trial.run(['show'])
      expect(show.exitCode).toBe(exitCode)
      expect(show.stdout).toBe('')
      expect(show.stderr).toMatch(problem)
      expect(show.stderr).toMatch(/\nhint: .+\n$/)
      expect((await trial.run(['list'])).stdout).toContain(snapshot)
      const verify = await trial.run(['verify'])
      expect(verify.exitCode).toBe(5)
      expect(verify.stdout).toMatch(problem)
      expect(await trial.files()).toEqual(before)

      const backup = await trial.run(['backup', '--json'])
      expect(backup.exitCode).toBe(3)
      const [account] = accountsOf(backup.stdout)
      expect(account).toMatchObject({ result: 'suspect' })
      expect(String(account?.warnings)).toMatch(problem)
      const after = await trial.files()
      for (const [name, bytes] of before) expect(after.get(name)).toEqual(bytes)
      expect((await trial.run(['verify', String(account?.snapshot)])).exitCode).toBe(0)
    },
  )
})
