import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sampleApiToken, sampleObjects } from '../../src/sandbox/sample-account.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { exportedText, exportType, hitIds, mainId, startShop } from './calls.ts'

/** Nothing in it survives a parse and a print: numbers, escapes, spaces, order, doubled members. */
const oddHits = [
  '{"_score":1.0,"_index":".kibana","_id":"search:a\\u0062\\/c","n":12345678901234567890.10,"x":1,"x":2}',
  '{ "_id" : "search::%*ß\u2028" ,\n "_index" : ".kibana" , "_source" : {"_index":"mine","_score":"s"} }',
  '{"_id":"search:\\ud800","_score":null,"_index":{"a":[1,{"b":","}]},"_source":{"e":1e400}}',
]
const oddDocument = ` {"extra" : [1, {"hits":[]}],\n"kibanaVersion":"6.\\u0033","hits":[\n${oddHits.join(' ,\t')} ] }\n`

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('an account with an export document', () => {
  it('serves the exact bytes of the file', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'search.json'), oddDocument)
    await using sandbox = await startShop({}, { objects: { folder } })
    const response = await exportType(sandbox, 'search')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(oddDocument))
    expect(response.headers.get('content-length')).toBeNull()
  })

  it('has no objects of a type whose file is missing, and the version of the others', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'search.json'), oddDocument)
    await using sandbox = await startShop({}, { objects: { folder } })
    expect(await exportedText(sandbox, 'dashboard')).toBe('{"kibanaVersion":"6.3","hits":[]}')
  })

  it('takes documents and hits from memory', async () => {
    const documents = { search: oddDocument, dashboard: [...oddHits, { _id: 'dashboard:1' }] }
    await using sandbox = await startShop({}, { objects: { documents }, kibanaVersion: '5.0' })
    expect(await (await exportType(sandbox, 'search')).text()).toBe(oddDocument)
    const dashboards = await (await exportType(sandbox, 'dashboard')).text()
    for (const hit of oddHits) expect(dashboards).toContain(hit)
    sandbox.setObjects(mainId, 'search', Buffer.from('{"kibanaVersion":"7","hits":[]}'))
    expect(await exportedText(sandbox, 'search')).toBe('{"kibanaVersion":"7","hits":[]}')
  })

  it('sends the length when asked to', async () => {
    const documents = { search: oddDocument }
    await using sandbox = await startShop({ contentLength: true }, { objects: { documents } })
    const response = await exportType(sandbox, 'search')
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(oddDocument)))
    expect(await response.text()).toBe(oddDocument)
  })

  it('compresses when asked to and the client accepts it', async () => {
    const documents = { search: oddDocument }
    await using sandbox = await startShop({ gzip: true }, { objects: { documents } })
    const headers = { 'accept-encoding': 'gzip, deflate' }
    const compressed = await exportType(sandbox, 'search', { headers })
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    expect(await compressed.text()).toBe(oddDocument)
    const plain = await exportType(sandbox, 'search', { headers: { 'accept-encoding': 'br' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toBe(oddDocument)
  })

  it('writes kibanaVersion after hits when asked to', async () => {
    const documents = { search: oddDocument }
    await using sandbox = await startShop({ kibanaVersionLast: true }, { objects: { documents } })
    const text = await (await exportType(sandbox, 'search')).text()
    expect(text).toBe(`{"hits":[${oddHits.join(',')}],"kibanaVersion":"6.3"}`)
    expect(await exportedText(sandbox, 'dashboard')).toBe('{"hits":[],"kibanaVersion":"6.3"}')
  })
})

describe('shuffled exports', () => {
  it('differ in order, _index and _score, and in no other byte', async () => {
    const documents = { search: oddDocument }
    await using sandbox = await startShop({ shuffle: 4 }, { objects: { documents } })
    const first = await (await exportType(sandbox, 'search')).text()
    const second = await (await exportType(sandbox, 'search')).text()
    expect(hitIds(first)).not.toEqual(hitIds(second))
    expect(hitIds(first).toSorted()).toEqual(hitIds(second).toSorted())
    for (const text of [first, second]) {
      expect(text).toContain('"_id":"search:a\\u0062\\/c","n":12345678901234567890.10,"x":1,"x":2}')
      expect(text).toContain(' , "_source" : {"_index":"mine","_score":"s"} }')
      expect(text).toMatch(/\{"_id":"search:\\ud800","_score":1\.\d{6},"_index":"\.kibana_\d\d",/)
    }
    const indices = [first, second].map((text) => text.match(/\.kibana_\d\d/)?.[0])
    expect(indices[0]).not.toBe(indices[1])
  })

  it('come in the same order from the same seed', async () => {
    const objects = { generated: { seed: 1, count: 9 } }
    const texts: string[] = []
    for (let run = 0; run < 2; run += 1) {
      await using sandbox = await startShop({ shuffle: 4 }, { objects })
      texts.push((await exportedText(sandbox, 'search')) + (await exportedText(sandbox, 'search')))
    }
    expect(texts[0]).toBe(texts[1])
  })

  it('do not change generated objects', async () => {
    const objects = { generated: { seed: 1, count: 9 } }
    await using plain = await startShop({}, { objects })
    await using shuffled = await startShop({ shuffle: 4 }, { objects })
    const sources = (text: string) =>
      JSON.parse(text)
        .hits.map(({ _id, _source }: Record<string, unknown>) => JSON.stringify({ _id, _source }))
        .toSorted()
    const [before, after] = await Promise.all(
      [plain, shuffled].map((sandbox) => exportedText(sandbox, 'dashboard')),
    )
    expect(sources(after as string)).toEqual(sources(before as string))
    expect(hitIds(after as string)).not.toEqual(hitIds(before as string))
  })
})

describe('generated objects', () => {
  it('have the same bytes with the same seed, and others with another', async () => {
    const texts: string[] = []
    for (const seed of [1, 1, 2]) {
      await using sandbox = await startShop({}, { objects: { generated: { seed, count: 3 } } })
      texts.push(await exportedText(sandbox, 'dashboard'))
    }
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).not.toBe(texts[2])
  })

  it('refer to each other', async () => {
    const generated = { seed: 5, count: { search: 4, visualization: 10, dashboard: 3 } }
    await using sandbox = await startShop({}, { objects: { generated } })
    const search = hitIds(await exportedText(sandbox, 'search'))
    const visualization = hitIds(await exportedText(sandbox, 'visualization'))
    expect([search.length, visualization.length]).toEqual([4, 10])
    expect(new Set([...search, ...visualization]).size).toBe(14)
    const { hits } = JSON.parse(await exportedText(sandbox, 'dashboard'))
    expect(hits).toHaveLength(3)
    for (const hit of hits) {
      const panels: { id: string }[] = JSON.parse(hit._source.dashboard.panelsJSON)
      expect(panels).toHaveLength(6)
      for (const { id } of panels) expect(visualization).toContain(`visualization:${id}`)
    }
    for (const hit of JSON.parse(await exportedText(sandbox, 'visualization')).hits) {
      expect(search).toContain(`search:${hit._source.visualization.savedSearchId}`)
    }
  })

  it('refer only to objects that exist', async () => {
    const generated = { seed: 5, count: { visualization: 1 } }
    await using sandbox = await startShop({}, { objects: { generated } })
    const { hits } = JSON.parse(await exportedText(sandbox, 'visualization'))
    expect(hits[0]._source.visualization.savedSearchId).toBe('')
    expect(hitIds(await exportedText(sandbox, 'dashboard'))).toEqual([])
  })

  it('have the requested size', async () => {
    const generated = { seed: 5, bytes: { search: 100_000 }, hitBytes: 5_000 }
    await using sandbox = await startShop({ contentLength: true }, { objects: { generated } })
    const text = await exportedText(sandbox, 'search')
    expect(text.length).toBeGreaterThanOrEqual(100_000)
    expect(text.length).toBeLessThan(106_000)
    const sizes = JSON.parse(text).hits.map((hit: object) => JSON.stringify(hit).length)
    for (const size of sizes) expect(Math.abs(size - 5_000)).toBeLessThan(10)
  })

  it('can have hits larger than a chunk', async () => {
    const generated = { seed: 5, count: 2, hitBytes: 5_000_000 }
    await using sandbox = await startShop({}, { objects: { generated } })
    expect(hitIds(await exportedText(sandbox, 'search'))).toHaveLength(2)
  })

  it('come in all three forms of hits', async () => {
    const hits = []
    for (const form of ['specified', 'newer', 'oldest'] as const) {
      const objects = { generated: { seed: 1, count: 1, form } }
      await using sandbox = await startShop({}, { objects })
      hits.push(JSON.parse(await exportedText(sandbox, 'search')).hits[0])
    }
    const [specified, newer, oldest] = hits
    expect(specified).toMatchObject({ _type: 'doc', _source: { type: 'search' } })
    expect(Object.keys(specified._source)).toEqual(['type', 'search'])
    expect(newer).toMatchObject({ _source: { references: [{}], migrationVersion: {} } })
    expect(oldest).toMatchObject({ _type: 'search', _source: { _createdBy: {} } })
    expect(oldest._source.columns).toEqual(specified._source.search.columns)
    expect(oldest._id).not.toContain(':')
  })
})

describe('the sample account', () => {
  it('is the default account, and all its references resolve', async () => {
    await using sandbox = await startSandbox()
    const ids: string[] = []
    for (const type of ['search', 'visualization', 'dashboard']) {
      const response = await exportType(sandbox, type, { token: sampleApiToken })
      ids.push(...hitIds(await response.text()))
    }
    expect(ids).toHaveLength(14)
    for (const { _source } of sampleObjects().dashboard) {
      const { panelsJSON } = _source.dashboard as { panelsJSON: string }
      for (const { type, id } of JSON.parse(panelsJSON)) expect(ids).toContain(`${type}:${id}`)
    }
  })
})
