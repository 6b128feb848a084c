import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { readTree, shopId, startTrial, types } from './trial.ts'

/** A folder that `restore --pretty` has written, and files of somebody else beside it. */
async function startWithFolder() {
  const trial = await startTrial()
  await trial.run(['backup'])
  const folder = join(trial.folder, 'git')
  const elsewhere = join(trial.folder, 'elsewhere')
  await mkdir(elsewhere)
  for (const name of ['slow-requests.json', 'mine.json']) {
    await writeFile(join(elsewhere, name), 'theirs')
  }
  const pretty = () => trial.run(['restore', '--pretty', folder])
  expect((await pretty()).exitCode).toBe(0)
  return {
    trial,
    folder,
    elsewhere,
    pretty,
    /** The first search is deleted in the account. */
    async loseOne() {
      trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
      await trial.run(['backup'])
    },
    async expectTheirsUntouched() {
      const files = [...(await readTree(elsewhere))].map(([name, bytes]) => [name, String(bytes)])
      expect(files.sort()).toEqual([
        ['mine.json', 'theirs'],
        ['slow-requests.json', 'theirs'],
      ])
    },
    [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose](),
  }
}

/** The first of the sample account's searches. */
const lost = 'search/failed-orders.json'
const list = 'dashkeep.sha256'

it('restore --pretty leaves a file alone that is equal already', async () => {
  await using story = await startWithFolder()
  const { folder, pretty } = story
  const inodes = async () => {
    const names = [...(await readTree(folder)).keys()].sort()
    const files = names.map(async (name) => [name, (await lstat(join(folder, name))).ino])
    return new Map<string, number>((await Promise.all(files)) as [string, number][])
  }
  const before = await inodes()
  expect((await pretty()).exitCode).toBe(0)
  expect(await inodes()).toEqual(before)
  await story.loseOne()
  expect((await pretty()).exitCode).toBe(0)
  const after = await inodes()
  const changed = [...before].filter(([name, inode]) => after.get(name) !== inode)
  expect(changed.map(([name]) => name)).toEqual([list, lost])
})

describe('restore --pretty follows no link that somebody planted', () => {
  it.each(types)('in the place of the folder of the %s objects', async (type) => {
    await using story = await startWithFolder()
    const { folder, elsewhere, pretty } = story
    await rename(join(folder, type), join(folder, 'moved'))
    await symlink(elsewhere, join(folder, type))
    await story.loseOne()
    const { exitCode, stderr } = await pretty()
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(
      new RegExp(`^error: Cannot write ${folder}/${type}: it is a symbolic link\nhint: `),
    )
    await story.expectTheirsUntouched()
  })

  it('in the place of a file, finished or not, which is replaced', async () => {
    await using story = await startWithFolder()
    const { folder, elsewhere, pretty } = story
    const before = await readTree(folder)
    const victim = join(elsewhere, 'mine.json')
    await rm(join(folder, lost))
    for (const name of [lost, `${lost}.part`, 'dashkeep.json.part', `${list}.part`]) {
      await symlink(victim, join(folder, name))
    }
    expect((await pretty()).exitCode).toBe(0)
    await story.expectTheirsUntouched()
    expect(await readTree(folder)).toEqual(before)
    expect((await lstat(join(folder, lost))).isFile()).toBe(true)
  })

  it.each(['dashkeep.json', list])('in the place of %s, which is refused', async (name) => {
    await using story = await startWithFolder()
    const { folder, pretty } = story
    await rename(join(folder, name), join(folder, 'moved'))
    await symlink('moved', join(folder, name))
    const { exitCode, stderr } = await pretty()
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`Cannot use ${folder}/${name}: it is a symbolic link`)
    expect(await readlink(join(folder, name))).toBe('moved')
  })

  it('also when it is read back', async () => {
    await using story = await startWithFolder()
    const { trial, folder, elsewhere } = story
    await rename(join(folder, 'search'), join(folder, 'moved'))
    await symlink(elsewhere, join(folder, 'search'))
    const { exitCode, stderr } = await trial.run(['restore', '--from', folder, '--to-service'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`Cannot restore from ${folder}/search: it is a symbolic link`)
  })
})

