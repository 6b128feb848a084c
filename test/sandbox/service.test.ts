import { describe, expect, it } from 'vitest'
import {
  call,
  exportType,
  listed,
  mainId,
  otherSubId,
  startShop,
  subId,
  subToken,
} from './calls.ts'

const path = '/account-management/time-based-accounts'
const replacement = {
  accountName: 'Sub',
  maxDailyGB: 3,
  retentionDays: 9,
  searchable: true,
  accessible: true,
  docSizeSetting: true,
  sharingObjectsAccounts: [otherSubId],
  utilizationSettings: { frequencyMinutes: 5, utilizationEnabled: true },
}
const creation = { email: 'admin@shop.example', accountName: 'New one', retentionDays: 4 }
const refusal = { code: 403, message: 'Insufficient privileges' }

describe('whoami', () => {
  it('names the account the token belongs to', async () => {
    await using sandbox = await startShop()
    const main = await call(sandbox, 'GET', '/v2/whoami')
    expect(main.status).toBe(200)
    expect(await main.json()).toEqual({ accountId: mainId, accountName: 'Main' })
    const sub = await call(sandbox, 'GET', '/v2/whoami', { token: subToken })
    expect(await sub.json()).toEqual({ accountId: subId, accountName: 'Sub' })
  })

  it('refuses an unknown token and a missing one', async () => {
    await using sandbox = await startShop()
    const unknown = await call(sandbox, 'GET', '/v2/whoami', { token: 'nobody' })
    expect(unknown.status).toBe(403)
    expect(await unknown.json()).toEqual(refusal)
    const missing = await fetch(`${sandbox.url}/v2/whoami`)
    expect(await missing.json()).toEqual(refusal)
  })

  it('refuses a token of another region and names both', async () => {
    await using sandbox = await startShop({ region: 'eu-central-1' }, { region: 'us-east-1' })
    const response = await call(sandbox, 'GET', '/v2/whoami')
    expect(response.status).not.toBe(200)
    expect(await response.json()).toMatchObject({
      message: 'Account region us-east-1 differs from current server region eu-central-1',
    })
  })
})

describe('export', () => {
  it('answers with no hits when the account has no objects of the type', async () => {
    await using sandbox = await startShop({}, { kibanaVersion: '6.3.2' })
    for (const type of ['search', 'visualization', 'dashboard']) {
      const response = await exportType(sandbox, type)
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('{"kibanaVersion":"6.3.2","hits":[]}')
    }
  })

  it.each(['', 'no json', '[]', '{}', '{"type":7}', '{"type":"map"}'])(
    'refuses the body %j with 400',
    async (body) => {
      await using sandbox = await startShop()
      const response = await exportType(sandbox, '', { body })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ requestId: expect.any(String) })
    },
  )

  it('accepts further types when they are configured', async () => {
    await using sandbox = await startShop({ types: ['search', 'query'] })
    expect((await exportType(sandbox, 'query')).status).toBe(200)
    expect((await exportType(sandbox, 'dashboard')).status).toBe(400)
  })

  it('serves each account its own objects', async () => {
    await using sandbox = await startShop()
    sandbox.setObjects(subId, 'search', [{ _id: 'search:1' }])
    const main = await exportType(sandbox, 'search')
    expect(await main.json()).toMatchObject({ hits: [] })
    const sub = await exportType(sandbox, 'search', { token: subToken })
    expect(await sub.json()).toMatchObject({ hits: [{ _id: 'search:1' }] })
  })
})

describe('list of sub accounts', () => {
  it('returns the specified members, with and without the slash at the end', async () => {
    await using sandbox = await startShop()
    const accounts = await listed(sandbox)
    expect(accounts[0]).toEqual({
      accountId: subId,
      email: null,
      accountName: 'Sub',
      maxDailyGB: 8,
      retentionDays: 5,
      searchable: false,
      accessible: false,
      docSizeSetting: false,
      sharingObjectsAccounts: [],
      utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
    })
    expect(accounts).toHaveLength(2)
    expect(await (await call(sandbox, 'GET', path)).json()).toEqual(accounts)
  })

  it.each([
    ['GET', '/'],
    ['POST', ''],
    ['PUT', `/${subId}`],
  ])("%s needs the main account's token", async (method, rest) => {
    await using sandbox = await startShop()
    const body = method === 'GET' ? undefined : { ...replacement, ...creation }
    const response = await call(sandbox, method, path + rest, { token: subToken, body })
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual(refusal)
  })
})

