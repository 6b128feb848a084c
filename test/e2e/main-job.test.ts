import { describe, expect, it } from 'vitest'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shopId, startTrial, types } from './trial.ts'

describe('a backup from the environment alone', () => {
  it('stores three exports that are, byte for byte, what the service sends', async () => {
    await using trial = await startTrial()
    const { exitCode } = await trial.run(['backup'], { DASHKEEP_CONFIG: undefined })
    expect(exitCode).toBe(0)
    for (const type of types) {
      expect(await trial.content(type)).toEqual(Buffer.from(trial.sandbox.objects(shopId, type)))
    }
  })

  it('keeps the bytes also when the service compresses them and names the version last', async () => {
    await using trial = await startTrial({ gzip: true, kibanaVersionLast: true })
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    const sent = Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString()
    const [, hits] = /^\{"kibanaVersion":"7\.10\.2","hits":(.*)\}$/s.exec(sent) ?? []
    expect((await trial.content('dashboard')).toString()).toBe(
      `{"hits":${hits},"kibanaVersion":"7.10.2"}`,
    )
  })

  it('is a folder of four files named after account and time', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const [snapshot] = await trial.snapshots()
    expect(snapshot).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{6}$/)
    expect([...(await trial.files()).keys()].sort()).toEqual(
      ['dashboard.json.zst', 'manifest.json', 'search.json.zst', 'visualization.json.zst'].map(
        (name) => `${shopId}/${snapshot}/${name}`,
      ),
    )
  })

  it('asks whom the token belongs to, then exports each type once, in turn', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const asked = trial.sandbox.requests().map(({ operation, type }) => type ?? operation)
    expect(asked).toEqual(['whoami', ...types])
    expect(trial.sandbox.highWater(shopId)).toBe(1)
  })

  it('works with the path prefix and the forms of deployed services', async () => {
    await using trial = await startTrial({ form: 'deployed' })
    expect((await trial.run(['backup'], { DASHKEEP_PATH_PREFIX: '/v1' })).exitCode).toBe(0)
    const verified = await trial.run(['verify'])
    expect(verified.exitCode).toBe(0)
  })

  it('takes other types when told to', async () => {
    await using trial = await startTrial()
    expect((await trial.run(['backup'], { DASHKEEP_TYPES: 'dashboard, search' })).exitCode).toBe(0)
    expect((await trial.run(['backup'], { DASHKEEP_TYPES: 'search' })).exitCode).toBe(0)
    const [both, one] = await trial.snapshots()
    const keys = [...(await trial.files()).keys()]
    const names = (snapshot: string | undefined) =>
      keys.filter((key) => key.includes(`/${snapshot}/`)).map((key) => key.split('/').at(-1))
    expect(names(both).sort()).toEqual(['dashboard.json.zst', 'manifest.json', 'search.json.zst'])
    expect(names(one).sort()).toEqual(['manifest.json', 'search.json.zst'])
  })

  it('never lets the token out: not to stdout, to the log or into a stored file', async () => {
    await using trial = await startTrial()
    const token = trial.sandbox.issueToken(shopId)
    const verbs = ['backup', 'list', 'show', 'verify', 'whoami', 'doctor', 'config print']
    for (const verb of verbs) {
      const { exitCode, stdout, stderr } = await trial.run(
        [...verb.split(' '), '--log-level', 'debug'],
        { DASHKEEP_API_TOKEN: token },
      )
      expect(exitCode).toBe(0)
      expect(stdout + stderr).not.toContain(token)
    }
    const files = [...(await trial.files()).values(), Buffer.from(await trial.content('search'))]
    expect(files).toHaveLength(5)
    for (const file of files) expect(file.includes(token)).toBe(false)
  })

  it('never lets a refused token out either', async () => {
    await using trial = await startTrial()
    const token = 'a-token-that-nobody-knows'
    trial.sandbox.faults.add({ operation: 'whoami', status: 400, body: `no, not ${token}` })
    for (const verb of ['backup', 'whoami', 'doctor']) {
      const { exitCode, stdout, stderr } = await trial.run([verb, '--log-level', 'debug'], {
        DASHKEEP_API_TOKEN: token,
      })
      expect(exitCode).toBe(1)
      expect(stdout + stderr).not.toContain(token)
    }
  })
})

