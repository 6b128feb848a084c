import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { readTree, shopId, startTrial, type Trial } from './trial.ts'

const noon = new Date('2026-11-20T12:00:00Z')

function daysLater(days: number): Date {
  return new Date(noon.getTime() + days * 24 * 3600_000)
}

/** An archive with a snapshot of noon, an unchanged one, and one with files of its own. */
async function startWithThree() {
  const trial = await startTrial()
  await trial.runAt(noon, ['backup'])
  await trial.runAt(daysLater(1), ['backup'])
  await trial.runAt(daysLater(2), ['backup', '--full'])
  const run = (...args: string[]) => trial.runAt(daysLater(3), args)
  return { trial, run, snapshots: await trial.snapshots() }
}

/** The proof records of an archive, by the order of their names. */
async function recordsOf(trial: Trial): Promise<Record<string, unknown>[]> {
  const files = [...(await trial.files())].filter(([key]) => key.startsWith('proofs/'))
  const sorted = files.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([, bytes]) => JSON.parse(String(bytes)))
}

/** Changes a byte of a data file of a snapshot. */
async function damage(trial: Trial, snapshot: string): Promise<void> {
  const path = join(trial.archive, String(shopId), snapshot, 'dashboard.json.zst')
  const bytes = (await trial.files()).get(path.slice(trial.archive.length + 1)) as Buffer
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  await writeFile(path, bytes)
}

describe('verify --record', () => {
  it('keeps what it proved, and disturbs no other command', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    const others = [
      ['list', '--json'],
      ['status', '--json'],
      ['prune', '--keep-last', '2', '--json'],
      ['history', '--json', 'Shop overview'],
      ['copy', '--to', join(trial.folder, 'copy'), '--dry-run', '--json'],
    ]
    const outputs = async () => {
      const found: string[] = []
      for (const args of others) found.push((await run(...args)).stdout)
      return found
    }
    const before = await outputs()
    const { exitCode, stdout } = await run('verify', '--record')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^verified 3 snapshots with 6 stored files/)
    expect(stdout).toMatch(/^recorded the result of 1 account in file:\S+\/archive\/proofs$/m)
    expect(await recordsOf(trial)).toMatchObject([
      {
        kind: 'verify',
        accountId: shopId,
        startedAt: daysLater(3).toISOString(),
        result: 'good',
        scope: 'all',
        snapshotCount: 3,
        snapshots,
        files: 6,
        objects: 28,
        equal: 28,
        defects: 0,
      },
    ])
    expect(await outputs()).toEqual(before)
    const again = await run('verify', '--record', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      snapshots: 3,
      recorded: [expect.stringMatching(/^proofs\/100001\/20261123T120000Z-\w{8}-verify\.json$/)],
    })
    expect(await recordsOf(trial)).toHaveLength(2)
    await run('copy', '--to', join(trial.folder, 'copy'))
    const copied = await readTree(join(trial.folder, 'copy'))
    expect([...copied.keys()].filter((key) => key.startsWith('proofs/'))).toEqual([])
  })

  it('records nothing without the option', async () => {
    const { trial, run } = await startWithThree()
    await using _ = trial
    expect((await run('verify')).stdout).not.toContain('recorded')
    expect(JSON.parse((await run('verify', '--json')).stdout)).not.toHaveProperty('recorded')
    expect(await recordsOf(trial)).toEqual([])
  })

  it('records a failure, which is not a proof', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    await damage(trial, snapshots[2] ?? '')
    const { exitCode, stdout } = await run('verify', '--record')
    expect(exitCode).toBe(5)
    expect(stdout).toContain('recorded the result')
    const [record] = await recordsOf(trial)
    expect(record).toMatchObject({ result: 'failed', defects: 1, objects: 28 })
    expect(record?.equal).toBeLessThan(28)
    expect(record?.problems).toEqual([expect.stringMatching(`^${snapshots[2]}: .*dashboard`)])
  })

  it.each([
    ['--since', ['--since', '2026-11-22'], 1],
    ['--sample', ['--sample', '0.000001%'], 1],
    ['names', ['latest', 'latest~1'], 2],
  ])('says with %s that it read some snapshots only', async (_name, args, snapshotCount) => {
    const { trial, run } = await startWithThree()
    await using _ = trial
    expect((await run('verify', '--record', ...args)).exitCode).toBe(0)
    expect(await recordsOf(trial)).toMatchObject([{ scope: 'some', snapshotCount }])
  })

  it('prints its result and exits 3 when the record cannot be stored', async () => {
    const { trial, run } = await startWithThree()
    await using _ = trial
    await writeFile(join(trial.archive, 'proofs'), 'in the way')
    const { exitCode, stdout } = await run('verify', '--record')
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^verified 3 snapshots/)
    expect(stdout).toMatch(/^not recorded: Cannot write \S+\/proofs\/100001\/\S+-verify\.json: /m)
    const json = JSON.parse((await run('verify', '--record', '--json')).stdout)
    expect(json).toMatchObject({ defects: 0, recorded: [], recordError: expect.any(String) })
  })

  it('still exits 5 for damage when the record cannot be stored', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    await damage(trial, snapshots[0] ?? '')
    await writeFile(join(trial.archive, 'proofs'), 'in the way')
    const { exitCode, stdout } = await run('verify', '--record')
    expect(exitCode).toBe(5)
    expect(stdout).toContain('not recorded')
  })

  it('records nothing when there was nothing to prove', async () => {
    const { trial, run } = await startWithThree()
    await using _ = trial
    expect((await run('verify', '--record', '--account', '7')).exitCode).toBe(3)
    expect(await recordsOf(trial)).toEqual([])
  })

  it('records stored bytes of encrypted files, and nothing with the wrong key', async () => {
    await using trial = await startTrial()
    const [key, wrongKey] = [await generateX25519Identity(), await generateX25519Identity()]
    const recipient = await identityToRecipient(key)
    const config = await trial.write('encrypted.yaml', { encryption: { recipients: [recipient] } })
    const run = (args: string[], DASHKEEP_IDENTITY?: string) =>
      trial.run(args, { DASHKEEP_CONFIG: config, DASHKEEP_IDENTITY })
    await run(['backup'])
    const wrong = await run(['verify', '--record'], wrongKey)
    expect(wrong.exitCode).not.toBe(0)
    expect(await recordsOf(trial)).toEqual([])
    expect((await run(['verify', '--record'])).exitCode).toBe(0)
    expect(await recordsOf(trial)).toMatchObject([{ result: 'good', sealed: 3, equal: 0 }])
    await rm(join(trial.archive, 'proofs'), { recursive: true })
    expect((await run(['restore', '--drill', '--record'], key)).exitCode).toBe(0)
    expect(await recordsOf(trial)).toMatchObject([{ kind: 'drill', sealed: 0, equal: 14 }])
  })
})