describe('creation of a sub account', () => {
  it('answers with the id and the shipping token, and takes 0 GB by default', async () => {
    await using sandbox = await startShop()
    const response = await call(sandbox, 'POST', path, { body: creation })
    expect(response.status).toBe(200)
    const created = (await response.json()) as { accountId: number; accountToken: string }
    expect(Object.keys(created).sort()).toEqual(['accountId', 'accountToken'])
    const entry = (await listed(sandbox)).find(({ accountId }) => accountId === created.accountId)
    expect(entry).toMatchObject({ accountName: 'New one', maxDailyGB: 0, retentionDays: 4 })
  })

  it('returns no API token: the shipping token is refused', async () => {
    await using sandbox = await startShop()
    const response = await call(sandbox, 'POST', path, { body: creation })
    const { accountId, accountToken } = (await response.json()) as {
      accountId: number
      accountToken: string
    }
    expect(sandbox.tokens(accountId)).toEqual([])
    expect((await call(sandbox, 'GET', '/v2/whoami', { token: accountToken })).status).toBe(403)
    const token = sandbox.issueToken(accountId)
    const whoami = await call(sandbox, 'GET', '/v2/whoami', { token })
    expect(await whoami.json()).toEqual({ accountId, accountName: 'New one' })
  })

  it.each([
    ['an e-mail that is not an admin', { email: 'guest@shop.example' }],
    ['no e-mail', { email: undefined }],
    ['no name', { accountName: undefined }],
    ['a name with a slash', { accountName: 'a/b' }],
    ['no retention', { retentionDays: undefined }],
    ['a retention of 0 days', { retentionDays: 0 }],
    ['half a GB', { maxDailyGB: 0.5 }],
    ['a negative GB', { maxDailyGB: -1 }],
  ])('refuses %s with 400', async (_what, change) => {
    await using sandbox = await startShop()
    const response = await call(sandbox, 'POST', path, { body: { ...creation, ...change } })
    expect(response.status).toBe(400)
    expect(await listed(sandbox)).toHaveLength(2)
  })

  it('refuses more GB than the plan has left', async () => {
    await using sandbox = await startShop()
    const asked = (maxDailyGB: number) => ({ body: { ...creation, maxDailyGB } })
    const tooMuch = await call(sandbox, 'POST', path, asked(11))
    expect(tooMuch.status).toBe(400)
    expect(await tooMuch.json()).toMatchObject({
      errorCode: 'TimeBasedAccount/ILLEGAL_PLAN_REQUEST',
      requestId: expect.any(String),
      parameters: {},
    })
    expect((await call(sandbox, 'POST', path, asked(10))).status).toBe(200)
  })
})

describe('replacement of a sub account', () => {
  it('sets every member', async () => {
    await using sandbox = await startShop()
    const response = await call(sandbox, 'PUT', `${path}/${subId}`, { body: replacement })
    expect(response.status).toBe(200)
    expect((await listed(sandbox))[0]).toEqual({ accountId: subId, email: null, ...replacement })
  })

  it('sets members that are left out to their defaults', async () => {
    await using sandbox = await startShop()
    await call(sandbox, 'PUT', `${path}/${subId}`, { body: replacement })
    const body = { accountName: 'Sub', retentionDays: 2 }
    expect((await call(sandbox, 'PUT', `${path}/${subId}`, { body })).status).toBe(200)
    expect((await listed(sandbox))[0]).toMatchObject({
      ...body,
      maxDailyGB: 0,
      searchable: false,
      accessible: false,
      docSizeSetting: false,
      sharingObjectsAccounts: [],
      utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
    })
  })

  it('lets capacity move only by way of the account that gives', async () => {
    await using sandbox = await startShop({}, { planGb: 10 })
    const put = async (id: number, maxDailyGB: number) => {
      const body = { ...replacement, sharingObjectsAccounts: [], maxDailyGB }
      return (await call(sandbox, 'PUT', `${path}/${id}`, { body })).status
    }
    expect(await put(otherSubId, 5)).toBe(400)
    expect(await put(subId, 5)).toBe(200)
    expect(await put(otherSubId, 5)).toBe(200)
    expect((await listed(sandbox)).map(({ maxDailyGB }) => maxDailyGB)).toEqual([5, 5])
  })

  it.each(['999', 'x', String(mainId), '1e1'])('answers 404 for the id %s', async (id) => {
    await using sandbox = await startShop()
    const response = await call(sandbox, 'PUT', `${path}/${id}`, { body: replacement })
    expect(response.status).toBe(404)
  })

  it.each([
    ['a body that is not JSON', '{'],
    ['no name', { ...replacement, accountName: undefined }],
    ['a boolean as text', { ...replacement, searchable: 'true' }],
    ['an unknown account to share with', { ...replacement, sharingObjectsAccounts: [999] }],
    ['objects to share with', { ...replacement, sharingObjectsAccounts: [{ accountId: subId }] }],
  ])('refuses %s with 400 and changes nothing', async (_what, body) => {
    await using sandbox = await startShop()
    const before = await listed(sandbox)
    expect((await call(sandbox, 'PUT', `${path}/${subId}`, { body })).status).toBe(400)
    expect(await listed(sandbox)).toEqual(before)
  })
})

describe('any other address', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/kibana/export'],
    ['POST', '/v1/kibana/export'],
    ['POST', '/kibana/import'],
    ['GET', `${path}/${subId}`],
    ['DELETE', `${path}/${subId}`],
    ['GET', '/whoami'],
    ['POST', `${path}/`],
  ])('%s %s is answered with 404', async (method, address) => {
    await using sandbox = await startShop()
    const body = method === 'POST' ? { type: 'search' } : undefined
    const response = await call(sandbox, method, address, { body })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 404 })
    expect(sandbox.requests()).toMatchObject([{ method, path: address, status: 404 }])
  })
})
