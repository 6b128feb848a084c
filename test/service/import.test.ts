import { describe, expect, it } from 'vitest'
import { sampleApiToken } from '../../src/sandbox/sample-account.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'
import { hangUp, json, startScriptedServer } from './scripted-server.ts'

const answer = { created: ['search:1'], updated: [], ignored: [], failed: ['a name'] }
const batch = {
  kibanaVersion: '7.10.2',
  override: false,
  hits: ['{"_id":"search:1", "n":12345678901234567890}', '{"_id":"search:2"}'].map((hit) =>
    Buffer.from(hit),
  ),
}

describe('import', () => {
  it('sends the hits byte for byte and returns what became of them', async () => {
    await using server = await startScriptedServer([json(answer)])
    await using client = quickClient(server.url, { pathPrefix: '/v1' })
    expect(await client.importObjects(batch)).toEqual(answer)
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1/kibana/import',
        body: '{"kibanaVersion":"7.10.2","override":false,"hits":[{"_id":"search:1", "n":12345678901234567890},{"_id":"search:2"}]}',
      },
    ])
  })

  it('is sent to the configured path', async () => {
    await using server = await startScriptedServer([json(answer)])
    await using client = quickClient(server.url, { pathPrefix: '/v1', importPath: '/objects/put' })
    await client.importObjects(batch)
    expect(server.requests[0]?.path).toBe('/v1/objects/put')
  })

  it('repeats one that was turned away or whose answer was lost', async () => {
    const busy = json({ message: 'Too Many Requests' }, { status: 429 })
    await using server = await startScriptedServer([busy, hangUp, json(answer)])
    await using client = quickClient(server.url)
    expect(await client.importObjects(batch)).toEqual(answer)
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1)
    expect(server.requests).toHaveLength(3)
  })

  it.each([
    ['a member that is missing', { created: [], updated: [], ignored: [] }, 'wrong-shape'],
    ['an export', { kibanaVersion: '7', hits: [] }, 'wrong-shape'],
    ['a refused token', { code: 403, message: 'Insufficient privileges' }, 'refused-token'],
  ])('takes no answer for success that is %s', async (_what, body, code) => {
    await using server = await startScriptedServer([json(body)])
    await using client = quickClient(server.url)
    expect(await serviceErrorOf(client.importObjects(batch))).toMatchObject({ code })
  })

  it.each([
    [404, 'not every service accepts imports'],
    [413, 'lower limits.maxImportBytes'],
  ])('says what to try after status %i', async (status, hint) => {
    await using server = await startScriptedServer([json({ message: 'no' }, { status })])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.importObjects(batch))
    expect(error.message).toMatch(/^Cannot import 2 saved objects: /)
    expect(error.hint).toContain(hint)
  })

  it.each([
    ['an import of nothing', json({ created: [], updated: [], ignored: [], failed: [] })],
    ['its refusal', json({ errorCode: 'X', message: 'no hits' }, { status: 400 })],
  ])('takes %s for a service that takes imports', async (_what, answered) => {
    await using server = await startScriptedServer([answered])
    await using client = quickClient(server.url)
    await client.checkImports('7.10.2')
    expect(server.requests).toMatchObject([
      { path: '/kibana/import', body: '{"kibanaVersion":"7.10.2","override":false,"hits":[]}' },
    ])
  })

  it.each([404, 405])('takes status %i for a service without imports', async (status) => {
    await using server = await startScriptedServer([json({ message: 'no' }, { status })])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.checkImports('7.10.2'))
    expect(error.message).toMatch(
      /^Cannot restore into the service: the service has no endpoint for imports/,
    )
    expect(error.hint).toContain('dashkeep sandbox --form deployed')
  })

  it('gives the sandbox its own export back', async () => {
    await using sandbox = await startSandbox({ form: 'deployed' })
    await using client = quickClient(sandbox.url, { token: sampleApiToken, pathPrefix: '/v1' })
    const before = await collect(await client.exportObjects('search'))
    const { kibanaVersion, hits } = JSON.parse(before)
    const bytes = hits.map((hit: object) => Buffer.from(JSON.stringify(hit)))
    sandbox.setObjects(100001, 'search', [])
    const { created } = await client.importObjects({ kibanaVersion, override: false, hits: bytes })
    expect(created).toEqual(hits.map(({ _id }: { _id: string }) => _id))
    expect(await collect(await client.exportObjects('search'))).toBe(before)
  })
})