describe('restore --drill --record', () => {
  it('keeps how many objects came back equal', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    const { exitCode, stdout } = await run('restore', '--drill', '--record')
    expect(exitCode).toBe(0)
    expect(stdout).toContain('recorded the result of 1 account')
    expect(await recordsOf(trial)).toMatchObject([
      {
        kind: 'drill',
        result: 'good',
        scope: 'newest',
        snapshots: [snapshots[2]],
        files: 3,
        objects: 14,
        equal: 14,
        problems: [],
      },
    ])
    const again = await run('restore', '--drill', '--record', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      accounts: [{ result: 'restored' }],
      recorded: [expect.stringMatching(/-drill\.json$/)],
    })
  })

  it('records a failure', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    await damage(trial, snapshots[2] ?? '')
    expect((await run('restore', '--drill', '--record')).exitCode).toBe(5)
    expect(await recordsOf(trial)).toMatchObject([
      { result: 'failed', snapshots: [snapshots[2]], objects: 14, equal: 0, defects: 1 },
    ])
  })

  it('fails when a newer manifest is damaged, although an older snapshot was restored', async () => {
    const { trial, run, snapshots } = await startWithThree()
    await using _ = trial
    const manifest = `${shopId}/${snapshots[2]}/manifest.json`
    await trial.write(`archive/${manifest}`, 'nothing')
    const problem = `Cannot read the manifest ${manifest}: it is not JSON`
    const { exitCode, stdout } = await run('restore', '--drill', '--record')
    expect(exitCode).toBe(5)
    expect(stdout).toMatch(new RegExp(`${snapshots[1]} .* 14 +14 +failed$`, 'm'))
    expect(stdout).toContain(`damaged ${shopId}: ${problem}\n`)
    expect(stdout).toContain('0 of 1 account restored')
    expect(await recordsOf(trial)).toMatchObject([
      {
        ...{ result: 'failed', snapshots: [snapshots[1]], objects: 14, equal: 14 },
        ...{ defects: 1, problems: [problem] },
      },
    ])
    const asJson = await run('restore', '--drill', '--json')
    expect(asJson.exitCode).toBe(5)
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      accounts: [{ result: 'failed', snapshot: snapshots[1], reasons: [], problems: [problem] }],
    })
    expect((await run('status', '--max-proof-age', '8d')).exitCode).toBe(4)
    await trial.runAt(daysLater(3), ['backup'])
    expect((await run('restore', '--drill')).exitCode).toBe(0)
  })

  it('reports a damaged newer manifest also without the key of the older snapshot', async () => {
    const { trial } = await startWithThree()
    await using _ = trial
    const recipient = await identityToRecipient(await generateX25519Identity())
    const encrypt = { DASHKEEP_RECIPIENTS: recipient }
    await trial.runAt(daysLater(3), ['backup'], encrypt)
    await trial.runAt(daysLater(4), ['backup'], encrypt)
    const newest = (await trial.snapshots()).at(-1)
    await trial.write(`archive/${shopId}/${newest}/manifest.json`, 'nothing')
    const args = ['restore', '--drill', '--record']
    const { exitCode, stdout } = await trial.runAt(daysLater(5), args)
    expect(exitCode).toBe(5)
    expect(stdout).toContain('no key is configured')
    expect(await recordsOf(trial)).toMatchObject([
      { result: 'failed', defects: 1, problems: [expect.stringContaining(`${newest}`)] },
    ])
  })

  it('exits 3 when the record cannot be stored', async () => {
    const { trial, run } = await startWithThree()
    await using _ = trial
    await writeFile(join(trial.archive, 'proofs'), 'in the way')
    const { exitCode, stdout } = await run('restore', '--drill', '--record')
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/1 of 1 account restored[\s\S]*not recorded: Cannot write/)
  })

  it('refuses --record without --drill', async () => {
    await using trial = await startTrial()
    const { exitCode, stderr } = await trial.run(['restore', '--to', 'x', '--record'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Cannot restore: --record needs --drill')
  })
})
