import { describe, expect, it } from 'vitest'
import { networkError } from '../../src/service/network-error.ts'
import { regionsIn } from '../../src/service/refusal.ts'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'
import { json, type Scene, smallExport, startScriptedServer, text } from './scripted-server.ts'

const settings = {
  accountName: 'Team A',
  maxDailyGB: 1,
  retentionDays: 7,
  searchable: true,
  accessible: false,
  docSizeSetting: true,
  sharingObjectsAccounts: [],
  utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
}
const newAccount = { email: 'admin@example.com', accountName: 'Team B', retentionDays: 3 }
const noPrivileges = { code: 403, message: 'Insufficient privileges' }

type Ask = (client: ReturnType<typeof quickClient>) => Promise<unknown>
const operations: [string, Ask][] = [
  ['whoami', (client) => client.whoami()],
  ['an export', (client) => client.exportObjects('dashboard')],
  ['a list', (client) => client.listSubAccounts()],
  ['a create', (client) => client.createSubAccount(newAccount)],
  ['a replace', (client) => client.replaceSubAccount(12, settings)],
]

async function refusalOf(ask: Ask, scene: Scene) {
  await using server = await startScriptedServer([scene])
  await using client = quickClient(server.url, { limits: { attempts: 1 } })
  return await serviceErrorOf(ask(client))
}

describe.each(operations)('%s', (_name, ask) => {
  it.each([
    ['the code 403 under status 200', json(noPrivileges)],
    ['status 403', json(noPrivileges, { status: 403 })],
    ['status 403 without a body', text('', { status: 403 })],
    ['status 401', json({ message: 'Unauthorized' }, { status: 401 })],
    ['the code 403 under status 500', json(noPrivileges, { status: 500 })],
    ['the message alone', json({ message: 'Insufficient privileges' })],
  ])('knows a refused token by %s', async (_form, scene) => {
    const error = await refusalOf(ask, scene)
    expect(error).toMatchObject({ code: 'refused-token', transient: false })
    expect(error.message).toMatch(/^Cannot .*: the service refuses the token \(status \d+/)
    expect(error.hint).toMatch(/API token/)
  })

  const region = 'Account region us-east-1 differs from current server region eu'
  it.each([
    ['a JSON body', json({ message: region }, { status: 400 })],
    ['a nested JSON body', json({ error: { message: region } }, { status: 500 })],
    ['a JSON body under status 200', json({ code: 403, message: region })],
    ['a nested body under status 403', json({ error: { message: region } }, { status: 403 })],
    ['a JSON string', json(region)],
    ['a JSON string under status 403', json(region, { status: 403 })],
    ['plain text', text(region)],
    ['plain text under status 401', text(region, { status: 401 })],
  ])('names both regions when told in %s', async (_form, scene) => {
    const error = await refusalOf(ask, scene)
    expect(error).toMatchObject({ code: 'wrong-region', transient: false })
    expect(error.message).toContain(
      "the token's account is in region us-east-1, the base address serves region eu",
    )
    expect(error.hint).toContain('use the base address of region us-east-1')
  })

  it('keeps error code and request id of what is rejected', async () => {
    const body = {
      errorCode: 'TimeBasedAccount/ILLEGAL_PLAN_REQUEST',
      message: 'Not enough capacity',
      requestId: 'req-77',
      parameters: { left: 2 },
    }
    for (const status of [400, 200]) {
      const error = await refusalOf(ask, json(body, { status }))
      expect(error).toMatchObject({
        code: 'rejected',
        status,
        errorCode: 'TimeBasedAccount/ILLEGAL_PLAN_REQUEST',
        requestId: 'req-77',
      })
      expect(error.message).toContain(
        `(status ${status}, TimeBasedAccount/ILLEGAL_PLAN_REQUEST, "Not enough capacity", request req-77)`,
      )
    }
  })

  it('shows the first words of a web page', async () => {
    const page = `<!DOCTYPE html>\n<html>\u0007<title>Sign in</title>${'<p>words</p>'.repeat(20_000)}`
    const error = await refusalOf(ask, text(page))
    expect(error).toMatchObject({ code: 'not-json', status: 200, transient: false })
    expect(error.message.length).toBeLessThan(200)
    if (_name !== 'a create') {
      expect(error.message).toContain('but begins "<!DOCTYPE html> <html><title>Sign in</title>')
    }
  })

  it.each([
    [
      'another host',
      'https://elsewhere.example.com/v2/whoami?secret=1',
      'https://elsewhere.example.com',
    ],
    ['the same host', '/login', /http:\/\/127\.0\.0\.1:\d+/],
    ['nowhere', '', /./],
  ])('does not follow a redirect to %s', async (_target, location, shown) => {
    const error = await refusalOf(ask, text('', { status: 302, headers: { location } }))
    expect(error).toMatchObject({ code: 'redirected', status: 302, transient: false })
    expect(error.message).toMatch(shown)
    expect(error.message).not.toContain('secret')
    expect(error.hint).toContain('correct the base address')
  })
})

describe('a missing endpoint', () => {
  it.each(operations.slice(0, 4))(
    'is told for %s, with the path prefix to try',
    async (_name, ask) => {
      for (const status of [404, 405]) {
        const error = await refusalOf(ask, text('Not found', { status }))
        expect(error).toMatchObject({ code: 'no-endpoint', status, transient: false })
        expect(error.hint).toContain('/v1')
      }
    },
  )

  it('is an unknown sub account for a replace', async () => {
    const error = await refusalOf(
      (client) => client.replaceSubAccount(12, settings),
      json({}, { status: 404 }),
    )
    expect(error).toMatchObject({ code: 'unknown-account', status: 404, transient: false })
    expect(error.message).toContain('replace the settings of sub account 12')
  })
})

describe('an answer of the wrong shape', () => {
  it.each([
    ['whoami without an id', operations[0], { accountName: 'Production' }, 'accountId'],
    [
      'whoami with an id as text',
      operations[0],
      { accountId: '1', accountName: '' },
      'accountId: expected a number, found text',
    ],
    ['an export without hits', operations[1], { kibanaVersion: '7.0.0' }, 'hits'],
    ['an export without a version', operations[1], { hits: [] }, 'kibanaVersion'],
    ['an export that is a list', operations[1], [], 'expected an object, found a list'],
    ['an empty object for an export', operations[1], {}, 'kibanaVersion'],
    [
      'a list that is an object',
      operations[2],
      { accounts: [] },
      'expected a list, found an object',
    ],
    ['a list of others', operations[2], [{ id: 1 }], '0.accountId'],
    ['a create without a token', operations[3], { accountId: 1 }, 'accountToken: missing'],
    ['an empty token', operations[3], { accountId: 1, accountToken: '' }, 'accountToken: empty'],
  ])('is refused: %s', async (_form, operation, body, problem) => {
    const error = await refusalOf(operation?.[1] as Ask, json(body))
    expect(error).toMatchObject({ code: 'wrong-shape', status: 200, transient: false })
    expect(error.message).toContain(problem)
    // No words of a library.
    expect(error.message).not.toMatch(/invalid|received|undefined/i)
  })

  it.each([
    ['an empty body', ''],
    ['a long page', `<html>${' '.repeat(200_000)}`],
    ['a long list', `[${'1,'.repeat(100_000)}1]`],
    ['half an object', '{"kibanaVersion":"7.0.0","hits":['],
  ])('is no export: %s', async (_form, body) => {
    const error = await refusalOf((client) => client.exportObjects('search'), text(body))
    expect(error).toMatchObject({ code: 'not-json', status: 200 })
  })

  it('limits answers that are no exports', async () => {
    const endless: Scene = (response) => {
      const block = Buffer.alloc(1024 * 1024, ' ')
      const pump = () => {
        while (!response.destroyed) if (!response.write(block)) return response.once('drain', pump)
      }
      pump()
    }
    const error = await refusalOf((client) => client.whoami(), endless)
    expect(error).toMatchObject({ code: 'too-large', transient: false })
  })
})

it('takes an export for one although its objects speak of regions and refusals', async () => {
  const title = 'Account region us differs from current server region eu: Insufficient privileges'
  const body = { ...smallExport, hits: [{ title, code: 403, errorCode: 'x', message: title }] }
  await using server = await startScriptedServer([json(body)])
  await using client = quickClient(server.url)
  expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(body)
})

it.each([
  ['Account region us differs from current server region eu.', 'us', 'eu'],
  ['Error: account region <us> differs from current server region <eu>', 'us', 'eu'],
  [
    'Account region "us-east-1" differs from current server region "eu-central-1"',
    'us-east-1',
    'eu-central-1',
  ],
])('reads the regions of: %s', (message, account, server) => {
  expect(regionsIn(message)).toEqual({ account, server })
})

it('explains a connection that is refused', async () => {
  const gone = await startScriptedServer([json({})])
  await gone[Symbol.asyncDispose]()
  await using client = quickClient(gone.url)
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'network', transient: true })
  expect(error.message).toBe(
    `Cannot find the account of the token: ${gone.url} cannot be reached (ECONNREFUSED)`,
  )
})

