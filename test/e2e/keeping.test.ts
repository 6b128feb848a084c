import { existsSync } from 'node:fs'
import { mkdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatBytes } from '../../src/wording.ts'
import { jsonLines } from './run-dashkeep.ts'
import { shop, shopId, startTrial, type Trial } from './trial.ts'

const noon = new Date('2026-11-20T12:00:00Z')

function hoursLater(hours: number): Date {
  return new Date(noon.getTime() + hours * 3600_000)
}

/** An archive with a snapshot of noon and one of two days later, both with files. */
async function startWithTwo() {
  const trial = await startTrial()
  await trial.runAt(noon, ['backup'])
  await trial.runAt(hoursLater(48), ['backup', '--full'])
  const [earlier, later] = (await trial.snapshots()) as [string, string]
  const run: Trial['run'] = (args, changes) => trial.runAt(hoursLater(50), args, changes)
  return { trial, run, earlier, later }
}

describe('status', () => {
  it('is good, with exit code 0, when every account has a fresh snapshot', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const { exitCode, stdout } = await trial.run(['status', '--max-age', '26h', '--json'])
    expect(exitCode).toBe(0)
    const [snapshot] = await trial.snapshots()
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [{ accountId: shopId, state: 'good', snapshot, objects: 14, snapshots: 1 }],
    })
  })

  it('is stale, with exit code 4, when the newest good snapshot is too old', async () => {
    await using trial = await startTrial()
    await trial.runAt(noon, ['backup'])
    const stale = await trial.runAt(hoursLater(27), ['status', '--max-age', '26h'])
    expect(stale.exitCode).toBe(4)
    expect(stale.stdout).toMatch(/ stale .* 1 day ago /)
    expect((await trial.runAt(hoursLater(26), ['status', '--max-age', '26h'])).exitCode).toBe(0)
    expect((await trial.runAt(hoursLater(9999), ['status'])).exitCode).toBe(0)
  })

  it('names a configured account that the archive holds nothing of, and exits 3', async () => {
    await using trial = await startTrial()
    const accounts = [{ name: 'absent', accountId: 7, token: { env: 'DASHKEEP_API_TOKEN' } }]
    const config = await trial.write('one.yaml', { accounts })
    const { exitCode, stdout } = await trial.run(['status', '--json', '--config', config])
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [{ accountId: 7, name: 'absent', state: 'missing', snapshots: 0 }],
    })
  })

  it('shows a suspect snapshot with its reasons, and exits 3', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    trial.sandbox.setObjects(shopId, 'dashboard', [])
    await trial.run(['backup'])
    const { exitCode, stdout } = await trial.run(['status'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/suspect \d+\/\S+: dashboard: 0 objects, down from 3/)
  })

  it('refuses an age that it cannot read', async () => {
    await using trial = await startTrial()
    const { exitCode, stderr } = await trial.run(['status', '--max-age', 'a day'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^error: .*a day.*\nhint: /)
  })
})

/** Bytes of the files of a snapshot's folder. */
function bytesOf(files: ReadonlyMap<string, Buffer>, snapshot: string): number {
  return [...files].reduce(
    (sum, [key, { length }]) => sum + (key.includes(snapshot) ? length : 0),
    0,
  )
}

