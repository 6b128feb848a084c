import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { jsonLines } from './run-dashkeep.ts'
import { program, spawnProcess } from './spawn-dashkeep.ts'
import { accountsFrom, shopId, startTrial, type Trial } from './trial.ts'

const day = (number: number) => new Date(Date.UTC(2026, 10, number, 3))
const now = day(20)

/** A dashboard in the form of the specification. */
function dashboard(title: string, panels: readonly object[]): object {
  const object = { title, hits: 0, panelsJSON: JSON.stringify(panels) }
  return {
    _index: '.kibana',
    _type: '_doc',
    _id: 'dashboard:orders',
    _score: 1,
    _source: { type: 'dashboard', dashboard: object },
  }
}

const panel = (panelIndex: string, x: number, title: string) => ({
  panelIndex,
  title,
  gridData: { x, y: 0, w: 24, h: 15, i: panelIndex },
})

const before = dashboard('Orders', [panel('1', 0, 'By hour'), panel('2', 24, 'By country')])
const after = dashboard('Orders \u001b[31m(new)', [
  panel('3', 0, 'Errors'),
  panel('2', 0, 'By country'),
])

/** Four days of an account: a dashboard is there, changed with much else, gone, and back. */
async function startWithHistory(env: Record<string, string> = {}): Promise<Trial> {
  const trial = await startTrial()
  const others = sampleObjects()
  const states: [object[], object[]][] = [
    [[before, ...others.dashboard], others.search],
    [[after, ...others.dashboard], others.search.slice(1)],
    [others.dashboard, others.search.slice(1)],
    [[after, ...others.dashboard], others.search.slice(1)],
  ]
  for (const [at, [dashboards, searches]] of states.entries()) {
    trial.sandbox.setObjects(shopId, 'dashboard', dashboards)
    trial.sandbox.setObjects(shopId, 'search', searches)
    const { exitCode, stdout } = await trial.runAt(day(at + 1), ['backup', '--accept-fall'], env)
    expect(exitCode, stdout).toBe(0)
  }
  return trial
}