describe('list, show and verify', () => {
  it('agree with each other about what a backup stored', async () => {
    await using trial = await startTrial()
    const [account] = accountsOf((await trial.run(['backup', '--json'])).stdout)
    const files = await trial.files()
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0)

    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    expect(listed).toMatchObject([
      { accountId: shopId, snapshot: account?.snapshot, files: 4, bytes },
    ])
    const [shown] = jsonLines((await trial.run(['show', '--json'])).stdout)
    const manifest = files.get(`${shopId}/${account?.snapshot}/manifest.json`)
    const { sha256, ...stored } = JSON.parse(String(manifest))
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(shown).toEqual(stored)
    expect(shown?.exports).toEqual(account?.exports)
    const verified = await trial.run(['verify', '--json'])
    expect(verified.exitCode).toBe(0)
    expect(jsonLines(verified.stdout)).toMatchObject([
      { snapshots: 1, bytes, defects: 0, report: [] },
    ])
  })

  it('tell people in tables and sentences', async () => {
    await using trial = await startTrial()
    const { stdout: backup } = await trial.run(['backup'])
    const [snapshot] = await trial.snapshots()
    expect(backup).toMatch(/^ACCOUNT +RESULT +SNAPSHOT +OBJECTS +STORED +CHANGES\n/)
    expect(backup).toMatch(
      new RegExp(`\\ndefault +first +${snapshot} +14 +[\\d.]+ kB +first snapshot\\n`),
    )
    expect(backup).toContain(`\n1 of 1 account in ${trial.env.DASHKEEP_STORE}\n`)
    const { stdout: list } = await trial.run(['list'])
    expect(list).toMatch(/^ACCOUNT +SNAPSHOT +TAKEN \(UTC\) +AGE +HOLDS +SIZE\n/)
    expect(list).toContain(`\n1 snapshot in ${trial.env.DASHKEEP_STORE}\n`)
    const { stdout: show } = await trial.run(['show'])
    expect(show).toContain(`Snapshot  ${snapshot}\n`)
    expect(show).toContain(`Account   ${shopId} (Shop)\n`)
    expect(show).toMatch(/\nvisualization +7 +7\.10\.2 /)
    const { stdout: verify } = await trial.run(['verify'])
    expect(verify).toMatch(
      /^verified 1 snapshot with 3 stored files, [\d.]+ kB read: every file matches its manifest/,
    )
  })

  it('find one snapshot by its name, the newest by `latest`, and no other', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    await trial.run(['backup', '--full'])
    const [first = '', second = ''] = await trial.snapshots()
    expect(second > first).toBe(true)
    const shown = await Promise.all(
      [[first], [second], ['latest'], []].map((names) => trial.run(['show', '--json', ...names])),
    )
    const names = shown.flatMap(({ stdout }) => jsonLines(stdout)).map(({ snapshot }) => snapshot)
    expect(names).toEqual([first, second, second, second])
    const verified = await trial.run(['verify', '--json', first, 'latest'])
    expect(jsonLines(verified.stdout)).toMatchObject([{ snapshots: 2 }])
    for (const verb of ['show', 'verify']) {
      const { exitCode, stderr } = await trial.run([verb, `${first.slice(0, 9)}999999Z-000000`])
      expect(exitCode).toBe(2)
      expect(stderr).toMatch(/^error: Cannot find the snapshot \S+: the archive does not hold it\n/)
      expect(stderr).toContain(`hint: similar names are ${first}, ${second}\n`)
    }
  })

  it('say so when the archive is empty', async () => {
    await using trial = await startTrial()
    const list = await trial.run(['list'])
    expect(list).toMatchObject({
      exitCode: 0,
      stdout: `${trial.env.DASHKEEP_STORE} holds no snapshot\n`,
    })
    expect(await trial.run(['list', '--json'])).toMatchObject({ exitCode: 0, stdout: '' })
    const prune = await trial.run(['prune', '--keep-last', '1'])
    expect(prune).toMatchObject({ exitCode: 0, stdout: 'Nothing to remove\n' })
    expect(await trial.run(['verify'])).toMatchObject({ exitCode: 3 })
    const show = await trial.run(['show'])
    expect(show.exitCode).toBe(2)
    expect(show.stderr).toMatch(/^error: Cannot find a snapshot: file:\S+ holds none\nhint: /)
  })

  it('find damage, and say which file it is in', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const [snapshot] = await trial.snapshots()
    await trial.write(`archive/${shopId}/${snapshot}/dashboard.json.zst`, 'damaged')
    const { exitCode, stdout } = await trial.run(['verify'])
    expect(exitCode).toBe(5)
    expect(stdout).toMatch(new RegExp(`^damaged ${shopId}/${snapshot}: .*dashboard\\.json\\.zst`))
    expect(stdout).toMatch(/\n1 snapshot with 3 stored files, [\d.]+ kB read: 1 defect\n$/)
    const json = jsonLines((await trial.run(['verify', '--json'])).stdout)
    expect(json).toMatchObject([{ defects: 1, report: [{ accountId: shopId, snapshot }] }])
  })
})