describe('prune', () => {
  it('shows the plan and removes nothing without --yes', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    const before = await trial.files()
    const { exitCode, stdout } = await run(['prune', '--keep-last', '1'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`keep .*${later} .*among the newest 1, newest good snapshot`))
    const bytes = bytesOf(before, earlier)
    const lines = stdout.split('\n')
    expect(lines.find((line) => line.includes(earlier))).toMatch(
      new RegExp(`^remove .* ${formatBytes(bytes)} +no rule keeps it$`),
    )
    expect(lines.at(-3)).toBe(`1 item to remove, which frees ${formatBytes(bytes)}`)
    expect(lines.at(-2)).toBe('Nothing was removed; add --yes to remove')
    expect(await trial.files()).toEqual(before)
  })

  it('removes what no rule keeps with --yes, and nothing else', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    const bytes = bytesOf(await trial.files(), earlier)
    const { exitCode, stdout } = await run(['prune', '--keep-last', '1', '--yes', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      done: true,
      accounts: [{ snapshots: [{ keep: true }, { snapshot: earlier, bytes }] }],
      bytes,
      removed: 1,
      removedBytes: bytes,
      failed: [],
    })
    expect(await trial.snapshots()).toEqual([later])
    expect((await trial.files()).size).toBe(4)
    expect((await run(['verify'])).exitCode).toBe(0)
    const again = await run(['prune', '--keep-last', '1', '--yes'])
    expect(again.stdout).toContain('Nothing to remove')
  })

  it('removes empty folders that killed runs left more than a day ago, and no others', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    const name = '20200101T031500Z-aaaaaa'
    const ours = [`${shopId}/${name}`, `4711/${name}`, '4712', `pins/${shopId}`, 'proofs/4711']
    const others = ['photos/2020', `photos/${name}`, `${shopId}/notes`, `${shopId}/${earlier}/x`]
    const young = `${shopId}/20200101T031500Z-bbbbbb`
    const longAgo = new Date('2020-01-01')
    for (const folder of [...ours, ...others, young]) {
      const path = join(trial.archive, folder)
      await mkdir(path, { recursive: true })
      if (folder !== young) await utimes(path, longAgo, longAgo)
    }
    const isThere = (folder: string) => existsSync(join(trial.archive, folder))

    expect(await trial.snapshots()).toEqual([earlier, later])
    expect((await run(['verify'])).exitCode).toBe(0)
    expect((await run(['status'])).stdout).not.toMatch(/471[12]/)
    const plan = await run(['prune', '--keep-last', '9'])
    expect(plan.stdout).toContain('5 empty folders from more than a day ago')
    expect(ours.filter(isThere)).toEqual(ours)

    const { exitCode, stdout } = await run(['prune', '--keep-last', '9', '--yes', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ unfinishedWrites: 0, emptyFolders: 5, removed: 0 })
    expect([...ours, '4711', 'pins', 'proofs'].filter(isThere)).toEqual([])
    expect([...others, young].filter(isThere)).toEqual([...others, young])
    expect((await run(['prune', '--keep-last', '9'])).stdout).toContain('Nothing to remove')
    expect(await trial.snapshots()).toEqual([earlier, later])
  })

  it('removes proof records that are 400 days older than the newest', async () => {
    const { trial, run } = await startWithTwo()
    await using _trial = trial
    const names = ['20250101T051500Z', '20260120T051500Z', '20261115T051500Z'].map(
      (time) => `proofs/${shopId}/${time}-4f2a1c00-verify.json`,
    )
    await mkdir(join(trial.archive, 'proofs', String(shopId)), { recursive: true })
    for (const name of names) await writeFile(join(trial.archive, name), '{}')
    const proofs = async () =>
      [...(await trial.files()).keys()].filter((key) => names.includes(key))

    const named = await run(['prune', '--remove', (await trial.snapshots())[0] ?? ''])
    expect(named.stdout).not.toContain('proof')
    const plan = await run(['prune', '--keep-last', '9'])
    expect(plan.stdout).toContain('1 proof record 400 days older than the newest')
    expect(await proofs()).toEqual(names)
    const json = await run(['prune', '--keep-last', '9', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ done: false, oldProofs: 1 })
    const { stdout } = await run(['prune', '--keep-last', '9', '--yes'])
    expect(stdout).toContain('removed 0 folders and 1 other item, 0 B freed')
    expect(await proofs()).toEqual(names.slice(1))
  })

  it('follows the configured rules, which flags replace', async () => {
    const { trial, run, earlier } = await startWithTwo()
    await using _trial = trial
    const config = await trial.write('keep.yaml', { retention: { daily: 7 } })
    const kept = await run(['prune', '--config', config, '--json'])
    expect(kept.stdout).not.toContain('"keep":false')
    const flags = await run(['prune', '--config', config, '--keep-last', '1', '--json'])
    expect(JSON.parse(flags.stdout)).toMatchObject({
      accounts: [
        {
          snapshots: [
            { keep: true },
            { snapshot: earlier, keep: false, reasons: ['no rule keeps it'] },
          ],
        },
      ],
    })
  })

  it('refuses to go on without a rule, or with one that keeps nothing', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    for (const args of [[], ['--keep-last', '0'], ['--keep-daily', 'x'], ['--keep-within', '?']]) {
      const { exitCode, stderr } = await trial.run(['prune', ...args, '--yes'])
      expect([args, exitCode]).toEqual([args, 2])
      expect(stderr).toMatch(/^error: /)
    }
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('refuses, with exit code 3, while the newest snapshot is suspect', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    trial.sandbox.setObjects(shopId, 'dashboard', [])
    await run(['backup'])
    const { exitCode, stdout } = await run(['prune', '--keep-last', '1', '--yes'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain(`refused ${shopId}: removes no snapshot`)
    expect((await trial.snapshots()).slice(0, 2)).toEqual([earlier, later])
  })
})

