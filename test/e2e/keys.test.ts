import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { flipBit } from '../archive/memory-store.ts'
import { accountsOf } from './run-dashkeep.ts'
import { accountsFrom, shop, shopId, shortLimits, startTrial, type Trial } from './trial.ts'

const day = 24 * 3600_000
const begin = new Date('2026-11-02T03:00:00Z')

/** The environment of a configuration that encrypts with a passphrase. */
async function withPassphrase(trial: Trial, passphrase: string, limits = {}) {
  const config = {
    encryption: { passphrase: { env: 'BACKUP_PASSPHRASE' } },
    limits: { ...shortLimits, ...limits },
  }
  const name = `${passphrase.replaceAll(' ', '-')}.yaml`
  // A passphrase costs time for each file.
  const types = { DASHKEEP_TYPES: 'search' }
  const path = await trial.write(name, config)
  return { DASHKEEP_CONFIG: path, BACKUP_PASSPHRASE: passphrase, ...types }
}

async function backup(trial: Trial, days: number, env: Record<string, string>) {
  const now = new Date(begin.getTime() + days * day)
  const { exitCode, stdout } = await trial.runAt(now, ['backup', '--json'], env)
  return { exitCode, ...(accountsOf(stdout)[0] as { result: string; snapshot: string }) }
}

async function newKey() {
  const identity = await generateX25519Identity()
  return {
    seal: { DASHKEEP_RECIPIENTS: await identityToRecipient(identity) },
    open: { DASHKEEP_IDENTITY: identity },
  }
}

/** A snapshot of yesterday encrypted for one key, and one of today for another. */
async function startWithTwoKeys() {
  const trial = await startTrial()
  const [old, young] = [await newKey(), await newKey()]
  const first = await backup(trial, 0, old.seal)
  const second = await backup(trial, 1, young.seal)
  return { trial, old, young, first, second }
}

describe('a changed passphrase', () => {
  it('stores new files', async () => {
    await using trial = await startTrial()
    const old = await withPassphrase(trial, 'of old')
    const young = await withPassphrase(trial, 'of today')
    await backup(trial, 0, old)
    const stored = await backup(trial, 1, young)
    expect(stored).toMatchObject({ exitCode: 0, result: 'full', warnings: [] })
    expect(await backup(trial, 2, young)).toMatchObject({ exitCode: 0, result: 'unchanged' })
    const { exitCode, stdout } = await trial.run(['verify', '--json'], young)
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ files: 2, opened: 1, sealed: 1 })
  })

  it('is found by the header of one file when the files are not proven in this run', async () => {
    await using trial = await startTrial()
    const limits = { proveEachRunBytes: 1 }
    await backup(trial, 0, await withPassphrase(trial, 'of old', limits))
    const young = await withPassphrase(trial, 'of today', limits)
    expect(await backup(trial, 1, young)).toMatchObject({ exitCode: 0, result: 'full' })
  })
})

describe('a changed key', () => {
  it('does not fail a run that cannot open the files before to name changes', async () => {
    await using trial = await startTrial()
    const [old, young] = [await newKey(), await newKey()]
    await backup(trial, 0, old.seal)
    const document = JSON.parse(Buffer.from(trial.sandbox.objects(shopId, 'search')).toString())
    document.hits[0]._source.search.title = 'Renamed'
    trial.sandbox.setObjects(shopId, 'search', JSON.stringify(document))
    expect(await backup(trial, 1, { ...young.seal, ...young.open })).toMatchObject({
      exitCode: 0,
      result: 'changed',
      warnings: [],
    })
  })
})

