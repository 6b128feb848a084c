import { describe, expect, it } from 'vitest'
import {
  call,
  exportType,
  listed,
  mainId,
  otherSubId,
  startShop,
  subAccountsPath,
  subId,
  subToken,
} from './calls.ts'

const body = { accountName: 'Sub', retentionDays: 5, maxDailyGB: 8 }

describe('the deployed form', () => {
  it('has /v1 before every path except whoami', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    expect(sandbox.pathPrefix).toBe('/v1')
    expect((await call(sandbox, 'GET', '/v2/whoami')).status).toBe(200)
    expect(
      (await call(sandbox, 'POST', '/v1/kibana/export', { body: { type: 'search' } })).ok,
    ).toBe(true)
    expect(
      (await call(sandbox, 'POST', '/kibana/export', { body: { type: 'search' } })).status,
    ).toBe(404)
  })

  it('answers a refused token with status 200', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const response = await exportType(sandbox, 'search', { token: 'nobody' })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ code: 403, message: 'Insufficient privileges' })
  })

  it('answers a replace with 204 and no body', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const response = await call(sandbox, 'PUT', `${subAccountsPath(sandbox)}/${subId}`, { body })
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
  })

  it('lists the main account and further members too', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const accounts = await listed(sandbox)
    expect(accounts.map(({ accountId }) => accountId)).toEqual([mainId, subId, otherSubId])
    expect(accounts[0]).toMatchObject({ isOwner: true })
    expect(accounts[1]).toMatchObject({
      isOwner: false,
      isFlexible: false,
      reservedDailyGB: null,
      softLimitGB: null,
    })
  })

  it('reads and removes a sub account by its id', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const address = `${subAccountsPath(sandbox)}/${subId}`
    expect(await (await call(sandbox, 'GET', address)).json()).toMatchObject({ accountId: subId })
    expect((await call(sandbox, 'DELETE', address)).status).toBe(204)
    expect((await call(sandbox, 'GET', address)).status).toBe(404)
  })
})

describe('the deployed form, in detail', () => {
  const relation = { ownerAccountId: mainId, subAccountId: subId, type: 'SUB_ACCOUNT' }
  const detailed = {
    subAccountRelation: { ...relation, searchable: false, accessible: false },
    account: {
      accountId: subId,
      accountName: 'Sub',
      accountToken: expect.any(String),
      active: true,
      maxDailyGB: 8,
      retentionDays: 5,
    },
    sharingObjectsAccounts: [],
    utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
    dailyUsagesList: { usage: [] },
    docSizeSetting: false,
  }

  it('shows every sub account', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const response = await call(sandbox, 'GET', `${subAccountsPath(sandbox)}/detailed`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject([
      detailed,
      { account: { accountId: otherSubId, accountName: 'Other' } },
    ])
  })

  it('shows one sub account, with those it shares objects with', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const path = subAccountsPath(sandbox)
    const one = await call(sandbox, 'GET', `${path}/detailed/${subId}`)
    expect(await one.json()).toMatchObject(detailed)
    const sharing = { ...body, sharingObjectsAccounts: [otherSubId] }
    await call(sandbox, 'PUT', `${path}/${subId}`, { body: sharing })
    const changed = await call(sandbox, 'GET', `${path}/detailed/${subId}`)
    expect(await changed.json()).toMatchObject({
      sharingObjectsAccounts: [{ accountId: otherSubId, accountName: 'Other' }],
    })
  })

  it('refuses the id of another account, and the token of a sub account', async () => {
    await using sandbox = await startShop({ form: 'deployed' })
    const path = `${subAccountsPath(sandbox)}/detailed`
    expect((await call(sandbox, 'GET', `${path}/${mainId}`)).status).toBe(404)
    const refused = await call(sandbox, 'GET', path, { token: subToken })
    expect(await refused.json()).toMatchObject({ code: 403 })
  })

  it('is not in the specified form', async () => {
    await using sandbox = await startShop()
    const path = `${subAccountsPath(sandbox)}/detailed`
    expect((await call(sandbox, 'GET', path)).status).toBe(404)
    expect((await call(sandbox, 'GET', `${path}/${subId}`)).status).toBe(404)
  })
})

describe('single switches', () => {
  it('shows accounts that share objects by name', async () => {
    await using sandbox = await startShop({ sharingAsObjects: true })
    const sharing = { ...body, sharingObjectsAccounts: [otherSubId] }
    await call(sandbox, 'PUT', `${subAccountsPath(sandbox)}/${subId}`, { body: sharing })
    expect((await listed(sandbox))[0]).toMatchObject({
      sharingObjectsAccounts: [{ accountId: otherSubId, accountName: 'Other' }],
    })
  })

  it('resets further writable members that a replace leaves out', async () => {
    await using sandbox = await startShop({ extraMembers: true })
    const path = `${subAccountsPath(sandbox)}/${subId}`
    await call(sandbox, 'PUT', path, { body: { ...body, isFlexible: true, softLimitGB: 1.5 } })
    expect((await listed(sandbox))[0]).toMatchObject({ isFlexible: true, softLimitGB: 1.5 })
    await call(sandbox, 'PUT', path, { body })
    expect((await listed(sandbox))[0]).toMatchObject({ isFlexible: false, softLimitGB: null })
  })

  it('accepts booleans as text and fractions of a GB', async () => {
    await using sandbox = await startShop({ lenientBodies: true })
    const lenient = { ...body, maxDailyGB: 0.5, searchable: 'true', accessible: 'false' }
    const path = `${subAccountsPath(sandbox)}/${subId}`
    expect((await call(sandbox, 'PUT', path, { body: lenient })).status).toBe(200)
    expect((await listed(sandbox))[0]).toMatchObject({
      maxDailyGB: 0.5,
      searchable: true,
      accessible: false,
    })
  })

  it('shows a write only after the configured number of lists', async () => {
    await using sandbox = await startShop({ staleLists: 2 })
    const path = `${subAccountsPath(sandbox)}/${subId}`
    await call(sandbox, 'PUT', path, { body: { ...body, maxDailyGB: 1 } })
    const shown: unknown[] = []
    for (let list = 0; list < 3; list += 1) shown.push((await listed(sandbox))[0]?.maxDailyGB)
    expect(shown).toEqual([8, 8, 1])
  })

  it('shows a new account only after the configured number of lists', async () => {
    await using sandbox = await startShop({ staleLists: 1 })
    const creation = { email: 'admin@shop.example', ...body, maxDailyGB: 0 }
    await call(sandbox, 'POST', subAccountsPath(sandbox), { body: creation })
    expect(await listed(sandbox)).toHaveLength(2)
    expect(await listed(sandbox)).toHaveLength(3)
  })
})
