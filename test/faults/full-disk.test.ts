import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createDirectoryStore } from '../../src/store/directory/store.ts'
import { type Answers, exportBody } from '../archive/scripted-source.ts'
import { spawnDashkeep } from '../e2e/spawn-dashkeep.ts'
import { shopId, startTrial } from '../e2e/trial.ts'
import { leaveOut } from '../left-out.ts'
import { changed, day, take, unchanged, writeHistory } from './history.ts'
import { expectInvariant } from './invariant.ts'
import { countPoints, longMs } from './scale.ts'

const run = promisify(execFile)
const diskBytes = 1024 * 1024
const blockBytes = 4096

/** A file system of a megabyte, where this process may mount one. */
async function mountSmallDisk(): Promise<({ path: string } & AsyncDisposable) | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'dashkeep-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', path])
  } catch {
    await rm(path, { recursive: true })
    return undefined
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run('umount', [path])
      await rm(path, { recursive: true })
    },
  }
}

/** Takes up room until so many blocks are free, or as many as there are. */
async function fillUp(path: string, freeBlocks: number): Promise<void> {
  const { bavail } = await statfs(path)
  const bytes = (bavail - freeBlocks) * blockBytes
  await writeFile(join(path, 'filler'), Buffer.alloc(Math.max(0, bytes)))
}

const large: Answers = { ...changed, search: exportBody('search', { a: 'x'.repeat(100_000) }) }

describe('a disk that is full', () => {
  const tally = countPoints('blocks left on a disk that fills up during a backup')

  it(
    'costs nothing that was kept, however much of the run still fits',
    async ({ skip }) => {
      await using disk = await mountSmallDisk()
      if (disk === undefined) {
        leaveOut('a full disk', 'by testing as root on Linux')
        return skip()
      }
      const root = join(disk.path, 'archive')
      const base = join(disk.path, 'base')
      const store = createDirectoryStore({ root })
      const before = await writeHistory(createDirectoryStore({ root: base }))
      for (const answers of [large, unchanged]) {
        let wholeRunFits = false
        for (let free = 0; !wholeRunFits; free += 1) {
          await tally.point(`${free} blocks of ${blockBytes} bytes are free`, async () => {
            await cp(base, root, { recursive: true })
            await fillUp(disk.path, free)
            const taken = take(store, answers, { takenAt: day(5) })
            const claimed = await taken.then(({ name }) => [name]).catch(() => [])
            await rm(join(disk.path, 'filler'))
            wholeRunFits = claimed.length > 0
            const nextRun = async () => (await take(store, changed, { takenAt: day(6) })).name
            await expectInvariant(store, { before, claimed, nextRun })
            await rm(root, { recursive: true })
          })
          expect(free).toBeLessThan(100)
        }
      }
    },
    longMs,
  )

  it('does not count as damage when it stops a drill', async ({ skip }) => {
    await using disk = await mountSmallDisk()
    if (disk === undefined) return skip()
    await using trial = await startTrial()
    const hits = Array.from({ length: 12 }, (_, place) => ({
      _id: `search:${place}`,
      _type: 'doc',
      _source: { type: 'search', search: { title: 'x'.repeat(diskBytes) } },
    }))
    trial.sandbox.setObjects(shopId, 'search', hits)
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    const env = { ...trial.env, TMPDIR: disk.path }
    await using drill = spawnDashkeep(['restore', '--drill'], { env })
    const { exitCode, stderr } = await drill.finished
    expect(stderr).toMatch(
      /^error: Cannot drill account 100001: the disk of its temporary file is full\nhint: set TMPDIR to a folder with \S+ MB of free disk space/m,
    )
    expect(exitCode).toBe(1)
    expect(await readdir(disk.path)).toEqual([])
  })
})
