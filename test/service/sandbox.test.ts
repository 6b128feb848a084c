import { describe, expect, it } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import type { SubAccount } from '../../src/service/client.ts'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'

const mainToken = 'main-token-5f1d'
const subToken = 'sub-token-88ab'
const newAccount = {
  email: 'admin@example.com',
  accountName: 'Team B',
  retentionDays: 3,
  maxDailyGB: 1,
}

function start(options: SandboxOptions): Promise<Sandbox> {
  const subAccount = { accountId: 102, accountName: 'Team A', apiTokens: [subToken] }
  return startSandbox({
    ...options,
    accounts: [
      {
        accountId: 101,
        accountName: 'Production',
        apiTokens: [mainToken],
        adminEmails: ['admin@example.com'],
        planGb: 10,
        objects: { generated: { seed: 1, count: 40 } },
        subAccounts: [
          {
            ...subAccount,
            settings: { maxDailyGB: 4, retentionDays: 7, sharingObjectsAccounts: [101] },
          },
        ],
      },
    ],
  })
}

function clientOf(sandbox: Sandbox, token = mainToken) {
  return quickClient(sandbox.url, { token, pathPrefix: sandbox.pathPrefix })
}

/** What keeps every setting but those that change. */
function settingsOf(account: SubAccount) {
  const { accountId: _id, email: _email, isOwner: _isOwner, ...settings } = account
  const sharing = account.sharingObjectsAccounts
  return {
    ...settings,
    sharingObjectsAccounts: sharing.map((entry) =>
      typeof entry === 'number' ? entry : entry.accountId,
    ),
  }
}

describe.each(['specified', 'deployed'] as const)('the service in its %s form', (form) => {
  it('returns the account that the token belongs to', async () => {
    await using sandbox = await start({ form })
    await using client = clientOf(sandbox)
    expect(await client.whoami()).toEqual({ accountId: 101, accountName: 'Production' })
  })

  it.each([{}, { gzip: true }, { contentLength: true }, { kibanaVersionLast: true }])(
    'exports every type as it is stored, with %j',
    async (exports) => {
      await using sandbox = await start({ form, ...exports })
      await using client = clientOf(sandbox)
      for (const type of ['search', 'visualization', 'dashboard']) {
        const body = await collect(await client.exportObjects(type))
        const stored = JSON.parse(Buffer.from(sandbox.objects(101, type)).toString())
        expect(JSON.parse(body)).toEqual(stored)
        expect(stored.hits).toHaveLength(40)
      }
    },
  )

  it('exports once two 503s have passed', async () => {
    await using sandbox = await start({ form })
    await using client = clientOf(sandbox)
    sandbox.faults.add({ operation: 'export', status: 503, times: 2 })
    expect(JSON.parse(await collect(await client.exportObjects('search'))).hits).toHaveLength(40)
  })

  it('creates, lists and replaces sub accounts', async () => {
    await using sandbox = await start({ form, staleLists: 0 })
    await using client = clientOf(sandbox)
    const created = await client.createSubAccount(newAccount)
    expect(created.accountToken).not.toBe('')
    const before = await client.listSubAccounts()
    const teamA = before.find(({ accountId }) => accountId === 102)
    expect(before.map(({ accountId }) => accountId)).toContain(created.accountId)
    if (teamA === undefined) throw new Error('expected the list to hold account 102')

    await client.replaceSubAccount(102, { ...settingsOf(teamA), maxDailyGB: 2 })
    const after = await client.listSubAccounts()
    expect(after.find(({ accountId }) => accountId === 102)).toEqual({ ...teamA, maxDailyGB: 2 })
  })

  it('makes no second account when the answer to a create is lost', async () => {
    await using sandbox = await start({ form, staleLists: 0 })
    await using client = clientOf(sandbox)
    sandbox.faults.add({ operation: 'create', lost: true, times: 1 })
    expect((await serviceErrorOf(client.createSubAccount(newAccount))).transient).toBe(false)
    const names = (await client.listSubAccounts()).map(({ accountName }) => accountName)
    expect(names.filter((name) => name === 'Team B')).toHaveLength(1)
  })

  it('refuses an unknown token, and the token of a sub account for managing accounts', async () => {
    await using sandbox = await start({ form })
    await using stranger = clientOf(sandbox, 'nobodys-token')
    await using subAccount = clientOf(sandbox, subToken)
    expect(await subAccount.whoami()).toEqual({ accountId: 102, accountName: 'Team A' })
    const errors = [
      await serviceErrorOf(stranger.whoami()),
      await serviceErrorOf(stranger.exportObjects('search')),
      await serviceErrorOf(subAccount.listSubAccounts()),
      await serviceErrorOf(subAccount.createSubAccount(newAccount)),
    ]
    expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('refused-token'))
  })

  it('reports an unknown sub account, and more capacity than the plan has', async () => {
    await using sandbox = await start({ form })
    await using client = clientOf(sandbox)
    const teamA = (await client.listSubAccounts()).find(({ accountId }) => accountId === 102)
    if (teamA === undefined) throw new Error('expected the list to hold account 102')
    const settings = settingsOf(teamA)
    expect(await serviceErrorOf(client.replaceSubAccount(999, settings))).toMatchObject({
      code: 'unknown-account',
    })
    const tooMuch = { ...settings, maxDailyGB: 1000 }
    expect(await serviceErrorOf(client.replaceSubAccount(102, tooMuch))).toMatchObject({
      code: 'rejected',
      errorCode: 'TimeBasedAccount/ILLEGAL_PLAN_REQUEST',
    })
  })

  it('fails as transient when an export breaks off late', async () => {
    await using sandbox = await start({ form })
    await using client = clientOf(sandbox)
    sandbox.setObjects(101, 'search', [{ _id: 'search:1', text: 'x'.repeat(300_000) }])
    sandbox.faults.add({ operation: 'export', cut: true, atByte: 200_000, times: 1 })
    const error = await serviceErrorOf(client.exportObjects('search').then(collect))
    expect(error.transient).toBe(true)
    expect(JSON.parse(await collect(await client.exportObjects('search'))).hits).toHaveLength(1)
  })
})

it('reports a path prefix that is missing or not wanted', async () => {
  await using specified = await start({ form: 'specified' })
  await using deployed = await start({ form: 'deployed' })
  await using withPrefix = quickClient(specified.url, { token: mainToken, pathPrefix: '/v1' })
  await using withoutPrefix = quickClient(deployed.url, { token: mainToken })
  for (const client of [withPrefix, withoutPrefix]) {
    const error = await serviceErrorOf(client.exportObjects('search'))
    expect(error.code).toBe('no-endpoint')
    expect(error.hint).toContain('path prefix')
  }
})
