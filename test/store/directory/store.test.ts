import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createDirectoryStore } from '../../../src/store/directory/store.ts'
import { collect } from '../../contract/collect.ts'
import { describeObjectStore } from '../../contract/object-store.ts'
import { leaveOut } from '../../left-out.ts'

const temporaryFolder = '.dashkeep-tmp'
const isRoot = process.getuid?.() === 0
const execute = promisify(execFile)
const run = (program: string, ...args: string[]) => execute(program, args)

interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
}

async function makeFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'dashkeep-test-'))
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true })
    },
  }
}

describeObjectStore('a folder', async () => {
  const folder = await makeFolder()
  const root = join(folder.path, 'not yet there')
  return {
    store: createDirectoryStore({ root }),
    async findLeftovers() {
      return await readdir(join(root, temporaryFolder)).catch(() => [])
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
})

const canMount = isRoot && process.platform === 'linux' && (await tryMount())
if (!canMount)
  leaveOut('a folder on a full disk', 'by testing as root on Linux, with the right to mount')

describe('a folder as a store', () => {
  it('makes files and folders accessible only to their owner', async () => {
    await using folder = await makeFolder()
    const root = join(folder.path, 'root')
    await createDirectoryStore({ root }).put('a/b', Buffer.from('x'))
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    expect([await mode(root), await mode(join(root, 'a')), await mode(join(root, 'a/b'))]).toEqual([
      0o700, 0o700, 0o600,
    ])
  })

  it('removes empty folders, but not its root', async () => {
    await using folder = await makeFolder()
    const store = createDirectoryStore({ root: folder.path })
    await store.put('a/b/c', Buffer.from('x'))
    await store.remove('a/b/c')
    expect(await readdir(folder.path)).toEqual([])
  })

  it('allows concurrent writes and removals in the same folders', async () => {
    await using folder = await makeFolder()
    const store = createDirectoryStore({ root: folder.path })
    const turns = Array.from({ length: 200 }, async (_, index) => {
      const key = `a/${index % 3}/${index}`
      await store.put(key, Buffer.from('x'))
      await store.remove(key)
    })
    await Promise.all(turns)
    expect(await readdir(folder.path)).toEqual([])
  })

  it('neither lists nor changes files that are not its objects', async () => {
    await using folder = await makeFolder()
    const store = createDirectoryStore({ root: folder.path })
    await mkdir(join(folder.path, temporaryFolder))
    await writeFile(join(folder.path, temporaryFolder, 'old'), 'x')
    await writeFile(join(folder.path, 'back\\slash'), 'x')
    expect(await collect(store.list(''))).toEqual([])
    await expect(store.get(`${temporaryFolder}/old`, { maxBytes: 1 })).rejects.toThrow(
      'the store uses this folder for unfinished files',
    )
  })

  it('lists no object whose writer was killed', async () => {
    await using folder = await makeFolder()
    const module = new URL('../../../src/store/directory/store.ts', import.meta.url).href
    const program = `
      import { createDirectoryStore } from ${JSON.stringify(module)}
      const store = createDirectoryStore({ root: process.argv[1] })
      const writer = await store.create('a/b')
      await writer.write(Buffer.alloc(3_000_000))
      process.send('written')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder.path], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')

    const store = createDirectoryStore({ root: folder.path })
    expect(await collect(store.list(''))).toEqual([])
    expect(await readdir(folder.path)).toEqual([temporaryFolder])
    const [leftover] = await readdir(join(folder.path, temporaryFolder))
    expect(leftover).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{16}$/)
    await store.put('a/b', Buffer.from('again'))
    expect(await collect(store.list(''))).toMatchObject([{ key: 'a/b', size: 5 }])
  })

  it('fails when a file becomes shorter while it is read', async () => {
    await using folder = await makeFolder()
    const store = createDirectoryStore({ root: folder.path })
    await store.put('a', Buffer.alloc(1_000_000))
    const reading = async () => {
      for await (const _ of (await store.open('a')) ?? [])
        await truncate(join(folder.path, 'a'), 10)
    }
    await expect(reading()).rejects.toThrow(
      /^Cannot read .*a: it ended after \d+ of 1000000 bytes$/,
    )
  })

  it('fails when its root is a file', async () => {
    await using folder = await makeFolder()
    const root = join(folder.path, 'file')
    await writeFile(root, 'x')
    const store = createDirectoryStore({ root })
    const refused = { kind: 'usage', message: expect.stringContaining('a file is where a folder') }
    await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject(refused)
    await expect(store.get('a', { maxBytes: 1 })).rejects.toMatchObject(refused)
    await expect(store.open('a')).rejects.toMatchObject(refused)
    await expect(store.remove('a')).rejects.toMatchObject(refused)
    await expect(collect(store.list(''))).rejects.toMatchObject(refused)
  })

  it('fails when an object has the key of a needed folder', async () => {
    await using folder = await makeFolder()
    const store = createDirectoryStore({ root: folder.path })
    await store.put('a/b', Buffer.from('x'))
    await expect(store.put('a/b/c', Buffer.from('x'))).rejects.toMatchObject({ kind: 'usage' })
    await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(
      'a folder has the name of the file',
    )
    await expect(store.put(`a/${'x'.repeat(300)}`, Buffer.from('x'))).rejects.toThrow(
      'the name is too long for the file system',
    )
    expect(await readdir(folder.path)).toEqual(['a'])
  })

  it('fails when it has no right to write', async () => {
    await using folder = await makeFolder()
    await using _ = await loseRights(folder.path)
    const refused = { kind: 'usage', message: expect.stringContaining('permission denied') }
    const store = createDirectoryStore({ root: folder.path })
    await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject(refused)
  })

  describe.skipIf(!canMount)('on a small file system (needs root on Linux)', () => {
    it('fails when no space is left, and keeps the earlier objects', async () => {
      await using folder = await makeSmallFileSystem()
      const store = createDirectoryStore({ root: folder.path })
      await store.put('good', Buffer.from('backup'))
      await expect(store.put('a/large', Buffer.alloc(3_000_000))).rejects.toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/^Cannot write .*a\/large: no space is left$/),
        hint: expect.stringContaining('free space'),
      })
      expect(await readdir(folder.path)).toEqual(['good'])
      await store.put('a/small', Buffer.from('fits'))
    })

    it('fails when the file system is read-only', async () => {
      await using folder = await makeSmallFileSystem()
      const store = createDirectoryStore({ root: folder.path })
      await store.put('good', Buffer.from('backup'))
      await run('mount', '-o', 'remount,ro', folder.path)
      const refused = { kind: 'usage', message: expect.stringContaining('read-only') }
      await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject(refused)
      await expect(store.remove('good')).rejects.toMatchObject(refused)
      expect(await collect(store.list(''))).toMatchObject([{ key: 'good' }])
    })
  })
})

/** Makes the folder unwritable for this process, whoever runs it. */
async function loseRights(path: string): Promise<AsyncDisposable> {
  await chmod(path, 0o555)
  if (isRoot) process.seteuid?.('nobody')
  return {
    async [Symbol.asyncDispose]() {
      if (isRoot) process.seteuid?.(0)
      await chmod(path, 0o700)
    },
  }
}

async function makeSmallFileSystem(): Promise<TemporaryFolder> {
  const folder = await makeFolder()
  await run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder.path)
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      await run('umount', folder.path)
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function tryMount(): Promise<boolean> {
  try {
    await using _ = await makeSmallFileSystem()
    return true
  } catch {
    return false
  }
}
