import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMapFile } from '../../src/config/map-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-map-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const configured = ['production', 'team-a', 'team-b']

async function read(content: string | Buffer | object) {
  const path = join(folder, 'map.yaml')
  const isRaw = typeof content === 'string' || Buffer.isBuffer(content)
  await writeFile(path, isRaw ? content : JSON.stringify(content))
  return readMapFile(path, configured)
}

describe('a map', () => {
  it('derives ids and refuses index patterns that it lacks, unless it says otherwise', async () => {
    expect((await read({}))('team-a')).toMatchObject({
      ids: 'derive',
      titlePrefix: '',
      indexPatterns: new Map(),
      keepsUnmapped: false,
    })
    expect((await read('ids: keep\nunmapped: keep\n'))('team-a')).toMatchObject({
      ids: 'keep',
      keepsUnmapped: true,
    })
  })

  it('has members of one account, which add to the others and replace them', async () => {
    const map = await read(`
titlePrefix: '[Copy] '
indexPatterns:
  logs-*: copy-*
  '*': '*'
accounts:
  team-b:
    titlePrefix: ''
    indexPatterns: { logs-*: { id: 7aa1 }, metrics-*: b-* }
`)
    const both = (text: string) => ({ id: text, name: text })
    const all = { 'logs-*': both('copy-*'), '*': both('*') }
    expect(map('team-a')).toMatchObject({
      titlePrefix: '[Copy] ',
      indexPatterns: new Map(Object.entries(all)),
    })
    expect(map('team-b')).toMatchObject({
      titlePrefix: '',
      indexPatterns: new Map(
        Object.entries({ ...all, 'logs-*': { id: '7aa1' }, 'metrics-*': both('b-*') }),
      ),
    })
  })

  it('reports every problem at once, with what was meant', async () => {
    const reading = read({
      ids: 'derived',
      titleprefix: 'x',
      indexPatterns: { a: 1, b: '', c: { nam: 'x', name: '' } },
      unmapped: true,
      accounts: { 'team-c': {}, 'team-b': { ids: 'keep', titlePrefix: ['x'] } },
    })
    await expect(reading).rejects.toMatchObject({ kind: 'usage' })
    const { message } = (await reading.catch((error: unknown) => error)) as Error
    expect(message.split('\n').sort()).toEqual([
      '  - accounts.team-b.ids: unknown key',
      '  - accounts.team-b.titlePrefix: expected text, found a list',
      '  - accounts.team-c: no configured account has this name; did you mean team-a?',
      '  - ids: expected derive or keep, found "derived"; did you mean derive?',
      '  - indexPatterns.a: expected text in quotes, or members id and name, found 1',
      '  - indexPatterns.b: expected text in quotes, or members id and name, found ""',
      '  - indexPatterns.c.nam: unknown key; did you mean name?',
      '  - indexPatterns.c.name: expected the id or the name, found ""',
      '  - titleprefix: unknown key; did you mean titlePrefix?',
      '  - unmapped: expected refuse or keep, found true',
      `Cannot use the map ${join(folder, 'map.yaml')}:`,
    ])
  })

  it.each([
    ['ids: [', /line 1, column \d+: /],
    ['- a', /expected members such as indexPatterns and titlePrefix/],
    ['a: *b', /an alias such as \*name has no anchor/],
    ['indexPatterns: {a: b, a: c}', /line 1, column 23: the key appears twice/],
    ['ids: keep\nindexPatterns:\n  a: b\n  "a": c', /line 4, column 3: the key appears twice/],
    [Buffer.from('titlePrefix: \xdc', 'latin1'), /map.yaml is not UTF-8 text/],
  ])('that is no document is refused: %s', async (text, problem) => {
    await expect(read(text)).rejects.toThrow(problem)
  })

  it('says what is expected of a list and of a long text', async () => {
    const reading = read({ accounts: [], indexPatterns: ['a'], titlePrefix: ' '.repeat(201) })
    const { message } = (await reading.catch((error: unknown) => error)) as Error
    expect(message).toContain('accounts: expected members, found a list')
    expect(message).toContain('indexPatterns: expected members, found a list')
    expect(message).toContain('titlePrefix: expected at most 200 characters, found ')
  })

  it('with 80,000 index patterns is read without comparing each with all others', async () => {
    const patterns = Array.from({ length: 80_000 }, (_, number) => [`logs-${number}`, 'x'])
    const map = await read({ indexPatterns: Object.fromEntries(patterns) })
    expect(map('team-a').indexPatterns.size).toBe(80_000)
  })

  it('that is not there is refused with its path', async () => {
    const path = join(folder, 'none.yaml')
    await expect(readMapFile(path, configured)).rejects.toThrow(`${path} is not there`)
  })
})