describe('diff', () => {
  it('lists a changed title, and added, removed and moved panels', async () => {
    await using trial = await startWithHistory()
    const { exitCode, stdout } = await trial.runAt(now, ['diff', '2026-11-01', '2026-11-02'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('search  1 removed, ')
    const lines = stdout.split('\n')
    const from = lines.findIndex((line) => line.includes('~ dashboard:orders'))
    expect(lines.slice(from, from + 5)).toEqual([
      '  ~ dashboard:orders  Orders \ufffd[31m(new)',
      '      ~ title: "Orders" → "Orders \\u001b[31m(new)"',
      '      - panelsJSON › panel 1 (By hour)',
      '      + panelsJSON › panel 3 (Errors)',
      '      ↔ panelsJSON › panel 2 (By country) moved from column 24, row 0 to column 0, row 0',
    ])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })

  it('prints a JSON Patch of the expanded object with --json', async () => {
    await using trial = await startWithHistory()
    const run = await trial.runAt(now, ['diff', 'latest~3', 'latest~2', '--json'])
    const [{ accountId, types }] = jsonLines(run.stdout) as [{ accountId: number; types: object[] }]
    expect(accountId).toBe(shopId)
    expect(types).toMatchObject([
      { type: 'search', counts: { removed: 1, changed: 0 }, removed: [{ id: expect.any(String) }] },
      { type: 'visualization', counts: { added: 0, removed: 0, changed: 0, touched: 0 } },
      { type: 'dashboard', changed: [{ id: 'dashboard:orders' }] },
    ])
    const [{ patch }] = (types[2] as { changed: [{ patch: object[] }] }).changed
    expect(patch).toEqual([
      expect.objectContaining({ op: 'replace', path: '/_source/dashboard/title' }),
      { op: 'remove', path: '/_source/dashboard/panelsJSON/0' },
      { op: 'add', path: '/_source/dashboard/panelsJSON/0', value: panel('3', 0, 'Errors') },
      { op: 'replace', path: '/_source/dashboard/panelsJSON/1/gridData/x', value: 0 },
    ])
  })

  it('prints numbers with --stat, and compares only one type or one object', async () => {
    await using trial = await startWithHistory()
    const stat = await trial.runAt(now, ['diff', 'latest~1', 'latest', '--stat'])
    expect(stat.stdout).toMatch(/dashboard +1 +0 +0 +0 +\d/)
    const only = await trial.runAt(now, ['diff', 'latest~1', 'latest', '-t', 'search', '--json'])
    expect(jsonLines(only.stdout)).toMatchObject([{ types: [{ type: 'search', added: [] }] }])
    const one = ['diff', 'latest~3', 'latest', '--object', 'orders', '--json']
    expect(jsonLines((await trial.runAt(now, one)).stdout)).toMatchObject([
      { types: [{ type: 'dashboard', removed: [], changed: [{ id: 'dashboard:orders' }] }] },
    ])
  })

  it('compares with the service and changes nothing in the archive', async () => {
    await using trial = await startWithHistory()
    trial.sandbox.setObjects(shopId, 'dashboard', [before])
    const files = [...(await trial.files()).keys()]
    const { exitCode, stdout } = await trial.runAt(now, ['diff', 'latest', '--json'])
    expect(exitCode).toBe(0)
    expect(jsonLines(stdout)).toMatchObject([
      {
        after: { service: trial.sandbox.url },
        types: [
          {},
          {},
          { type: 'dashboard', changed: [{ id: 'dashboard:orders', title: 'Orders' }] },
        ],
      },
    ])
    expect([...(await trial.files()).keys()]).toEqual(files)
  })

  it('lists objects of which only the time of update has changed as touched', async () => {
    await using trial = await startTrial()
    await trial.runAt(day(1), ['backup'])
    const [first, ...others] = sampleObjects().dashboard
    const touched = { ...first, _source: { ...first?._source, updated_at: 1_800_000_000_000 } }
    trial.sandbox.setObjects(shopId, 'dashboard', [touched, ...others])
    const { stdout } = await trial.runAt(now, ['diff', 'latest', '--json'])
    expect(jsonLines(stdout)).toMatchObject([
      { types: [{}, {}, { counts: { changed: 0, touched: 1 }, touched: [{ id: first?._id }] }] },
    ])
  })

  it('refuses to compare with the service when the account is not configured', async () => {
    await using trial = await startWithHistory()
    const accounts = [1, 2].map((accountId) => ({
      name: `n${accountId}`,
      accountId,
      baseUrl: trial.sandbox.url,
      token: { env: 'DASHKEEP_API_TOKEN' },
    }))
    const file = await trial.write('two.yaml', { accounts })
    const changes = { DASHKEEP_CONFIG: file, DASHKEEP_BASE_URL: undefined }
    const { exitCode, stderr } = await trial.runAt(now, ['diff', 'latest'], changes)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`no configured account has the accountId ${shopId}`)
  })

  it('ends in exit code 5 when a file that it reads is damaged', async () => {
    await using trial = await startWithHistory()
    for (const [key, bytes] of await trial.files()) {
      if (!key.endsWith('dashboard.json.zst')) continue
      await writeFile(join(trial.archive, key), bytes.subarray(1))
    }
    const { exitCode, stderr } = await trial.runAt(now, ['diff', 'latest~1', 'latest'])
    expect(exitCode).toBe(5)
    expect(stderr).toContain('Cannot read the archive')
  })
})

describe('diff of two accounts', () => {
  it('compares objects by id, and names the account of each side', async () => {
    await using trial = await startTrial({ accounts: accountsFrom([1, 2]) })
    for (const id of ['1', '2']) {
      const env = { DASHKEEP_API_TOKEN: `token-${id}`, DASHKEEP_ACCOUNT_ID: id }
      expect((await trial.runAt(day(Number(id)), ['backup'], env)).exitCode).toBe(0)
    }
    const compare = ['diff', 'latest', 'latest', '--account', '1', '--other-account', '2']
    const { exitCode, stdout } = await trial.runAt(now, compare)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/from {2}20261101T.* account 1\nto {4}20261102T.* account 2\n/)
    expect(stdout).toMatch(/search {2}3 added, 3 removed/)
    const { stdout: json } = await trial.runAt(now, [...compare, '--json'])
    expect(JSON.parse(json)).toMatchObject({ accountId: 1, otherAccountId: 2 })
    const live = await trial.runAt(now, ['diff', 'latest', '-a', '1', '--other-account', '2'], {
      DASHKEEP_API_TOKEN: 'token-2',
      DASHKEEP_ACCOUNT_ID: '2',
    })
    expect(live.stdout).toMatch(/to {4}the service .* account 2\n/)
  })
})

