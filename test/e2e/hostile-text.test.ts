import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { decodeManifest, encodeManifest, type Manifest } from '../../src/archive/manifest.ts'
import { runCli } from '../../src/cli/run.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { jsonLines } from './run-dashkeep.ts'
import { shop, shopId, startTrial, type Trial } from './trial.ts'

/** Clears the screen, sets a colour, ends the line in five ways, turns the direction, and hides. */
const steering =
  '\u001b[2J\u009b31m\u001b[32m\r\nall good\u2028all good\u2029all good\u0085all good\u000ball good'
const hidden = '\u202e\u2066\u200e\u061c\u200b\u200d\ufeff\u{e0041}\u007f\u001b]0;owned\u0007'
const hostile = (text: string) => `${text}${steering}${hidden}`

const mainToken = { management: { token: { env: 'DASHKEEP_API_TOKEN' } } }
const monday = new Date('2026-11-16T03:15:00Z')
const tuesday = new Date('2026-11-17T03:15:00Z')

/** A service whose every name steers, and an archive with a manifest that somebody edited. */
async function startHostile(): Promise<{ trial: Trial; env: Record<string, string> }> {
  const trial = await startTrial({
    accounts: [
      shop({
        accountName: hostile('Acme'),
        kibanaVersion: hostile('7.10'),
        subAccounts: [{ accountId: 7, accountName: hostile('Sub'), apiTokens: ['sub'] }],
      }),
    ],
  })
  const env = {
    DASHKEEP_ACCOUNT_ID: `${shopId}`,
    DASHKEEP_CONFIG: await trial.write('main.yaml', {
      ...mainToken,
      limits: { retryBaseMs: 1, attempts: 1 },
    }),
  }
  trial.sandbox.setObjects(shopId, 'dashboard', [dashboard('Sales'), dashboard('Stock')])
  await trial.runAt(monday, ['backup'], env)
  trial.sandbox.setObjects(shopId, 'dashboard', [dashboard('Sales', 'new'), dashboard('More')])
  await trial.runAt(tuesday, ['backup'], env)
  return { trial, env }
}

function dashboard(name: string, text = 'old') {
  const description = hostile(text)
  const object = { title: hostile(name), description, [hostile('member')]: text }
  const references = [{ id: hostile('gone'), type: 'search', name: hostile('ref') }]
  return {
    _id: `dashboard:${hostile(name)}`,
    _source: { type: 'dashboard', dashboard: object, references },
  }
}

/** Writes something else into the newest manifest, sealed like any other. */
async function editNewest(trial: Trial, change: (manifest: Manifest) => Manifest) {
  const account = join(trial.archive, `${shopId}`)
  const newest = (await readdir(account)).sort().at(-1) ?? ''
  const path = join(account, newest, 'manifest.json')
  await writeFile(path, encodeManifest(change(decodeManifest(await readFile(path), path))))
}

const edit = (manifest: Manifest): Manifest => ({
  ...manifest,
  account: { ...manifest.account, name: hostile('Edited') },
  service: hostile('https://api.example.com'),
  dashkeepVersion: hostile('1.0'),
  suspect: { reasons: [hostile('search: 0 objects'), hostile('second reason')] },
  exports: manifest.exports.map((one) => ({ ...one, remarks: { [hostile('remark')]: 1 } })),
})

/** Runs a command line as on a terminal with colours, and returns all that it got. */
async function runOnTerminal(args: readonly string[], env: Record<string, string | undefined>) {
  const chunks: Buffer[] = []
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    chunks.push(chunk)
    done()
  }
  const screen = () => Object.assign(new Writable({ write }), { isTTY: true, columns: 100 })
  const [stdout, stderr] = [screen(), screen()]
  const { signal } = new AbortController()
  await runCli(args, { env, stdout, stderr, signal, now: () => tuesday })
  return Buffer.concat(chunks).toString()
}

