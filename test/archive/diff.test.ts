import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffType, readPairs, sharedTypes, type TypeDiff } from '../../src/archive/diff.ts'
import { fillArchive, hitOf, type Moment } from './archive-of.ts'

async function compare(before: Moment, after: Moment, type = 'search') {
  const { store, manifests } = await fillArchive([before, after], { full: true })
  const [left, right] = manifests.map((manifest) => ({ store, manifest }))
  if (left === undefined || right === undefined) throw new Error('there are two snapshots')
  store.calls.length = 0
  const found = await diffType(left, right, type)
  return { found, ids: idsOf(found), left, right, store }
}

function idsOf({ added, removed, changed, touched, unchanged }: TypeDiff) {
  const ids = (objects: TypeDiff['added']) => objects.map(({ id }) => id)
  return {
    added: ids(added),
    removed: ids(removed),
    changed: ids(changed),
    touched: ids(touched),
    unchanged,
  }
}

describe('the objects of two snapshots', () => {
  it('are added, removed, changed, only touched or unchanged', async () => {
    const { found, ids } = await compare(
      {
        search: [
          hitOf('search:gone', { title: 'Gone' }),
          hitOf('search:changed', { title: 'Before' }),
          hitOf('search:touched', { title: 'T' }, { updated_at: 1, version: 'a' }),
          hitOf('search:same', { title: 'S' }),
        ],
      },
      {
        search: [
          { ...hitOf('search:same', { title: 'S' }), _score: 7, _index: 'other' },
          hitOf('search:new', { title: 'New' }),
          hitOf('search:touched', { title: 'T' }, { updated_at: 2, version: 'b' }),
          hitOf('search:changed', { title: 'After' }),
        ],
      },
    )
    expect(ids).toEqual({
      added: ['search:new'],
      removed: ['search:gone'],
      changed: ['search:changed'],
      touched: ['search:touched'],
      unchanged: 1,
    })
    expect(found.removed).toEqual([{ id: 'search:gone', title: 'Gone' }])
    expect(found.changed).toEqual([{ id: 'search:changed', title: 'After' }])
  })

  it('are not compared when a manifest has another number of them than its file', async () => {
    const same = { search: [hitOf('search:a', { title: 'A' })] }
    const { left, right } = await compare(same, same)
    const exports = right.manifest.exports.map((entry) => ({ ...entry, objects: 7 }))
    const wrong = { ...right, manifest: { ...right.manifest, exports } }
    const message = /it holds 1 objects instead of 7/
    await expect(diffType(left, wrong, 'search')).rejects.toThrow(message)
    await expect(diffType(wrong, left, 'search')).rejects.toThrow(message)
  })

  it('are told apart as plain sets of them say', async () => {
    const state = fc.constantFrom(undefined, 'a', 'b')
    const account = fc.array(fc.tuple(state, fc.nat(1)), { minLength: 5, maxLength: 5 })
    const hits = (objects: [string | undefined, number][]) =>
      objects.flatMap(([title, updated_at], at) =>
        title === undefined ? [] : [hitOf(`search:${at}`, { title }, { updated_at })],
      )
    await fc.assert(
      fc.asyncProperty(account, account, async (before, after) => {
        const { ids } = await compare({ search: hits(before) }, { search: hits(after).reverse() })
        const expected = { added: [], removed: [], changed: [], touched: [], unchanged: 0 }
        const lists = expected as unknown as Record<string, string[]>
        for (const [at, [title, touch]] of before.entries()) {
          const [newTitle, newTouch] = after[at] ?? []
          if (title === undefined && newTitle === undefined) continue
          if (title === undefined) lists.added?.push(`search:${at}`)
          else if (newTitle === undefined) lists.removed?.push(`search:${at}`)
          else if (title !== newTitle) lists.changed?.push(`search:${at}`)
          else if (touch !== newTouch) lists.touched?.push(`search:${at}`)
          else expected.unchanged += 1
        }
        expect(ids).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('are not compared when both exports are the same bytes, and their files are proven', async () => {
    const moment = { search: [hitOf('search:a', { title: 'A' })] }
    const { ids, store } = await compare(moment, moment)
    expect(ids).toMatchObject({ added: [], changed: [], unchanged: 1 })
    const opened = store.calls.filter(
      ({ action, key }) => action === 'open' && key.includes('.zst'),
    )
    expect(opened).toHaveLength(2)
  })

  it('count once where ids are twice there', async () => {
    const twice = [hitOf('search:a', { title: 'A' }), hitOf('search:a', { title: 'B' })]
    const { ids } = await compare({ search: twice }, { search: [] })
    expect(ids).toMatchObject({ removed: ['search:a'], changed: [], unchanged: 0 })
    const back = await compare({ search: [] }, { search: twice })
    expect(back.ids).toMatchObject({ added: ['search:a'], unchanged: 0 })
  })

  it('are compared for the types that both hold', async () => {
    const { left, right } = await compare({ search: [], url: [] }, { query: [], search: [] })
    expect(sharedTypes(left.manifest, right.manifest)).toEqual({
      shared: ['search'],
      onlyBefore: ['url'],
      onlyAfter: ['query'],
    })
  })

  it('throw no light on a damaged file', async () => {
    const { left, right, store } = await compare(
      { search: [hitOf('search:a', { title: 'A' })] },
      { search: [hitOf('search:a', { title: 'B' })] },
    )
    const key = store.keys().find((name) => name.endsWith('.zst')) ?? ''
    store.objects.set(key, Buffer.from('damaged'))
    await expect(diffType(left, right, 'search')).rejects.toMatchObject({ kind: 'unverified' })
  })
})

describe('both versions of an object', () => {
  it('are read for each one asked for, in the order of their ids', async () => {
    const hits = (title: string) =>
      ['c', 'a', 'b', 'd'].map((id) => hitOf(`search:${id}`, { title: title + id }))
    const { left, right } = await compare({ search: hits('old ') }, { search: hits('new ') })
    const ids = ['search:c', 'search:a', 'search:nowhere']
    const pairs = await Array.fromAsync(readPairs(left, right, 'search', ids))
    expect(pairs).toMatchObject([
      { id: 'search:a', before: { title: 'old a' }, after: { title: 'new a' } },
      { id: 'search:c', before: { title: 'old c' }, after: { title: 'new c' } },
    ])
  })

  it('are read in batches where they are large', async () => {
    const text = 'x'.repeat(1000)
    const hits = (title: string) =>
      ['a', 'b', 'c', 'd', 'e'].map((id) => hitOf(`search:${id}`, { title, text }))
    const { left, right, store } = await compare({ search: hits('old') }, { search: hits('new') })
    store.calls.length = 0
    const ids = ['a', 'b', 'c', 'd', 'e'].map((id) => `search:${id}`)
    const seen: string[] = []
    for await (const { id } of readPairs(left, right, 'search', ids, { batchBytes: 2500 })) {
      seen.push(id)
    }
    expect(seen).toEqual(ids)
    expect(store.calls.filter(({ action }) => action === 'open')).toHaveLength(4)
  })
})
