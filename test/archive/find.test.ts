import { describe, expect, it } from 'vitest'
import { findById, findObjects, findOne } from '../../src/archive/find.ts'
import { readTimeline } from '../../src/archive/timeline.ts'
import { createObjectQuery } from '../../src/objects/match-object.ts'
import { fillArchive, hitOf, type Moment } from './archive-of.ts'

async function exportsOf(moments: readonly Moment[]) {
  const { store, folders, manifests } = await fillArchive(moments)
  const timeline = await readTimeline(store, await folders())
  const exports = timeline.types.flatMap((type) => timeline.stretches(type))
  return { exports, store, names: manifests.map(({ snapshot }) => snapshot) }
}

const visState = JSON.stringify({ aggs: [{ params: { field: 'event.duration' } }] })
const account: Moment = {
  search: [hitOf('search:errors', { title: 'Errors', description: 'By HOST' })],
  visualization: [
    hitOf('visualization:v', { title: 'Latency', visState }),
    hitOf('visualization:w', { title: 'Errors by host', visState: '{"unparsable' }),
  ],
}

describe('objects are found', () => {
  async function find(text: string, moments: readonly Moment[] = [account]) {
    const { exports, names } = await exportsOf(moments)
    const { objects } = await findObjects(exports, text)
    return { objects, names, ids: objects.map(({ id }) => id) }
  }

  it.each([
    ['a title', 'latency', ['visualization:v']],
    ['an id', 'search:err', ['search:errors']],
    ['a description, in any case', 'by host', ['search:errors', 'visualization:w']],
    ['nested JSON', 'event.duration', ['visualization:v']],
    ['text that cannot be parsed', '"unparsable', ['visualization:w']],
    ['nothing', 'nowhere', []],
    ['a part that fits a glob', 'err*HOST', ['visualization:w']],
  ])('by %s', async (_name, text, ids) => {
    expect((await find(text)).ids).toEqual(ids)
  })

  it('and the place is named', async () => {
    const { objects } = await find('duration')
    expect(objects[0]?.matches).toEqual([
      { path: ['visState', 'aggs', 0, 'params', 'field'], text: 'event.duration' },
    ])
  })

  it('in all snapshots, each once, with the newest that holds it', async () => {
    const search = (title: string) => ({ search: [hitOf('search:a', { title })] })
    const { objects, names } = await find('shop', [
      search('Other'),
      search('Shop 1'),
      search('Shop 2'),
      search('Shop 2'),
      search('Other'),
    ])
    expect(objects).toMatchObject([
      { id: 'search:a', title: 'Shop 2', since: names[1], snapshot: names[3] },
    ])
  })

  it('also where another file is damaged, which is said', async () => {
    const { exports, store } = await exportsOf([account])
    const key = store.keys().find((name) => name.includes('/search')) ?? ''
    store.objects.set(key, Buffer.from('damaged'))
    const { objects, problems } = await findObjects(exports, 'host')
    expect(objects.map(({ id }) => id)).toEqual(['visualization:w'])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(key)
  })
})

describe('the one object that is meant', () => {
  async function meant(text: string, moments: readonly Moment[] = [account]) {
    const { exports } = await exportsOf(moments)
    return findOne(exports, createObjectQuery(text))
  }

  it.each([
    ['search:errors', 'search:errors'],
    ['errors', 'search:errors'],
    ['Errors', 'search:errors'],
    ['latency', 'visualization:v'],
    ['*by host', 'visualization:w'],
    ['by h', 'visualization:w'],
  ])('%s is the one that fits best', async (text, id) => {
    expect(await meant(text)).toMatchObject({ id })
  })

  it('may be gone by now', async () => {
    const gone = { ...account, search: [] }
    expect(await meant('search:errors', [account, gone])).toMatchObject({ id: 'search:errors' })
    const { exports } = await exportsOf([account, gone])
    expect(await findById(exports, 'search:errors')).toMatchObject({ title: 'Errors' })
    expect(await findById(exports, 'search:other')).toBeUndefined()
  })

  it('has the title of its newest version', async () => {
    const renamed = { search: [hitOf('search:errors', { title: 'Renamed' })] }
    const { exports } = await exportsOf([{ search: account.search ?? [] }, renamed])
    expect(await findById(exports, 'search:errors')).toMatchObject({ title: 'Renamed' })
    expect(await meant('search:errors', [account, renamed])).toMatchObject({ title: 'Renamed' })
  })

  it('cannot be told where several fit, which are listed, the living first', async () => {
    const now = { search: [hitOf('search:b', { title: 'Shop b' })] }
    const before = { search: [hitOf('search:a', { title: 'Shop a' }), ...(now.search as object[])] }
    const failure = meant('shop', [before, now])
    await expect(failure).rejects.toThrow('Cannot tell which object shop means: 2 objects match')
    await expect(failure).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringMatching(/search:b \(Shop b\), search:a \(Shop a\)$/),
    })
  })

  it('is not there where none fits, and the nearest are listed', async () => {
    const failure = meant('Latincy')
    await expect(failure).rejects.toThrow(/no id or title matches/)
    await expect(failure).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringMatching(/^the most similar objects are visualization:v \(Latency\)/),
    })
  })
})
