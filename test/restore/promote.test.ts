import { describe, expect, it } from 'vitest'
import { deriveId } from '../../src/objects/derive-id.ts'
import { type Promotion, promote } from '../../src/restore/promote.ts'
import { chooseToPromote } from '../../src/restore/restoring.ts'
import type { RestoreSource } from '../../src/restore/source.ts'

function hit(type: string, id: string | undefined, object: object): Buffer {
  return Buffer.from(
    JSON.stringify({ _id: id && `${type}:${id}`, _source: { type, [type]: object } }),
  )
}

const board = {
  title: 'Board',
  panelsJSON: JSON.stringify([
    { type: 'visualization', id: 'v' },
    { type: 'visualization', id: 'gone' },
    { type: 'tag', id: 't' },
  ]),
}
const rate = { title: 'Rate', visState: JSON.stringify({ params: { index_pattern: 'logs-*' } }) }

function sourceOf(
  hits: Record<string, Buffer[]>,
  account: RestoreSource['account'] = { id: 7, name: 'Shop' },
): RestoreSource {
  return {
    label: 'a test',
    account,
    exports: Object.entries(hits).map(([type, { length }]) => ({
      ...{ type, kibanaVersion: '7' },
      objects: length,
    })),
    async *readHits(type) {
      yield* hits[type] ?? []
    },
  }
}

const source = sourceOf({
  visualization: [hit('visualization', 'v', rate)],
  dashboard: [hit('dashboard', 'd', board)],
})

async function promoted(
  changes: Partial<Promotion> = {},
  choice: { from?: RestoreSource; names?: string[]; withNeeds?: boolean } = {},
) {
  const { from = source, names, withNeeds = true } = choice
  const chosen = await chooseToPromote(from, undefined, { names, withNeeds })
  const indexPatterns = new Map([['logs-*', { name: 'team-*' }]])
  const usual = { ids: 'derive', titlePrefix: '', keepsUnmapped: false, label: 'map.yaml' } as const
  const promotion = { ...usual, indexPatterns, ...changes }
  const restoring = await promote(chosen, promotion)
  const hits = await Promise.all(
    from.exports.map(({ type }) => Array.fromAsync(restoring.source.readHits(type))),
  )
  return { ...restoring, hits: hits.flat().map((bytes) => JSON.parse(bytes.toString())) }
}

const [v, d] = [deriveId(7, 'visualization', 'v'), deriveId(7, 'dashboard', 'd')]

describe('a promotion', () => {
  it('describes the objects as they will be, and where they come from', async () => {
    const { selection, hits } = await promoted({ titlePrefix: '[A] ' })
    expect(selection.objects).toMatchObject([
      {
        id: `visualization:${v}`,
        title: '[A] Rate',
        from: { id: 'visualization:v', title: 'Rate' },
      },
      { id: `dashboard:${d}`, title: '[A] Board', from: { id: 'dashboard:d', title: 'Board' } },
    ])
    expect(hits.map(({ _id }) => _id)).toEqual(selection.objects.map(({ id }) => id))
    expect(JSON.parse(hits[1]._source.dashboard.panelsJSON)).toMatchObject([
      { id: v },
      { id: 'gone' },
      { id: 't' },
    ])
  })

  it('lists needed objects that the source lacks by the ids that they have there', async () => {
    const { selection } = await promoted()
    const neededBy = [`dashboard:${d}`]
    expect(selection.missing).toEqual([{ type: 'visualization', objectId: 'gone', neededBy }])
    expect(selection.others).toEqual([{ type: 'tag', objectId: 't', neededBy }])
  })

  it('refers to objects that are not chosen by the ids that they get themselves', async () => {
    const { selection } = await promoted({}, { names: ['Board'], withNeeds: false })
    expect(selection.objects.map(({ id }) => id)).toEqual([`dashboard:${d}`])
    expect(selection.missing.map(({ objectId }) => objectId)).toEqual([v, 'gone'])
  })

  it('keeps the bytes of an object in which nothing changes', async () => {
    const bytes = Buffer.from('{ "_id": "search:s", "_source": {"type": "search", "search": {} } }')
    const from = sourceOf({ search: [bytes] })
    const chosen = await chooseToPromote(from, undefined, { names: undefined, withNeeds: true })
    const restoring = await promote(chosen, {
      ...{ ids: 'keep', titlePrefix: '', keepsUnmapped: false, label: '' },
      indexPatterns: new Map(),
    })
    expect(await Array.fromAsync(restoring.source.readHits('search'))).toEqual([bytes])
  })

  it('names the index patterns with the objects that use them', async () => {
    const uses = { from: 'logs-*', by: 'name', neededBy: ['visualization:v'] }
    const mapped = await promoted()
    expect(mapped.promoted.patterns).toEqual([{ ...uses, to: 'team-*', isMapped: true }])
    const kept = await promoted({ indexPatterns: new Map(), keepsUnmapped: true })
    expect(kept.promoted.patterns).toEqual([{ ...uses, to: 'logs-*', isMapped: false }])
  })

  it('maps index patterns at once, so that two can be swapped', async () => {
    const both = (index: string) => ({
      kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify({ index }) },
    })
    const from = sourceOf({
      search: [hit('search', '1', both('a')), hit('search', '2', both('b'))],
    })
    const indexPatterns = new Map(Object.entries({ a: { id: 'b' }, b: { id: 'a' } }))
    const { promoted: parts } = await promoted({ indexPatterns }, { from })
    expect(parts.patterns).toMatchObject([
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
    ])
  })
})

