import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeContent } from '../../src/objects/describe-content.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'
import { leaveOut } from '../left-out.ts'
import { corpus } from './corpus.ts'

if (corpus === '') {
  leaveOut('descriptions of real visualizations', 'by naming their folder in DASHKEEP_TEST_CORPUS')
}

async function readHits(type: string) {
  const names = (await readdir(corpus)).filter((name) => /^account-\d\d$/.test(name))
  const lists = names.map(async (name) => {
    const { hits } = JSON.parse(await readFile(join(corpus, name, `${type}.json`), 'utf8'))
    return hits
  })
  return (await Promise.all(lists)).flat()
}

const describeHit = (hit: object, type: string) =>
  describeContent(parseSavedObject(Buffer.from(JSON.stringify(hit)), type))

describe.skipIf(corpus === '')('the description of real objects', () => {
  it('has the kind and every field of each visualization', async () => {
    const hits = await readHits('visualization')
    expect(hits).toHaveLength(2462)
    for (const hit of hits) {
      const { visState } = hit._source.visualization ?? hit._source
      const state = JSON.parse(visState)
      const found = describeHit(hit, 'visualization')
      if (found?.type !== 'visualization') throw new Error(`${hit._id} has no description`)
      expect(found.kind.split(' ')[0]).toBe(state.type)
      const fields = (state.aggs ?? []).flatMap(({ params }: { params?: { field?: string } }) =>
        params?.field ? [params.field] : [],
      )
      const described = new Set(found.aggregations.map(({ field }) => field))
      for (const field of fields) expect(described).toContain(field)
      const text = state.params?.markdown ?? state.params?.expression ?? state.params?.spec
      if (typeof text === 'string' && text !== '') expect(found.text?.text).toBe(text)
    }
  })

  it('has the columns, sort and query of each search', async () => {
    const hits = await readHits('search')
    expect(hits).toHaveLength(400)
    for (const hit of hits) {
      const { columns = [], sort, kibanaSavedObjectMeta } = hit._source.search ?? hit._source
      const found = describeHit(hit, 'search')
      if (found?.type !== 'search') throw new Error(`${hit._id} has no description`)
      expect(found.columns).toEqual(columns)
      expect(found.sort.flatMap(({ field, direction }) => [field, direction])).toEqual(sort.flat())
      const source = kibanaSavedObjectMeta.searchSourceJSON
      const [, query] = /"query_string":\{[^}]*?"query":"((?:[^"\\]|\\.)+)"/.exec(source) ?? []
      if (query !== undefined) expect(found.query?.text).toBe(JSON.parse(`"${query}"`))
    }
  })
})