describe('history', () => {
  it('lists the events of an object, oldest first', async () => {
    await using trial = await startWithHistory()
    const { exitCode, stdout } = await trial.runAt(now, ['history', 'dashboard:orders'])
    expect(exitCode).toBe(0)
    expect(stdout.match(/ (appeared|changed|renamed|disappeared|returned)$/gm)).toEqual([
      ' appeared',
      ' renamed',
      ' disappeared',
      ' returned',
    ])
    expect(stdout).toContain('1 panel added; 1 panel removed; 1 panel moved')
    expect(stdout).toContain('    as it was\n')
    expect(stdout).toContain('3 versions in 4 snapshots')
  })

  it('prints differences with --patch and with --json', async () => {
    await using trial = await startWithHistory()
    const shown = await trial.runAt(now, ['history', 'orders', '--patch'])
    expect(shown.stdout).toContain('    + panelsJSON › panel 3 (Errors)\n')
    const { stdout } = await trial.runAt(now, ['history', 'orders', '--json'])
    const [{ id, snapshots, events }] = jsonLines(stdout) as [Record<string, object[]>]
    expect({ id, snapshots }).toEqual({ id: 'dashboard:orders', snapshots: 4 })
    expect(events).toMatchObject([
      { event: 'appeared', takenAt: day(1).toISOString(), title: 'Orders' },
      { event: 'renamed', patch: [{ op: 'replace' }, {}, {}, {}] },
      { event: 'disappeared' },
      { event: 'returned', patch: [] },
    ])
  })

  it('finds a deleted object, and names the last snapshot that holds it', async () => {
    await using trial = await startWithHistory()
    trial.sandbox.setObjects(shopId, 'dashboard', [])
    await trial.runAt(day(5), ['backup', '--accept-fall'])
    const names = await trial.snapshots()
    const { stdout } = await trial.runAt(now, ['history', '*(NEW)'])
    expect(stdout).toContain(`disappeared 15 days ago, last in ${names[3]}`)
  })
})

describe('find', () => {
  it('searches nested JSON in the newest snapshot, in all, or in a named one', async () => {
    await using trial = await startWithHistory()
    const newest = await trial.runAt(now, ['find', 'by HOUR', '--json'])
    expect(jsonLines(newest.stdout)).toEqual([{ objects: [], problems: [] }])
    const all = await trial.runAt(now, ['find', 'by HOUR', '--all'])
    expect(all.stdout).toContain('dashboard:orders  Orders')
    expect(all.stdout).toContain('    panelsJSON › 0 › title: By hour\n')
    expect(all.stdout).toContain('1 object with by HOUR in all 4 snapshots')
    const first = await trial.runAt(now, ['find', 'by HOUR', '--snapshot', '2026-11-01', '--json'])
    expect(jsonLines(first.stdout)).toMatchObject([
      { objects: [{ id: 'dashboard:orders', matches: [{ path: ['panelsJSON', 0, 'title'] }] }] },
    ])
  })

  it('prints `the only snapshot` when there is one', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const { stdout } = await trial.run(['find', 'nothing like this', '--all'])
    expect(stdout).toBe('0 objects with nothing like this in the only snapshot\n')
  })
})