/** Colours, and the way the progress line is drawn, which dashkeep writes itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it writes
const ownSequences = /\x1b\[(0|1|2|22|31|32|33|34|35|36|37|39|90|41)m|\r\x1b\[K/g

function expectClean(text: string) {
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
}

function expectCleanLines(text: string) {
  for (const line of text.split('\n')) {
    expectClean(line)
    expect(line).not.toMatch(/^\W*all good/)
  }
}

const commands = (folder: string): string[][] => [
  ['list'],
  ['show'],
  ['status'],
  ['verify'],
  ['diff', 'latest~1', 'latest'],
  ['diff', 'latest~1', '--stat'],
  ['diff', 'latest~1'],
  ['history', `dashboard:${hostile('Sales')}`],
  ['history', '--patch', `dashboard:${hostile('Sales')}`],
  ['history', 'Sal'],
  ['find', 'all good'],
  ['find', '--all', 'all good'],
  ['find', hostile('nothing')],
  ['cat', '--open', `dashboard:${hostile('Sales')}`],
  ['cat', '--open', 'dashboard'],
  ['cat', hostile('nothing')],
  ['prune', '--keep-last', '1'],
  ['restore', '--to', join(folder, 'refused')],
  ['restore', '--allow-suspect', '--to', join(folder, 'documents')],
  ['restore', '--allow-suspect', '--pretty', join(folder, 'opened')],
  ['restore', '--allow-suspect', '--pretty', join(folder, 'opened')],
  ['restore', '--allow-suspect', '--ndjson', join(folder, 'one.ndjson')],
  ['restore', '--allow-suspect', '--to-service'],
  ['restore', '--allow-suspect', '--to-service', '--object', hostile('nothing')],
  ['restore', '--drill'],
  ['doctor'],
  ['whoami'],
  ['accounts', 'list'],
  ['accounts', 'coverage'],
  ['accounts', 'update', '7', '--name', 'Clean'],
  ['accounts', 'update', '7', '--name', 'Clean', '--dry-run'],
  ['accounts', 'update', '7', '--name', hostile('New')],
  ['accounts', 'move-capacity', '--set', '7=1'],
  ['backup', '--log-level', 'debug'],
]

describe('text from the service and the archive', () => {
  it('controls no terminal and adds no line, in the output of any verb', async () => {
    const { trial, env } = await startHostile()
    await using _ = trial
    await editNewest(trial, edit)
    for (const args of commands(trial.folder)) {
      const { stdout, stderr } = await trial.runAt(tuesday, args, env)
      expect(stdout + stderr, args.join(' ')).not.toBe('')
      expectCleanLines(stdout)
      expectCleanLines(stderr)
    }
  })

  it('steers none with colours either, and gets no colour of its own', async () => {
    const { trial, env } = await startHostile()
    await using _ = trial
    await editNewest(trial, edit)
    for (const args of commands(trial.folder)) {
      const shown = await runOnTerminal(args, { ...trial.env, ...env, TERM: 'xterm' })
      expect(shown).not.toContain('\u001b[32m\r')
      expect(shown).not.toContain('\u001b[32mall good')
      expectCleanLines(shown.replaceAll(ownSequences, ''))
    }
  })

  it('is whole in JSON, where hidden characters are written as escapes', async () => {
    const { trial, env } = await startHostile()
    await using _ = trial
    await editNewest(trial, edit)
    for (const args of [['show'], ['status'], ['diff', 'latest~1'], ['whoami'], ['find', 'Sal']]) {
      const { stdout } = await trial.runAt(tuesday, [...args, '--json'], env)
      expectCleanLines(stdout)
      expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(steering).slice(1, -1))
    }
    const { stdout } = await trial.runAt(tuesday, ['show', '--json'], env)
    expect(JSON.parse(stdout)).toMatchObject({ account: { name: hostile('Edited') } })
  })

  it('is whole in the files of a restore, and clean in their names', async () => {
    const { trial, env } = await startHostile()
    await using _ = trial
    const folder = join(trial.folder, 'opened')
    await trial.runAt(tuesday, ['restore', '--pretty', folder], env)
    const names = await readdir(folder, { recursive: true })
    expect(names.filter((name) => name.includes('Sales'))).toHaveLength(1)
    for (const name of names) expect(name).toMatch(/^[\x20-\x7e]+$/)
    const opened = names.find((name) => name.includes('Sales')) ?? ''
    const { hit } = JSON.parse(await readFile(join(folder, opened), 'utf8'))
    expect(hit._source.dashboard.title).toBe(hostile('Sales'))
  })

  it('does not flood a terminal, an error or the log when it is a megabyte long', async () => {
    const endless = 'A'.repeat(1_000_000)
    await using trial = await startTrial({ accounts: [shop({ accountName: endless })] })
    for (const args of [['whoami'], ['doctor'], ['accounts', 'list'], ['backup']]) {
      const { stdout, stderr } = await trial.run(args, { DASHKEEP_ACCOUNT_ID: '1' })
      expect(stdout + stderr).toContain('AAA')
      expect(stdout.length + stderr.length).toBeLessThan(10_000)
    }
  })
})

describe('a notification', () => {
  const markup = '<!channel> *bold* [link](http://evil.example) & ```'

  it('gets no line, mention, link or fence from an account name', async () => {
    await using receiver = await startReceiver()
    const accountName = `${markup}${hostile('x')}`
    await using trial = await startTrial({ accounts: [shop({ accountName })] })
    const { stderr } = await trial.runAt(monday, ['backup'], {
      DASHKEEP_ACCOUNT_ID: '1',
      DASHKEEP_SLACK_URL: `${receiver.url}/slack`,
      DASHKEEP_WEBHOOK_URL: `${receiver.url}/hook`,
      DASHKEEP_PING_URL: `${receiver.url}/ping`,
    })
    const [slack] = receiver.jsonAt('/slack')
    const [hook] = receiver.jsonAt('/hook')
    const ping = receiver.received.find(({ path }) => path === '/ping/fail')?.body ?? ''
    for (const text of [slack?.text, hook?.text, ping, stderr]) expectCleanLines(text as string)
    expect(slack?.text).toMatch(/^dashkeep: [^\n`]+\n```\n[^`]*(`dashkeep [^`]*`[^`]*)?\n```$/)
    expect(slack?.text).toContain("&lt;!channel&gt; *bold* [link](http://evil.example) &amp; '''")
    expect(hook?.text).toContain(markup)
    const { accounts } = hook as { accounts: { reasons: string[] }[] }
    expect(accounts[0]?.reasons).toEqual([expect.stringContaining(markup)])
    expectClean(JSON.stringify(hook?.accounts))
    for (const line of jsonLines(stderr)) {
      for (const value of Object.values(line)) if (typeof value === 'string') expectClean(value)
    }
  })

  it('of status gets no line from an account name, and stays short', async () => {
    await using receiver = await startReceiver()
    for (const accountName of [hostile('x'), 'A'.repeat(1_000_000)]) {
      await using trial = await startTrial({ accounts: [shop({ accountName })] })
      await trial.runAt(monday, ['backup'])
      const later = new Date(monday.getTime() + 48 * 3600_000)
      const changes = { DASHKEEP_PING_URL: `${receiver.url}/ping` }
      const args = ['status', '--max-age', '26h', '--ping']
      expect((await trial.runAt(later, args, changes)).exitCode).toBe(4)
      const { path, body = '' } = receiver.received.at(-1) ?? {}
      expect(path).toBe('/ping/fail')
      expectCleanLines(body)
      expect(body.split('\n').slice(1, 3)).toEqual([
        expect.stringMatching(/^stale /),
        expect.stringMatching(/^status of /),
      ])
      expect(body.length).toBeLessThan(15_000)
    }
  })

  it('stays short when the name is a megabyte long', async () => {
    await using receiver = await startReceiver()
    const accountName = 'A'.repeat(1_000_000)
    await using trial = await startTrial({ accounts: [shop({ accountName })] })
    await trial.runAt(monday, ['backup'], {
      DASHKEEP_ACCOUNT_ID: '1',
      DASHKEEP_SLACK_URL: `${receiver.url}/slack`,
      DASHKEEP_WEBHOOK_URL: `${receiver.url}/hook`,
      DASHKEEP_PING_URL: `${receiver.url}/ping`,
    })
    expect(receiver.jsonAt('/slack')[0]?.text).toContain('A…A')
    expect(receiver.received.length).toBe(4)
    for (const { body } of receiver.received) expect(body.length).toBeLessThan(15_000)
  })
})
