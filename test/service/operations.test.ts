import { describe, expect, it } from 'vitest'
import type { SavedObjectSource } from '../../src/archive/source.ts'
import { createServiceClient, type SubAccountSettings } from '../../src/service/client.ts'
import { collect, quickClient, serviceErrorOf, token } from './fixtures.ts'
import { account, json, smallExport, startScriptedServer, text } from './scripted-server.ts'

const listed = {
  accountId: 12,
  email: null,
  accountName: 'Team A',
  maxDailyGB: 2.5,
  retentionDays: 7,
  searchable: true,
  accessible: false,
  docSizeSetting: true,
  sharingObjectsAccounts: [],
  utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
}

const settings: SubAccountSettings = {
  accountName: 'Team A',
  maxDailyGB: 1,
  retentionDays: 7,
  searchable: true,
  accessible: false,
  docSizeSetting: true,
  sharingObjectsAccounts: [4711],
  utilizationSettings: { frequencyMinutes: 5, utilizationEnabled: true },
}

describe('the five operations', () => {
  it('asks whom the token belongs to', async () => {
    await using server = await startScriptedServer([json({ ...account, region: 'us' })])
    await using client = quickClient(server.url)
    expect(await client.whoami()).toEqual(account)
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: '/v2/whoami',
      body: '',
      headers: {
        'x-api-token': token,
        'content-type': 'application/json',
        'accept-encoding': 'gzip, deflate',
      },
    })
  })

  it('exports one type exactly as received', async () => {
    const body = '{ "hits":[],\n"kibanaVersion":"5.5.3", "big":12345678901234567890,"e":"\\u00e9"}'
    await using server = await startScriptedServer([text(body)])
    await using client = quickClient(server.url)
    expect(await collect(await client.exportObjects('dashboard'))).toBe(body)
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/kibana/export',
      body: '{"type":"dashboard"}',
    })
  })

  it('lists sub accounts in every form, with members it does not know', async () => {
    const forms = [
      listed,
      { ...listed, sharingObjectsAccounts: [1, 2], maxDailyGB: null, isFlexible: true },
      { ...listed, sharingObjectsAccounts: [{ accountId: 1, accountName: 'Main', x: 1 }] },
      { ...listed, utilizationSettings: { frequencyMinutes: 5, utilizationEnabled: true, y: 2 } },
    ]
    await using server = await startScriptedServer([json(forms)])
    await using client = quickClient(server.url)
    expect(await client.listSubAccounts()).toEqual(forms)
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: '/account-management/time-based-accounts/',
      body: '',
    })
  })

  it('creates a sub account', async () => {
    const created = { accountId: 13, accountToken: 'shipping-token' }
    await using server = await startScriptedServer([json(created)])
    await using client = quickClient(server.url)
    const wanted = { email: 'admin@example.com', accountName: 'Team B', retentionDays: 3 }
    expect(await client.createSubAccount(wanted)).toEqual(created)
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/account-management/time-based-accounts',
    })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(wanted)
  })

  it.each([
    ['200 without a body', text('')],
    ['204', text('', { status: 204 })],
    ['200 with an object', json({ accountId: 12 })],
    ['200 with plain text', text('OK')],
  ])('replaces settings, answered by %s', async (_form, scene) => {
    await using server = await startScriptedServer([scene])
    await using client = quickClient(server.url)
    await client.replaceSubAccount(12, settings)
    expect(server.requests[0]).toMatchObject({
      method: 'PUT',
      path: '/account-management/time-based-accounts/12',
    })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(settings)
  })
})

describe('addresses', () => {
  it.each(['/v1', 'v1', '/v1/'])(
    'puts the prefix %s before the unversioned paths only',
    async (pathPrefix) => {
      await using server = await startScriptedServer([json(account), json(smallExport), json([])])
      await using client = quickClient(server.url, { pathPrefix })
      await client.whoami()
      await collect(await client.exportObjects('search'))
      await client.listSubAccounts()
      expect(server.requests.map(({ path }) => path)).toEqual([
        '/v2/whoami',
        '/v1/kibana/export',
        '/v1/account-management/time-based-accounts/',
      ])
    },
  )

  it('keeps a path of the base address', async () => {
    await using server = await startScriptedServer([json(account)])
    await using client = quickClient(`${server.url}/gateway/`)
    await client.whoami()
    expect(server.requests[0]?.path).toBe('/gateway/v2/whoami')
    expect(client.address).toBe(`${server.url}/gateway`)
  })

  it.each([
    ['no URL', 'api.example.com'],
    ['another scheme', 'ftp://api.example.com'],
    ['a password', 'https://me:hunter2@api.example.com'],
    ['a query', 'https://api.example.com?token=hunter2'],
  ])('refuses a base address with %s, without repeating it', (_form, baseUrl) => {
    const create = () => createServiceClient({ baseUrl, token })
    expect(create).toThrowError(expect.objectContaining({ kind: 'usage' }))
    expect(create).not.toThrowError(/hunter2/)
  })

  it.each(['/v1?x', 'a b', '..%2f'])('refuses the path prefix %s', (pathPrefix) => {
    expect(() =>
      createServiceClient({ baseUrl: 'https://api.example.com', token, pathPrefix }),
    ).toThrowError(expect.objectContaining({ kind: 'usage' }))
  })

  it('refuses an account id that is no integer before anything is sent', async () => {
    await using server = await startScriptedServer([json({})])
    await using client = quickClient(server.url)
    await expect(client.replaceSubAccount(1.5, settings)).rejects.toMatchObject({ kind: 'usage' })
    expect(server.requests).toHaveLength(0)
  })
})

it('serves as the source of snapshots', () => {
  const source: SavedObjectSource = quickClient('http://127.0.0.1:9')
  expect(source.address).toBe('http://127.0.0.1:9')
})

it("returns how far the service's clock is ahead", async () => {
  const hour = 3_600_000
  const date = () => new Date(Date.now() + hour).toUTCString()
  await using server = await startScriptedServer([
    (response, request) => json(account, { headers: { date: date() } })(response, request),
  ])
  await using client = quickClient(server.url)
  expect(client.clockSkewMs).toBeUndefined()
  await client.whoami()
  expect(Math.abs((client.clockSkewMs ?? 0) - hour)).toBeLessThan(60_000)
})

it('keeps at most as many requests under way as the limit allows', async () => {
  let underWay = 0
  let most = 0
  await using server = await startScriptedServer([
    (response, request) => {
      most = Math.max(most, ++underWay)
      setTimeout(() => {
        underWay--
        json(account)(response, request)
      }, 10)
    },
  ])
  await using client = quickClient(server.url, { limits: { concurrency: 2 } })
  await Promise.all(Array.from({ length: 8 }, () => client.whoami()))
  expect(most).toBe(2)
})

it('fails cleanly once closed', async () => {
  await using server = await startScriptedServer([json(account)])
  const client = quickClient(server.url)
  await client.whoami()
  await client.close()
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'network', transient: false })
  expect(server.requests).toHaveLength(1)
})