describe('what programs read', () => {
  const members = {
    backup: ['accounts'],
    list: ['accountId', 'bytes', 'files', 'snapshot', 'takenAt'],
    verify: ['bytes', 'defects', 'report', 'snapshots'],
    whoami: ['accounts'],
    doctor: ['findings'],
    'config check': ['accounts', 'store', 'types', 'valid'],
    'config print': ['accounts', 'compression', 'guard', 'limits', 'store', 'types'],
  }

  it.each(Object.entries(members))('`%s --json` has its stable members', async (verb, names) => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const { exitCode, stdout } = await trial.run([...verb.split(' '), '--json'])
    expect(exitCode).toBe(0)
    const documents = jsonLines(stdout)
    expect(documents).toHaveLength(1)
    expect(Object.keys(documents[0] ?? {})).toEqual(expect.arrayContaining(names))
  })

  it('names the members of each account of a backup', async () => {
    await using trial = await startTrial()
    const accountOf = async (args: string[] = []) => {
      const { stdout } = await trial.run(['backup', '--json', ...args])
      return accountsOf(stdout)[0] ?? {}
    }
    const always = ['accountId', 'exports', 'name', 'result', 'snapshot', 'warnings']
    const first = await accountOf()
    expect(Object.keys(first)).toEqual(expect.arrayContaining(always))
    expect(first).not.toHaveProperty('sameAs')
    expect(first).toMatchObject({ name: 'default', accountId: shopId, result: 'first' })
    const second = await accountOf()
    expect(Object.keys(second)).toEqual(expect.arrayContaining([...always, 'changes']))
    expect(second).toMatchObject({ result: 'unchanged', sameAs: first.snapshot })
    trial.sandbox.setObjects(shopId, 'dashboard', [])
    const third = await accountOf()
    expect(Object.keys(third)).toEqual(expect.arrayContaining([...always, 'changes']))
    expect(third).toMatchObject({
      result: 'suspect',
      suspect: ['dashboard: 0 objects, down from 3'],
    })
    trial.sandbox.faults.add({ operation: 'whoami', refused: true })
    const failed = await accountOf()
    expect(Object.keys(failed)).toEqual(expect.arrayContaining(['error', 'hint', 'name', 'result']))
    expect(failed).not.toHaveProperty('snapshot')
    expect(failed).toMatchObject({ name: 'default', result: 'failed' })
  })

  it('gives them nothing but JSON on stdout, and JSON lines as the log', async () => {
    await using trial = await startTrial()
    trial.sandbox.faults.add({ operation: 'export', status: 503, times: 1 })
    const { stdout, stderr } = await trial.run(['backup', '--json', '--log-level', 'debug'])
    expect(stdout).toMatch(/^\{[^\n]*\}\n$/)
    const log = jsonLines(stderr)
    expect(log.map(({ msg }) => msg)).toEqual([
      'run started',
      'retrying',
      'exported',
      'exported',
      'exported',
      'stored and read back',
      'stored and read back',
      'stored and read back',
      'snapshot taken',
      'run ended',
    ])
    for (const line of log)
      expect(Object.keys(line)).toEqual(expect.arrayContaining(['level', 'time', 'run']))
    expect(new Set(log.map(({ run }) => run)).size).toBe(1)
  })

  it('colours nothing in a pipe', async () => {
    await using trial = await startTrial()
    const outputs = [
      await trial.run(['backup']),
      await trial.run(['list']),
      await trial.run(['show']),
    ]
    const failing = await trial.run(['show', 'no-such'])
    for (const { stdout, stderr } of [...outputs, failing]) {
      expect(stdout + stderr).not.toContain('\x1b')
    }
  })
})