it('explains a server without TLS', async () => {
  await using server = await startScriptedServer([json({})])
  await using client = quickClient(server.url.replace('http:', 'https:'))
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'network', transient: false })
  expect(error.hint).toContain('https://')
})

it('explains a server that does not use HTTP', async () => {
  const error = await refusalOf(
    (client) => client.whoami(),
    (response) => response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n'),
  )
  expect(error).toMatchObject({ code: 'network', transient: false })
  expect(error.message).toContain('is not HTTP')
})

it.each([
  ['ENOTFOUND', 'network', true, 'cannot be resolved'],
  ['EAI_AGAIN', 'network', true, 'cannot be resolved'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout', true, 'did not answer in time'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'network', false, 'a secure connection'],
  ['CERT_HAS_EXPIRED', 'network', false, 'a secure connection'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'network', false, 'a secure connection'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'network', false, 'a secure connection'],
  ['HPE_INVALID_CONSTANT', 'network', false, 'is not HTTP'],
  ['SOMETHING_NEW', 'network', false, 'failed'],
])('explains the network error %s', (code, errorCode, transient, state) => {
  const error = networkError(
    { name: 'list', action: 'list the sub accounts', method: 'GET', path: '/' },
    Object.assign(new Error('low-level words'), { code }),
    { address: 'https://api.example.com', sanitize: (text) => text },
  )
  expect(error).toMatchObject({ code: errorCode, transient })
  expect(error.message).toContain(state)
  expect(error.cause).toMatchObject({ message: 'low-level words', code })
})
