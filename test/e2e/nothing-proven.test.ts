import { mkdir, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { shopId, startTrial, types } from './trial.ts'

const verbs = ['verify', 'restore --drill']
const day = 24 * 3600_000
const begin = new Date('2026-11-02T03:00:00Z')

/** An archive with one whole snapshot and two unchanged ones. */
async function startWithThree() {
  const trial = await startTrial()
  for (const days of [0, 1, 2]) {
    await trial.runAt(new Date(begin.getTime() + days * day), ['backup'])
  }
  return trial
}

describe.each(verbs)('%s', (verb) => {
  const args = verb.split(' ')

  it.each([
    ['that is not there', async (_archive: string) => {}],
    ['that is empty', async (archive: string) => void (await mkdir(archive))],
  ])('exits 3 for an archive %s, and says that nothing was proven', async (_name, make) => {
    await using trial = await startTrial()
    await rm(trial.archive, { recursive: true, force: true })
    await make(trial.archive)
    const { exitCode, stdout } = await trial.run(args)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^nothing was proven: file:\S+ holds no snapshot\n {2}hint: /)
    const json = await trial.run([...args, '--json'])
    expect(json.exitCode).toBe(3)
    expect(JSON.parse(json.stdout)).toMatchObject({
      nothingProven: expect.stringContaining('holds no snapshot'),
    })
  })

  it('exits 3 for an account without a snapshot', async () => {
    await using trial = await startWithThree()
    const { exitCode, stdout } = await trial.run([...args, '--account', '7'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain('holds no snapshot of account 7')
  })
})

describe('verify', () => {
  it('exits 3 for an archive that holds the remains of a run and no snapshot', async () => {
    await using trial = await startTrial()
    const folder = `${trial.archive}/${shopId}/20261102T030000Z-000000`
    await mkdir(folder, { recursive: true })
    await writeFile(`${folder}/search.json.zst`, 'some bytes')
    const { exitCode, stdout } = await trial.run(['verify'])
    expect(exitCode).toBe(3)
    expect(stdout).toContain('holds no snapshot')
  })

  it('exits 3 when no snapshot is as young as --since asks', async () => {
    await using trial = await startWithThree()
    const { exitCode, stdout } = await trial.run(['verify', '--since', '2999-01-01'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/^nothing was proven: .* holds no snapshot taken since 2999-01-01$/m)
  })

  it('takes at least one snapshot as a sample', async () => {
    await using trial = await startWithThree()
    for (const args of [[], ['--since', '2026-11-04']]) {
      const { exitCode, stdout } = await trial.run([
        ...['verify', '--json', '--sample', '0.000001%'],
        ...args,
      ])
      expect(exitCode).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ snapshots: 1, files: types.length })
    }
  })

  it('counts snapshots and stored files each by themselves', async () => {
    await using trial = await startWithThree()
    const { stdout } = await trial.run(['verify'])
    expect(stdout).toMatch(/^verified 3 snapshots with 3 stored files, .* read: every file/)
    const json = JSON.parse((await trial.run(['verify', '--json'])).stdout)
    expect(json).toMatchObject({ snapshots: 3, files: 3, sealed: 0 })
  })
})