it('distinguishes the id of an index pattern from its name', async () => {
  const params = { index_pattern: 'logs-*', controls: [{ indexPattern: 'logs-*' }] }
  const visualization = { visState: JSON.stringify({ params }) }
  const from = sourceOf({ visualization: [hit('visualization', 'v', visualization)] })
  const indexPatterns = new Map([['logs-*', { id: '7aa1', name: 'team-*' }]])
  const { hits, promoted: parts } = await promoted({ indexPatterns }, { from })
  expect(JSON.parse(hits[0]._source.visualization.visState)).toEqual({
    params: { index_pattern: 'team-*', controls: [{ indexPattern: '7aa1' }] },
  })
  expect(parts.patterns).toMatchObject([
    { from: 'logs-*', by: 'name', to: 'team-*' },
    { from: 'logs-*', by: 'id', to: '7aa1' },
  ])
  const lacking = promoted({ indexPatterns: new Map([['logs-*', { name: 'team-*' }]]) }, { from })
  await expect(lacking).rejects.toThrow(/index patterns:\n {2}- "logs-\*": used as id by/)
})

describe('a promotion is refused', () => {
  it('when the map lacks an index pattern of a chosen object', async () => {
    const refused = promoted({ indexPatterns: new Map() })
    await expect(refused).rejects.toMatchObject({ kind: 'usage' })
    await expect(refused).rejects.toThrow(
      'Cannot promote: map.yaml does not map all index patterns:\n  - "logs-*": used as name by visualization:v',
    )
    const other = { names: ['Board'], withNeeds: false }
    expect((await promoted({ indexPatterns: new Map() }, other)).promoted.patterns).toEqual([])
  })

  it.each(['keep', 'derive'] as const)(
    'when two objects would get the same id, with ids: %s',
    async (ids) => {
      const twice = [hit('search', 's', { title: 'One' }), hit('search', 's', { title: 'Two' })]
      const refused = promoted({ ids }, { from: sourceOf({ search: twice }) })
      await expect(refused).rejects.toMatchObject({ kind: 'usage' })
      await expect(refused).rejects.toThrow('search:s (One), search:s (Two)')
    },
  )

  it('when an object has no id', async () => {
    const from = sourceOf({ search: [hit('search', undefined, { title: 'Lost' })] })
    await expect(promoted({}, { from })).rejects.toThrow(
      'Cannot promote the object "Lost" of a test: it has no id',
    )
  })

  it.each([
    ['has no type', 'own'],
    ['has another type', 'dashboard:own'],
  ])('when ids are derived and an id %s, because the copy would keep it', async (_what, _id) => {
    const bytes = JSON.stringify({ _id, _source: { type: 'search', search: { title: 'Own' } } })
    const from = sourceOf({ search: [Buffer.from(bytes)] })
    await expect(promoted({}, { from })).rejects.toMatchObject({
      kind: 'usage',
      message: `Cannot promote ${_id} of a test: its id does not begin with its type, so no other id can be derived`,
    })
    expect((await promoted({ ids: 'keep' }, { from })).hits).toEqual([JSON.parse(bytes)])
  })

  it('when ids are derived and the source does not name its account', async () => {
    const from = { ...source, account: undefined }
    await expect(promoted({}, { from })).rejects.toMatchObject({
      message: 'Cannot derive ids: a test does not name the account of its objects',
      hint: 'set ids: keep in map.yaml, or promote from a snapshot',
    })
    expect((await promoted({ ids: 'keep' }, { from })).selection.objects).toHaveLength(2)
  })
})