describe('verify with a key for some snapshots only', () => {
  it('proves the content of those and the stored bytes of the rest, and says how many', async () => {
    const { trial, old, young } = await startWithTwoKeys()
    await using _trial = trial
    for (const { open } of [old, young]) {
      const { exitCode, stdout } = await trial.run(['verify'], open)
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/^verified 2 snapshots with 6 stored files/)
      expect(stdout).toMatch(
        /^3 encrypted files checked with content, 3 only as stored bytes: the configured key/m,
      )
      const json = JSON.parse((await trial.run(['verify', '--json'], open)).stdout)
      expect(json).toMatchObject({ files: 6, opened: 3, sealed: 3, defects: 0 })
    }
  })

  it('finds damage in what it cannot open', async () => {
    const { trial, young, first } = await startWithTwoKeys()
    await using _trial = trial
    const key = `${shopId}/${first.snapshot}/search.json.zst.age`
    const bytes = (await trial.files()).get(key) ?? expect.fail(`${key} is not there`)
    await trial.write(`archive/${key}`, Buffer.from(flipBit(bytes, 8 * 400)))
    const { exitCode, stdout } = await trial.run(['verify', '--json'], young.open)
    expect(exitCode).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({ opened: 3, sealed: 2, report: [{ key }] })
  })

  it('exits 2 when the key opens none of the files, once it has proven what is stored', async () => {
    const { trial } = await startWithTwoKeys()
    await using _trial = trial
    const { open } = await newKey()
    const { exitCode, stdout, stderr } = await trial.run(['verify'], open)
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(/^verified 2 snapshots with 6 stored files/)
    expect(stderr).toMatch(
      /^error: Cannot decrypt \S+: the configured key does not open it\nhint: /m,
    )
  })

  it('opens snapshots for a key and those with a passphrase when both are configured', async () => {
    await using trial = await startTrial()
    const key = await newKey()
    await backup(trial, 0, key.seal)
    const env = await withPassphrase(trial, 'of today')
    await backup(trial, 1, env)
    const { exitCode, stdout } = await trial.run(['verify', '--json'], { ...env, ...key.open })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ opened: 4, sealed: 0 })
  })
})

describe('restore --drill with a key for some accounts only', () => {
  async function startWithTwoAccounts() {
    const accounts = [shop(), ...accountsFrom([200])]
    const trial = await startTrial({ accounts })
    const [old, young] = [await newKey(), await newKey()]
    await backup(trial, 0, old.seal)
    await backup(trial, 1, { ...young.seal, DASHKEEP_API_TOKEN: 'token-200' })
    return { trial, old, young }
  }

  it('restores those, names the rest, and exits 3', async () => {
    const { trial, young } = await startWithTwoAccounts()
    await using _trial = trial
    const { exitCode, stdout } = await trial.run(['restore', '--drill', '--json'], young.open)
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout).accounts).toMatchObject([
      {
        accountId: shopId,
        result: 'unopened',
        reasons: [expect.stringContaining('the configured key does not open it')],
      },
      { accountId: 200, result: 'restored' },
    ])
    const text = (await trial.run(['restore', '--drill'], young.open)).stdout
    expect(text).toMatch(/^unopened 100001: Cannot decrypt/m)
    expect(text).toContain('1 of 2 accounts restored')
  })

  it('exits 2 when the key opens none', async () => {
    const { trial } = await startWithTwoAccounts()
    await using _trial = trial
    const { open } = await newKey()
    const { exitCode, stderr } = await trial.run(['restore', '--drill'], open)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('the configured key does not open it')
  })
})

describe('history, find and diff with a key for some snapshots only', () => {
  const verbs = [
    ['history', 'Shop overview'],
    ['find', 'Shop overview', '--all'],
  ]

  it.each(verbs)('%s %s reads what it opens, names the rest, and exits 3', async (...verb) => {
    const { trial, young, first } = await startWithTwoKeys()
    await using _trial = trial
    const args = verb.filter((word) => word !== undefined)
    const { exitCode, stdout } = await trial.run([...args, '--json'], young.open)
    expect(exitCode).toBe(3)
    const { problems, objects, events } = JSON.parse(stdout)
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) {
      expect(problem).toMatch(`Cannot decrypt ${shopId}/${first.snapshot}/`)
    }
    expect(objects ?? events).not.toEqual([])
  })

  it.each([...verbs, ['history', 'dashboard:shop-overview']])(
    '%s %s exits 2 when the key opens nothing',
    async (...verb) => {
      const { trial } = await startWithTwoKeys()
      await using _trial = trial
      const { open } = await newKey()
      const { exitCode, stderr } = await trial.run(
        verb.filter((word) => word !== undefined),
        open,
      )
      expect(exitCode).toBe(2)
      expect(stderr).toContain('the configured key does not open it')
    },
  )

  it('diff needs no key for types without a change', async () => {
    const { trial, young, first, second } = await startWithTwoKeys()
    await using _trial = trial
    const { exitCode } = await trial.run(['diff', first.snapshot, second.snapshot], young.open)
    expect(exitCode).toBe(0)
  })
})