describe('an archive that lost files of its newest snapshot', () => {
  const harms: [string, (path: string) => Promise<void>][] = [
    ['a file is gone', (path) => rm(path)],
    ['a file is cut short', (path) => truncate(path, 10)],
    ['the whole folder is gone that it shares', (path) => rm(dirname(path), { recursive: true })],
  ]

  it.each(harms)('is damaged in status, and prune removes nothing, when %s', async (_, harm) => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    await run(['backup'])
    await harm(join(trial.archive, String(shopId), later, 'dashboard.json.zst'))
    const status = await run(['status', '--json'])
    expect(status.exitCode).toBe(3)
    const problem = `files of snapshot ${later} are missing or cut short`
    expect(JSON.parse(status.stdout)).toMatchObject({
      accounts: [{ state: 'damaged', problems: [problem] }],
    })
    const prune = await run(['prune', '--keep-last', '1', '--yes'])
    expect(prune.exitCode).toBe(3)
    expect(await trial.snapshots()).toContain(earlier)
    expect((await run(['backup'])).exitCode).toBe(3)
    expect((await run(['status'])).exitCode).toBe(0)
  })
})

describe('a type that was taken out of the configuration', () => {
  it('keeps its last backup through every prune by rules', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    const narrow = { DASHKEEP_TYPES: 'search' }
    await run(['backup'], narrow)
    const { exitCode, stdout } = await run(['prune', '--keep-last', '1', '--yes'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(
      new RegExp(`keep .*${later} .*newest good snapshot with visualization, dashboard`),
    )
    expect(await trial.snapshots()).not.toContain(earlier)
    expect((await run(['verify', later])).exitCode).toBe(0)
  })
})

describe('pin and unpin', () => {
  it('hold a snapshot against every rule, and let it go again', async () => {
    const { trial, run, earlier, later } = await startWithTwo()
    await using _trial = trial
    const pinned = await run(['pin', earlier, '--note', 'before the move'])
    expect(pinned.stdout).toBe(`pinned ${shopId}/${earlier}\n`)
    await run(['prune', '--keep-last', '1', '--yes'])
    expect(await trial.snapshots()).toEqual([earlier, later])
    await run(['unpin', earlier])
    await run(['prune', '--keep-last', '1', '--yes'])
    expect(await trial.snapshots()).toEqual([later])
  })

  it('know only snapshots that are there', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const { exitCode, stderr } = await trial.run(['pin', '20200101T000000Z-000000'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('the archive does not hold it')
    expect((await trial.files()).size).toBe(4)
  })
})

describe('verify', () => {
  it('takes only snapshots since a date, or since some time ago', async () => {
    const { trial, run } = await startWithTwo()
    await using _trial = trial
    const count = async (...args: string[]) => {
      const { stdout } = await run(['verify', '--json', ...args])
      return (jsonLines(stdout)[0] as { snapshots: number }).snapshots
    }
    expect(await count()).toBe(2)
    expect(await count('--since', '24h')).toBe(1)
    expect(await count('--since', '7d')).toBe(2)
    expect(await count('--since', '2020-01-01')).toBe(2)
    expect(await count('--since', '2999-01-01')).toBe(0)
    expect(await count('--sample', '100%')).toBe(2)
  })

  it('refuses what is no date and no share', async () => {
    await using trial = await startTrial()
    for (const args of [
      ['--since', 'soon'],
      ['--sample', '10'],
      ['--sample', '0%'],
    ]) {
      const { exitCode, stderr } = await trial.run(['verify', ...args])
      expect(exitCode).toBe(2)
      expect(stderr).toContain(args[1])
    }
  })

  it('finds damage in an old snapshot through every one that shares its files', async () => {
    await using trial = await startTrial({ accounts: [shop()] })
    await trial.run(['backup'])
    await trial.run(['backup'])
    const [first, second] = await trial.snapshots()
    const key = `${shopId}/${first}/dashboard.json.zst`
    const bytes = (await trial.files()).get(key) as Buffer
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
    await trial.write(`archive/${key}`, bytes)
    const { exitCode, stdout } = await trial.run(['verify', second as string, '--json'])
    expect(exitCode).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({ report: [{ snapshot: second, key }] })
  })
})
