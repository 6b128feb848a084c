import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree, startTrial, type Trial } from './trial.ts'

/** A trial with two snapshots, and a second store beside the archive. */
async function startWithCopy() {
  const trial = await startTrial()
  await trial.runAt(new Date('2026-11-19T12:00:00Z'), ['backup'])
  await trial.runAt(new Date('2026-11-20T12:00:00Z'), ['backup', '--full'])
  const copy = join(trial.folder, 'copy')
  return { trial, copy, run: trial.run }
}

async function flipByte(root: string, key: string): Promise<void> {
  const bytes = (await readTree(root)).get(key) as Buffer
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  await writeFile(join(root, key), bytes)
}

async function dataFile({ files }: Trial): Promise<string> {
  return [...(await files()).keys()].sort().find((key) => key.includes('dashboard')) as string
}

describe('copy', () => {
  it('makes an identical folder, and says the second time that everything is there', async () => {
    const { trial, copy, run } = await startWithCopy()
    await using _ = trial
    const dry = await run(['copy', '--to', copy, '--dry-run'])
    expect(dry.stdout).toMatch(/^copy 100001\/\S+\ncopy 100001\/\S+\n2 snapshots to copy\n$/)
    expect(await readTree(copy)).toEqual(new Map())
    const first = await run(['copy', '--to', copy])
    expect(first.exitCode).toBe(0)
    expect(first.stdout).toMatch(
      /^copied 2 snapshots to file:\S+: 8 files, [\d.]+ kB; 0 were already there/,
    )
    expect(await readTree(copy)).toEqual(await trial.files())
    const again = await run(['copy', '--to', copy, '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ there: 2, missing: 0, files: 0, defects: [] })
  })

  it('takes the name of a configured copy, which every verb reads with --store', async () => {
    const { trial, run } = await startWithCopy()
    await using _ = trial
    const config = await trial.write('copies.yaml', {
      copies: [{ name: 'offsite', url: './second' }],
    })
    expect((await run(['copy', '--to', 'offsite', '--config', config])).exitCode).toBe(0)
    const verified = await run(['verify', '--store', 'offsite', '--config', config])
    expect(verified.stdout).toMatch(/^verified 2 snapshots/)
    expect(await readTree(join(trial.folder, 'second'))).toEqual(await trial.files())
  })

  it('neither spreads nor hides a damaged file, and repairs it from a copy made before', async () => {
    const { trial, copy, run } = await startWithCopy()
    await using _ = trial
    await run(['copy', '--to', copy])
    const sound = await trial.files()
    const key = await dataFile(trial)
    await flipByte(trial.archive, key)
    const other = await run(['copy', '--to', join(trial.folder, 'other')])
    expect(other.exitCode).toBe(5)
    expect(other.stdout).toContain(`${key} in the archive: its SHA-256 is`)
    expect((await readTree(join(trial.folder, 'other'))).has(key)).toBe(false)

    expect((await run(['verify'])).exitCode).toBe(5)
    const unasked = await run(['copy', '--to', copy, '--repair'])
    expect(unasked.exitCode).toBe(2)
    expect((await trial.files()).get(key)).not.toEqual(sound.get(key))
    const repaired = await run(['copy', '--to', copy, '--repair', '--yes'])
    expect(repaired.exitCode).toBe(0)
    expect(repaired.stdout).toContain('replaced 1 file, each read back')
    expect(await trial.files()).toEqual(sound)
    expect((await run(['verify'])).exitCode).toBe(0)
  })

  it('repairs a copy from the archive when the two change places', async () => {
    const { trial, copy, run } = await startWithCopy()
    await using _ = trial
    await run(['copy', '--to', copy])
    const key = await dataFile(trial)
    await flipByte(copy, key)
    expect((await run(['verify', '--store', copy])).exitCode).toBe(5)
    const args = ['copy', '--store', copy, '--to', trial.archive, '--repair', '--yes', '--json']
    const { stdout, exitCode } = await run(args)
    expect(JSON.parse(stdout)).toMatchObject({ replaced: [key], failed: [] })
    expect(exitCode).toBe(0)
    expect(await readTree(copy)).toEqual(await trial.files())
  })

  it('says that a damaged file cannot be replaced when the copy has lost it, too', async () => {
    const { trial, copy, run } = await startWithCopy()
    await using _ = trial
    await run(['copy', '--to', copy])
    const key = await dataFile(trial)
    await flipByte(trial.archive, key)
    await rm(join(copy, key))
    const { stdout, exitCode } = await run(['copy', '--to', copy, '--repair', '--yes'])
    expect(stdout).toContain('the copy cannot replace it: it is not there')
    expect(exitCode).toBe(5)
  })

  it.each([
    ['the archive itself', (trial: Trial) => trial.archive, 'that is the archive itself'],
    [
      'the archive by another path',
      (trial: Trial) => pathToFileURL(`${trial.folder}/x/../archive`).href,
      'that is the archive itself',
    ],
    [
      'a folder in the archive',
      (trial: Trial) => join(trial.archive, 'copy'),
      'is inside the archive',
    ],
    ['a folder around the archive', (trial: Trial) => trial.folder, 'it contains the archive'],
    ['a name that no copy has', () => 'nowhere', 'neither an address nor a configured store'],
  ])('refuses %s', async (_what, to, message) => {
    const { trial, run } = await startWithCopy()
    await using _ = trial
    const { exitCode, stderr } = await run(['copy', '--to', to(trial)])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })

  it('refuses a symbolic link that leads to the archive', async () => {
    const { trial, run } = await startWithCopy()
    await using _ = trial
    const link = join(trial.folder, 'link')
    await symlink(trial.archive, link)
    const { exitCode, stderr } = await run(['copy', '--to', link])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('that is the archive itself')
  })

  it('names files that the archive lost since it was copied', async () => {
    const { trial, copy, run } = await startWithCopy()
    await using _ = trial
    await run(['copy', '--to', copy])
    const key = await dataFile(trial)
    await rm(join(trial.archive, key))
    const { exitCode, stdout } = await run(['copy', '--to', copy])
    expect(exitCode).toBe(5)
    expect(stdout).toContain(`${key} in the archive: it is not there`)
  })

  it('proves nothing, with exit code 3, when the archive is empty', async () => {
    await using trial = await startTrial()
    const { exitCode, stdout } = await trial.run(['copy', '--to', join(trial.folder, 'copy')])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^nothing was proven: /)
  })
})

describe('configured copies', () => {
  const copies = [{ name: 'offsite', url: './second' }]

  it('get each good backup, and status shows when they are complete', async () => {
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', { copies })
    const { exitCode } = await trial.run(['backup', '--config', config])
    expect(exitCode).toBe(0)
    expect(await readTree(join(trial.folder, 'second'))).toEqual(await trial.files())
    const status = await trial.run(['status', '--config', config])
    expect(status.stdout).toMatch(/^offsite +100001 +complete +\S+ +.* +0$/m)
    expect(status.exitCode).toBe(0)
  })

  it('that cannot be written make the backup exit 3, name the cause, and fail nothing', async () => {
    await using trial = await startTrial()
    await trial.write('second', 'a file where the folder should be')
    const config = await trial.write('copies.yaml', { copies })
    const { exitCode, stdout } = await trial.run(['backup', '--config', config])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^warning not copied to offsite: Cannot /m)
    expect(await trial.snapshots()).toHaveLength(1)
    const json = await trial.run(['backup', '--json', '--config', config])
    expect(JSON.parse(json.stdout)).toMatchObject({
      accounts: [{ result: 'unchanged', warnings: [expect.stringContaining('not copied')] }],
    })
    const status = await trial.run(['status', '--config', config])
    expect(status.stdout).toMatch(/^unreadable copy offsite: Cannot /m)
    expect(status.exitCode).toBe(3)
  })

  it('are stale, with exit code 4, when what they lack is too old', async () => {
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', { copies })
    await trial.runAt(new Date('2026-11-18T12:00:00Z'), ['backup', '--config', config])
    await trial.runAt(new Date('2026-11-20T12:00:00Z'), ['backup'])
    const args = ['status', '--max-age', '26h', '--config', config]
    const behind = await trial.runAt(new Date('2026-11-20T13:00:00Z'), args)
    expect(behind.stdout).toMatch(/^offsite +100001 +stale +20261118T\S+ +2 days ago +1$/m)
    expect(behind.exitCode).toBe(4)
    const json = await trial.runAt(new Date('2026-11-20T13:00:00Z'), [...args, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      copies: [{ name: 'offsite', accounts: [{ accountId: 100001, missing: 1, stale: true }] }],
    })
  })

  it.each([
    [
      'two with one name',
      [
        { name: 'a', url: './x' },
        { name: 'a', url: './y' },
      ],
      'copies.1.name',
    ],
    [
      'two at one address',
      [
        { name: 'a', url: './x' },
        { name: 'b', url: './x/' },
      ],
      'copies.1.url',
    ],
    [
      'a lock in a folder',
      [{ name: 'a', url: './x', lock: { mode: 'governance', duration: '1d' } }],
      'copies.0.lock',
    ],
    [
      'a folder in that of another',
      [
        { name: 'a', url: './x' },
        { name: 'b', url: './x/y' },
      ],
      'copies.1.url',
    ],
    ['the name of the archive', [{ name: 'archive', url: './x' }], 'copies.0.name'],
    ['a name with a slash', [{ name: 'a/b', url: './x' }], 'copies.0.name'],
  ])('refuses %s', async (_what, copies, place) => {
    await using trial = await startTrial()
    const config = await trial.write('copies.yaml', { copies })
    const { exitCode, stderr } = await trial.run(['config', 'check', '--config', config])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(place)
  })
})