describe('restore --pretty removes only what it wrote itself', () => {
  it('keeps files of others and edited ones, and names them', async () => {
    await using story = await startWithFolder()
    const { trial, folder, pretty } = story
    await writeFile(join(folder, 'search', 'mine.json'), '{}')
    await story.loseOne()
    await writeFile(join(folder, lost), `${await readFile(join(folder, lost), 'utf8')}\n`)
    const { exitCode, stdout } = await pretty()
    expect(exitCode).toBe(0)
    expect(stdout).toContain(
      `kept 2 files that another program changed or wrote: ${lost}, search/mine.json`,
    )
    const again = await trial.run(['restore', '--pretty', folder, '--json'])
    expect(JSON.parse(again.stdout).written.kept).toEqual([lost, 'search/mine.json'])
  })

  it('lists what it wrote in a file that sha256sum can check', async () => {
    await using story = await startWithFolder()
    const { folder, pretty } = story
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', list], { cwd: folder })
    const lines = (await readFile(join(folder, list), 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(14)
    expect(lines.map((line) => line.slice(66))).toEqual(lines.map((line) => line.slice(66)).sort())
    await story.loseOne()
    expect((await pretty()).stdout).not.toContain('kept')
    const names = [...(await readTree(folder)).keys()]
    expect(names).not.toContain(lost)
    expect(String((await readTree(folder)).get(list))).not.toContain(lost)
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', list], { cwd: folder })
  })

  it('keeps the list of what it does not write this time', async () => {
    await using story = await startWithFolder()
    const { trial, folder, pretty } = story
    const before = await readFile(join(folder, list), 'utf8')
    await trial.run(['restore', '-o', 'dashboard:shop-overview', '--pretty', folder])
    expect(await readFile(join(folder, list), 'utf8')).toBe(before)
    await story.loseOne()
    await pretty()
    expect([...(await readTree(folder)).keys()]).not.toContain(lost)
  })

  it('removes nothing in a folder of an older dashkeep, which had no list', async () => {
    await using story = await startWithFolder()
    const { folder, pretty } = story
    await rm(join(folder, list))
    await story.loseOne()
    const { stdout } = await pretty()
    expect(stdout).toContain(`kept 1 file that another program changed or wrote: ${lost}`)
    expect([...(await readTree(folder)).keys()]).toContain(list)
  })

  it('takes no list that names anything else', async () => {
    await using story = await startWithFolder()
    const { folder, pretty } = story
    const theirs = createHash('sha256').update('theirs').digest('hex')
    const good = await readFile(join(folder, list), 'utf8')
    for (const name of ['../elsewhere/mine.json', '/etc/passwd', 'search/../x.json', 'x.json']) {
      await writeFile(join(folder, list), `${good}${theirs}  ${name}\n`)
      const { exitCode, stderr } = await pretty()
      expect(exitCode).toBe(2)
      expect(stderr).toContain(`Cannot use ${folder}/${list}: it is not what dashkeep writes`)
    }
    await story.expectTheirsUntouched()
  })
})

it.each([
  ['--to', 'out', 'out/search.json.part'],
  ['--ndjson', 'objects.ndjson', 'objects.ndjson.part'],
])('restore %s follows no link in the place of an unfinished file', async (flag, to, part) => {
  await using story = await startWithFolder()
  const { trial, elsewhere } = story
  await mkdir(join(trial.folder, 'out'))
  await symlink(join(elsewhere, 'mine.json'), join(trial.folder, part))
  const { exitCode } = await trial.run(['restore', flag, join(trial.folder, to)])
  expect(exitCode).toBe(0)
  await story.expectTheirsUntouched()
  expect(await lstat(join(trial.folder, part)).catch(() => 'gone')).toBe('gone')
})
