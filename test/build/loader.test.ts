import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheOf, createLoader } from '../../build/loader.ts'

describe('the loader of the bundle', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dashkeep-loader-'))
    await write('main.cjs', "const { twice } = require('./twice.cjs')\nexports.six = twice(3)")
    await write('twice.cjs', 'exports.twice = (number) => 2 * number')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const write = (name: string, text: string | Buffer) => writeFile(join(folder, name), text)
  const load = (name = 'main.cjs') => createLoader(folder).load(name)

  async function keepCompiled(): Promise<void> {
    const loader = createLoader(folder)
    loader.load('main.cjs')
    for (const [file, script] of loader.scripts) {
      await writeFile(cacheOf(file), script.createCachedData())
    }
  }

  it('runs files that require each other, each once', async () => {
    await write('count.cjs', 'exports.count = 0')
    await write('more.cjs', "require('./count.cjs').count += 1")
    await write('twice-more.cjs', "require('./more.cjs'); require('./more.cjs')")
    await write('all.cjs', "require('./twice-more.cjs'); exports.all = require('./count.cjs')")
    expect(load('all.cjs')).toEqual({ all: { count: 1 } })
  })

  it("gives Node's own modules, and a file its place", async () => {
    await write('place.cjs', "exports.name = require('node:path').relative(__dirname, __filename)")
    expect(load('place.cjs')).toEqual({ name: 'place.cjs' })
  })

  it('takes compiled code that lies beside a file', async () => {
    await keepCompiled()
    const loader = createLoader(folder)
    expect(loader.load('main.cjs')).toEqual({ six: 6 })
    const refused = [...loader.scripts.values()].map(({ cachedDataRejected }) => cachedDataRejected)
    expect(refused).toEqual([false, false])
  })

  it('compiles a file when its compiled code is of another version, or none at all', async () => {
    await keepCompiled()
    await write('twice.cjs', 'exports.twice = (number) => number + number')
    expect(load()).toEqual({ six: 6 })
    await write('main.cjs.cache', Buffer.from('no code'))
    expect(load()).toEqual({ six: 6 })
  })
})
