import { describe, expect, it } from 'vitest'
import { call, exportedText, exportType, hitIds, mainId, startShop } from './calls.ts'

const kept = '{"_id":"search:1","_source":{"n":12345678901234567890}}'
const documents = { search: `{ "kibanaVersion" : "7", "hits" : [ ${kept} ] }` }
const settings = [{ extraOperations: true }, { objects: { documents } }] as const

function importBody(hits: string[], { override = true, kibanaVersion = '7' } = {}): string {
  return `{"kibanaVersion":"${kibanaVersion}","override":${override},"hits":[${hits.join(',')}]}`
}

describe('import', () => {
  it('keeps the bytes of imported objects', async () => {
    await using sandbox = await startShop(...settings)
    const hits = [
      '{ "_id":"search:1", "_source":{"n":1.0} }',
      '{"_id":"dashboard:\\u0041:b","_source":{}}',
      '{"_id":"bare","_type":"visualization"}',
    ]
    const response = await call(sandbox, 'POST', '/kibana/import', { body: importBody(hits) })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      created: ['dashboard:A:b', 'bare'],
      updated: ['search:1'],
      ignored: [],
      failed: [],
    })
    expect(await exportedText(sandbox, 'search')).toBe(`{"kibanaVersion":"7","hits":[${hits[0]}]}`)
    expect(await exportedText(sandbox, 'dashboard')).toContain(hits[1])
    expect(await exportedText(sandbox, 'visualization')).toContain(hits[2])
  })

  it.each([
    ['override false', importBody(['{"_id":"search:1"}'], { override: false })],
    ['no override', '{"kibanaVersion":"7","hits":[{"_id":"search:1"}]}'],
  ])('leaves what is there with %s', async (_what, body) => {
    await using sandbox = await startShop(...settings)
    const response = await call(sandbox, 'POST', '/kibana/import', { body })
    expect(await response.json()).toMatchObject({ ignored: ['search:1'], updated: [] })
    expect(await exportedText(sandbox, 'search')).toBe(documents.search)
  })

  it('reports hits without a type, and hits that a fault makes fail', async () => {
    await using sandbox = await startShop(...settings)
    sandbox.faults.add({ operation: 'import', failIds: ['search:2'] })
    const body = importBody(['{"_id":"map:1"}', '{"_id":"search:2"}', '{}', '{"_id":"search:3"}'])
    const response = await call(sandbox, 'POST', '/kibana/import', { body })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      created: ['search:3'],
      updated: [],
      ignored: [],
      failed: expect.arrayContaining(['map:1', 'search:2', '']),
    })
    expect(hitIds(await exportedText(sandbox, 'search'))).toEqual(['search:1', 'search:3'])
  })

  it('imports its own export of generated objects', async () => {
    const objects = { generated: { seed: 3, count: 4 } }
    await using source = await startShop({}, { objects })
    await using target = await startShop({ extraOperations: true })
    const exported = await exportedText(source, 'dashboard')
    const body = `{"override":true,${exported.slice(1)}`
    const response = await call(target, 'POST', '/kibana/import', { body })
    expect(await response.json()).toMatchObject({ created: hitIds(exported) })
    expect(await exportedText(target, 'dashboard')).toBe(exported)
  })

  it('keeps order, options and bytes over several requests', async () => {
    await using sandbox = await startShop(
      { extraOperations: true, database: '', contentLength: true },
      { objects: { documents } },
    )
    const large = `{"_id":"search:2","a":"${'x'.repeat(9_000_000)}"}`
    const send = (...hits: string[]) =>
      call(sandbox, 'POST', '/kibana/import', { body: importBody(hits) })
    await send(large)
    await send('{"_id":"search:3"}', '{"_id":"search:1","n":2}')
    expect(await exportedText(sandbox, 'search')).toBe(
      `{"kibanaVersion":"7","hits":[{"_id":"search:1","n":2},${large},{"_id":"search:3"}]}`,
    )
    sandbox.setObjects(mainId, 'search', documents.search)
    expect(await exportedText(sandbox, 'search')).toBe(documents.search)
  })

  it.each([{ shuffle: 1 }, { kibanaVersionLast: true }])('exports with %j', async (option) => {
    await using sandbox = await startShop({ extraOperations: true, ...option })
    const body = importBody(['{"_id":"search:1"}', '{"_id":"search:2"}'], {
      kibanaVersion: sandbox.accounts()[0]?.kibanaVersion ?? '',
    })
    expect((await call(sandbox, 'POST', '/kibana/import', { body })).status).toBe(200)
    const exported = await exportedText(sandbox, 'search')
    expect(hitIds(exported).toSorted()).toEqual(['search:1', 'search:2'])
  })

  it.each([
    ['another kibanaVersion', importBody([kept], { kibanaVersion: '8' })],
    ['an override that is no boolean', `{"kibanaVersion":"7","override":1,"hits":[]}`],
    ['no hits', `{"kibanaVersion":"7","override":true}`],
    ['a hit that is broken', importBody(['{"_id":}'])],
    ['no JSON', 'hits'],
  ])('refuses %s with 400', async (_what, body) => {
    await using sandbox = await startShop(...settings)
    expect((await call(sandbox, 'POST', '/kibana/import', { body })).status).toBe(400)
    expect((await exportType(sandbox, 'search')).status).toBe(200)
  })
})