describe('a damaged archive', () => {
  /** Days of an account whose dashboards stay the same while its searches change. */
  async function startWithDamage(days = 3) {
    const trial = await startTrial()
    const { search } = sampleObjects()
    for (let number = 1; number <= days; number += 1) {
      trial.sandbox.setObjects(shopId, 'search', search.slice(number % 2))
      await trial.runAt(day(number), [
        'backup',
        '--accept-fall',
        ...(number === days ? ['--full'] : []),
      ])
    }
    const names = await trial.snapshots()
    return { trial, names, keyOf: (at: number) => `${shopId}/${names[at]}/dashboard.json.zst` }
  }

  /** Changes one byte in the middle of a file. */
  async function flip(trial: Trial, key: string): Promise<void> {
    const bytes = (await trial.files()).get(key) as Buffer
    const place = bytes.length >> 1
    bytes[place] = (bytes[place] as number) ^ 1
    await writeFile(join(trial.archive, key), bytes)
  }

  it.each([
    ['one byte is wrong', flip],
    ['it is missing', (trial: Trial, key: string) => rm(join(trial.archive, key))],
  ])('ends cat and diff in exit code 5, which name the file: %s', async (_case, damage) => {
    const { trial, keyOf } = await startWithDamage()
    await using _ = trial
    await damage(trial, keyOf(0))
    const lines = [
      ['cat', 'dashboard:shop-overview', '--snapshot', 'latest~2'],
      ['cat', 'Shop overview', '--snapshot', 'latest~2'],
      ['cat', 'dashboard', '--snapshot', 'latest~2'],
      ['cat', 'dashboard', '--open', '--snapshot', 'latest~2'],
      ['cat', 'dashboard:nowhere', '--snapshot', 'latest~2'],
      ['diff', 'latest~2', 'latest'],
      ['diff', 'latest~2', 'latest~1'],
      ['diff', 'latest~2', 'latest~2'],
      ['diff', 'latest~2'],
      ['diff', 'latest~2', 'latest', '--object', 'dashboard:shop-overview'],
      ['diff', 'latest~2', 'latest', '--object', 'Shop overview'],
      ['restore', 'latest~2', '--to-service', '--yes'],
      ['restore', 'latest~2', '-o', 'dashboard:shop-overview', '--to', join(trial.folder, 'to')],
    ]
    for (const line of lines) {
      const { exitCode, stderr } = await trial.runAt(now, line)
      expect({ line, exitCode, stderr }).toEqual({
        line,
        exitCode: 5,
        stderr: expect.stringContaining(`Cannot read the archive: ${keyOf(0)}: it`),
      })
    }
    expect(trial.sandbox.requests().some(({ operation }) => operation === 'import')).toBe(false)
    const sound = [
      ['cat', 'dashboard:shop-overview'],
      ['cat', 'search:slow-requests', '--snapshot', 'latest~2'],
      ['diff', 'latest~2', 'latest', '--type', 'search'],
      ['diff', 'latest~2', 'latest', '--object', 'search:slow-requests'],
    ]
    for (const line of sound) {
      const { exitCode } = await trial.runAt(now, line)
      expect({ line, exitCode }).toEqual({ line, exitCode: 0 })
    }
  })

  it('lets find and history read an intact copy of the same objects, with exit code 3', async () => {
    const { trial, names, keyOf } = await startWithDamage()
    await using _ = trial
    await flip(trial, keyOf(0))
    for (const line of [
      ['history', 'dashboard:shop-overview'],
      ['history', 'Shop overview'],
      ['find', 'Shop overview', '--all'],
      ['find', 'Shop overview', '--snapshot', 'latest~2'],
    ]) {
      const { exitCode, stdout, stderr } = await trial.runAt(now, [...line, '--json'])
      expect({ line, exitCode, stderr }).toEqual({
        line,
        exitCode: 3,
        stderr: expect.stringContaining(keyOf(0)),
      })
      const [{ problems }] = jsonLines(stdout) as [{ problems: string[] }]
      expect(problems).toEqual([expect.stringContaining(keyOf(0))])
      expect(stdout.includes('dashboard:shop-overview')).toBe(!line.includes('latest~2'))
    }
    const told = await trial.runAt(now, ['history', 'dashboard:shop-overview', '--json'])
    expect(jsonLines(told.stdout)).toMatchObject([
      { events: [{ event: 'appeared', snapshot: names[0] }] },
    ])
  })

  it('makes a command report damage instead of a missing object when there is no intact copy', async () => {
    const { trial, keyOf } = await startWithDamage()
    await using _ = trial
    for (const at of [0, 1, 2])
      if ((await trial.files()).has(keyOf(at))) await flip(trial, keyOf(at))
    const byId = await trial.runAt(now, ['history', 'dashboard:shop-overview'])
    expect(byId).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(keyOf(0)) })
    expect(byId.stdout).toMatch(/ unreadable\n {4}Cannot read the archive/)
    const byTitle = await trial.runAt(now, ['history', 'Shop overview'])
    expect(byTitle).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(keyOf(0)) })
    expect(byTitle.stderr).toContain('in the files that can be read')
    const found = await trial.runAt(now, ['find', 'Shop overview', '--all', '--json'])
    expect(found.exitCode).toBe(3)
    const other = await trial.runAt(now, ['history', 'search:slow-requests'])
    expect(other.exitCode).toBe(0)
  })

  it('makes diff fail also when both snapshots share the damaged file', async () => {
    await using trial = await startTrial()
    for (const number of [1, 2]) await trial.runAt(day(number), ['backup'])
    const [first] = await trial.snapshots()
    const key = `${shopId}/${first}/dashboard.json.zst`
    expect((await trial.runAt(now, ['diff', 'latest~1', 'latest'])).exitCode).toBe(0)
    await flip(trial, key)
    const { exitCode, stdout, stderr } = await trial.runAt(now, ['diff', 'latest~1', 'latest'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toContain(key)
  })

  it('makes history name a damaged file also when several objects match in the others', async () => {
    const { trial, keyOf } = await startWithDamage()
    await using _ = trial
    for (const at of [0, 1, 2]) {
      if ((await trial.files()).has(keyOf(at))) await flip(trial, keyOf(at))
    }
    const { exitCode, stderr } = await trial.runAt(now, ['history', 'Payments'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(keyOf(0))
    expect(stderr).toContain('2 objects in the files that can be read match')
    expect(stderr).toContain('visualization:declined-by-reason (Declined payments by reason)')
  })

  it('makes history name a damaged file of another type when the object is given by title', async () => {
    const { trial, keyOf } = await startWithDamage()
    await using _ = trial
    await flip(trial, keyOf(0))
    const { exitCode, stderr } = await trial.runAt(now, ['history', 'Slow requests'])
    expect(exitCode).toBe(3)
    expect(stderr).toContain(keyOf(0))
  })

  it('makes commands name a damaged manifest like a damaged file', async () => {
    const { trial, names } = await startWithDamage()
    await using _ = trial
    const key = `${shopId}/${names[0]}/manifest.json`
    await flip(trial, key)
    const cases: [string[], number][] = [
      [['cat', 'dashboard', '--snapshot', 'latest~2'], 5],
      [['diff', 'latest~2', 'latest'], 5],
      [['show', 'latest~2'], 5],
      [['restore', 'latest~2', '--to', join(trial.folder, 'to')], 5],
      [['find', 'x', '--snapshot', 'latest~2'], 5],
      [['find', 'x', '--all'], 3],
      [['history', 'dashboard:shop-overview'], 3],
    ]
    for (const [line, exitCode] of cases) {
      const run = await trial.runAt(now, line)
      expect({ line, exitCode: run.exitCode }).toEqual({ line, exitCode })
      expect(run.stderr).toContain(key)
    }
  })

  it('makes history report a damaged manifest when no other snapshot has the object', async () => {
    await using trial = await startWithHistory()
    const [first] = await trial.snapshots()
    const key = `${shopId}/${first}/manifest.json`
    await flip(trial, key)
    const id = String(sampleObjects().search[0]?._id)
    const { exitCode, stderr } = await trial.runAt(now, ['history', id])
    expect(exitCode).toBe(3)
    expect(stderr).toContain(key)
    expect(stderr).toContain('in the files that can be read')
  })

  it('makes find and history skip what is damaged and report it', async () => {
    await using trial = await startWithHistory()
    const [, second] = await trial.snapshots()
    const key = `${shopId}/${second}/dashboard.json.zst`
    await writeFile(join(trial.archive, key), 'damaged')
    const found = await trial.runAt(now, ['find', 'by country', '--all'])
    expect(found.exitCode).toBe(3)
    expect(found.stdout).toMatch(
      /^2 objects with by country in all 4 snapshots; 1 file could not be read$/m,
    )
    expect(found.stderr).toContain(key)
    const told = await trial.runAt(now, ['history', 'dashboard:orders', '--json'])
    expect(told.exitCode).toBe(3)
    expect(jsonLines(told.stdout)).toMatchObject([
      {
        events: [
          { event: 'appeared' },
          { event: 'unreadable', problem: expect.stringContaining(key) },
          { event: 'disappeared' },
          { event: 'returned' },
        ],
      },
    ])
    const shown = await trial.runAt(now, ['history', 'dashboard:orders'])
    expect(shown.stdout).toMatch(/^2 versions in 4 snapshots; 1 file could not be read$/m)
  })

  it('makes find and history count damaged manifests as files that could not be read', async () => {
    await using trial = await startWithHistory()
    for (const name of (await trial.snapshots()).slice(0, 2)) {
      await flip(trial, `${shopId}/${name}/manifest.json`)
    }
    const found = await trial.runAt(now, ['find', 'nothing like this', '--all'])
    expect(found).toMatchObject({
      exitCode: 3,
      stdout: '0 objects with nothing like this in all 2 snapshots; 2 files could not be read\n',
    })
    const shown = await trial.runAt(now, ['history', 'dashboard:orders'])
    expect(shown.exitCode).toBe(3)
    expect(shown.stdout).toMatch(/ in 2 snapshots; 2 files could not be read$/m)
  })
})

describe('cat', () => {
  it('prints an object and an export byte for byte', async () => {
    await using trial = await startWithHistory()
    const object = await trial.runAt(now, ['cat', 'orders'])
    const document = Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString()
    expect(object.stdout.endsWith('}\n')).toBe(true)
    expect(document).toContain(object.stdout.trimEnd())
    const whole = await trial.runAt(now, ['cat', 'dashboard'])
    expect(whole.stdout).toBe(
      (await trial.content('dashboard', (await trial.snapshots())[3])).toString(),
    )
  })

  it('expands nested JSON with --open', async () => {
    await using trial = await startWithHistory()
    const object = await trial.runAt(now, ['cat', 'orders', '--open', '--snapshot', 'latest~3'])
    expect(JSON.parse(object.stdout)).toMatchObject({
      _source: { dashboard: { title: 'Orders', panelsJSON: [{ title: 'By hour' }, {}] } },
    })
    const whole = await trial.runAt(now, ['cat', 'dashboard', '--open'])
    const { kibanaVersion, hits } = JSON.parse(whole.stdout)
    expect(kibanaVersion).toBe('7.10.2')
    expect(hits.length).toBe(1 + sampleObjects().dashboard.length)
    expect(hits[0]._source.dashboard.panelsJSON).toEqual(expect.any(Array))
  })

  it('ends without an error when the reading process closes the pipe', async () => {
    await using trial = await startTrial({
      accounts: [
        { ...accountsFrom([7])[0], objects: { generated: { seed: 1, count: 400 } } } as never,
      ],
    })
    const env = { ...trial.env, DASHKEEP_API_TOKEN: 'token-7', PATH: process.env.PATH ?? '' }
    expect((await trial.run(['backup'], { DASHKEEP_API_TOKEN: 'token-7' })).exitCode).toBe(0)
    const line = `'${process.execPath}' '${program}' cat visualization | head -c 20; true`
    const { finished } = spawnProcess('/bin/sh', ['-c', line], { env })
    const { stdout, stderr, exitCode } = await finished
    expect({ stdout: stdout.length, stderr, exitCode }).toEqual({
      stdout: 20,
      stderr: '',
      exitCode: 0,
    })
  })
})

describe('an encrypted archive', () => {
  it('can be read with its key, and is refused without the key', async () => {
    const identity = await generateX25519Identity()
    const DASHKEEP_RECIPIENTS = await identityToRecipient(identity)
    await using trial = await startWithHistory({ DASHKEEP_RECIPIENTS })
    const lines = [
      ['diff', 'latest~3', 'latest'],
      ['history', 'orders'],
      ['find', 'orders'],
      ['cat', 'orders'],
      ['cat', 'dashboard', '--open'],
    ]
    for (const line of lines) {
      const open = await trial.runAt(now, line, { DASHKEEP_IDENTITY: identity })
      expect({ line, exitCode: open.exitCode, stderr: open.stderr }).toMatchObject({ exitCode: 0 })
      expect(open.stdout).toContain('dashboard:orders')
      const closed = await trial.runAt(now, line)
      expect(closed.exitCode).toBe(2)
      expect(closed.stderr).toMatch(
        /error: Cannot read .*: it is encrypted, and no key is configured/,
      )
    }
  })
})

describe('an argument that matches nothing, or several objects', () => {
  type Case = [line: string[], message: RegExp, hint: RegExp]
  const cases: Case[] = [
    [
      ['diff', '2020-01-01', 'latest'],
      /the oldest snapshot is newer/,
      /the oldest is 20261101T030000Z/,
    ],
    [
      ['diff', '20261102T030000Z-ffffff', 'latest'],
      /does not hold it/,
      /similar names are 20261102T030000Z/,
    ],
    [['show', '202611'], /4 names begin with it/, /20261104T030000Z/],
    [['diff', 'latest', ''], /does not hold it/, /similar names are/],
    [['diff', 'latest~9', 'latest'], /only 4 snapshots/, /latest~3/],
    [['history', 'Ordres'], /no id or title matches/, /dashboard:orders/],
    [['history', 'order'], /Cannot tell which object order means/, /dashboard:orders/],
    [['cat', 'dashboard:nope'], /no id or title matches/, /the most similar|dashkeep find/],
    [['diff', 'latest~1', 'latest', '--type', 'url'], /neither side holds this type/, /search/],
    [['find', 'x', '--type', 'url'], /does not hold it/, /search, visualization, dashboard/],
    [
      ['find', ''],
      /^error: Cannot search: the text to search for is empty\n/,
      /'\*' for all objects/,
    ],
    ...[
      ['cat', ''],
      ['history', ''],
      ['diff', 'latest~1', 'latest', '--object', ''],
      ['restore', '--object', '', '--to', './restored'],
    ].map((line): Case => [line, /: the given id or title is empty\n/, /dashkeep ls/]),
    [['find', 'x', '--account', '9'], /account 9/, /dashkeep list/],
  ]

  it('ends in exit code 2 with a message and a hint', async () => {
    await using trial = await startWithHistory()
    for (const [line, message, hint] of cases) {
      const { exitCode, stdout, stderr } = await trial.runAt(now, line)
      expect({ line, exitCode, stdout }).toEqual({ line, exitCode: 2, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr.slice(stderr.indexOf('hint:'))).toMatch(hint)
    }
  })

  it('ends in an error that names the accounts when there are several', async () => {
    await using trial = await startTrial({ accounts: accountsFrom([1, 2]) })
    for (const id of [1, 2]) await trial.run(['backup'], { DASHKEEP_API_TOKEN: `token-${id}` })
    const { exitCode, stderr } = await trial.run(['history', 'x'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('choose one with --account: 1, 2')
  })
})

it('commands that read leave the archive unchanged', async () => {
  await using trial = await startWithHistory()
  const digest = async () => {
    const hash = createHash('sha256')
    for (const [key, bytes] of [...(await trial.files())].sort()) hash.update(key).update(bytes)
    return hash.digest('hex')
  }
  const kept = await digest()
  const lines = ['diff latest~3', 'diff latest~3 latest', 'history orders -p', 'find o --all']
  for (const line of [...lines, 'cat orders --open']) await trial.runAt(now, line.split(' '))
  expect(await digest()).toBe(kept)
})