describe('a run in which nothing changed', () => {
  it('adds one manifest and no data file, although hits come in another order', async () => {
    await using trial = await startTrial({ shuffle: 7 })
    await trial.run(['backup'])
    const before = await trial.files()
    const [first] = await trial.snapshots()
    const { exitCode, stdout } = await trial.run(['backup'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\ndefault +unchanged +\S+ +14 +0 B +none\n/)
    const [, second] = await trial.snapshots()
    const after = await trial.files()
    const added = [...after.keys()].filter((key) => !before.has(key))
    expect(added).toEqual([`${shopId}/${second}/manifest.json`])
    for (const [key, bytes] of before) expect(after.get(key)).toEqual(bytes)
    const [manifest] = jsonLines((await trial.run(['show', '--json'])).stdout)
    expect(manifest?.sameAs).toBe(first)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
    expect((await trial.run(['list'])).stdout).toMatch(/ unchanged +[\d.]+ kB\n/)
  })

  it('points to the snapshot that holds the files also the third time', async () => {
    await using trial = await startTrial()
    for (let turn = 0; turn < 3; turn += 1) await trial.run(['backup'])
    const [first, second] = await trial.snapshots()
    const [manifest] = jsonLines((await trial.run(['show', '--json'])).stdout)
    expect(manifest).toMatchObject({ sameAs: first, previous: { snapshot: second } })
  })

  it('stores the files all the same with --full', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    await trial.run(['backup', '--full'])
    expect((await trial.files()).size).toBe(8)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('stores the files again when somebody has removed one', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const [first] = await trial.snapshots()
    await trial.write(`archive/${shopId}/${first}/search.json.zst`, '')
    const { exitCode, stdout } = await trial.run(['backup', '--json'])
    expect(exitCode).toBe(3)
    expect(accountsOf(stdout)[0]).toMatchObject({
      result: 'full',
      warnings: [expect.stringMatching(/^files of snapshot .* are missing or cut short$/)],
    })
    expect((await trial.run(['verify', 'latest'])).exitCode).toBe(0)
    expect((await trial.files()).size).toBe(8)
    expect((await trial.run(['backup'])).exitCode).toBe(0)
  })
})

describe('a run in which something changed', () => {
  it('says what by id and title, and counts it in the manifest', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const text = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    const { kibanaVersion, hits } = JSON.parse(text) as {
      kibanaVersion: string
      hits: { _id: string; _source: { search: { title: string } } }[]
    }
    const [first, second, ...rest] = hits
    const renamed = structuredClone(first)
    if (!first || !second || !renamed) throw new Error('the sample account has searches')
    renamed._source.search.title = 'Another title'
    const added = { ...structuredClone(second), _id: 'search:new-one' }
    trial.sandbox.setObjects(
      shopId,
      'search',
      JSON.stringify({ kibanaVersion, hits: [added, ...rest, renamed] }),
    )
    const { exitCode, stdout } = await trial.run(['backup'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\ndefault +changed +.* 1 added, 1 removed, 1 changed\n/)
    expect(stdout).toContain(`\n  + search:new-one  ${second._source.search.title}\n`)
    expect(stdout).toContain(`\n  - ${second._id}  ${second._source.search.title}\n`)
    expect(stdout).toContain(`\n  ~ ${first._id}  Another title\n`)
    const [manifest] = jsonLines((await trial.run(['show', '--json'])).stdout)
    const none = { added: 0, removed: 0, changed: 0 }
    expect(manifest?.changes).toEqual({
      search: { added: 1, removed: 1, changed: 1 },
      visualization: none,
      dashboard: none,
    })
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('lets no control character of a title reach the terminal', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const hit = {
      _id: 'dashboard:x\u001b]0;owned\u0007',
      _source: { type: 'dashboard', dashboard: { title: '\u001b[2J\u009b31mgone' } },
    }
    trial.sandbox.setObjects(shopId, 'dashboard', [hit])
    const { stdout } = await trial.run(['backup', '--accept-fall'])
    expect(stdout).toContain('  + dashboard:x\ufffd]0;owned\ufffd  \ufffd[2J\ufffd31mgone\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  })
})
