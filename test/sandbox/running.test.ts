import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import {
  call,
  exportedText,
  exportType,
  listed,
  mainId,
  mainToken,
  shop,
  startShop,
  subAccountsPath,
  subId,
} from './calls.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('a sandbox with a database file', () => {
  it('keeps accounts, tokens and objects over a restart', async () => {
    const database = join(temporaryFolder(), 'sandbox.sqlite')
    const objects = { generated: { seed: 1, count: 2 } }
    const accounts = [shop({ objects })]
    const document = '{"kibanaVersion":"6", "hits":[{"_id":"search:1"}]}'
    const before = await startSandbox({ database, accounts })
    const body = { email: 'admin@shop.example', accountName: 'Third', retentionDays: 4 }
    await call(before, 'POST', subAccountsPath(before), { body })
    before.setObjects(mainId, 'search', document)
    const token = before.issueToken(subId)
    const subAccounts = await listed(before)
    const dashboards = await exportedText(before, 'dashboard')
    await before.close()

    await using after = await startSandbox({ database, accounts })
    expect(await listed(after)).toEqual(subAccounts)
    expect(subAccounts).toHaveLength(3)
    expect(await exportedText(after, 'search')).toBe(document)
    expect(hits(await exportedText(after, 'dashboard'))).toEqual(hits(dashboards))
    expect((await call(after, 'GET', '/v2/whoami', { token })).status).toBe(200)
  })

  it('adds all accounts or none', async () => {
    const folder = temporaryFolder()
    const database = join(folder, 'sandbox.sqlite')
    const broken = shop({ objects: { folder: join(folder, 'missing') } })
    await expect(startSandbox({ database, accounts: [broken] })).rejects.toThrow('no such folder')
    await using sandbox = await startSandbox({ database, accounts: [] })
    expect(sandbox.accounts()).toEqual([])
  })

  function hits(text: string): unknown {
    return JSON.parse(text).hits
  }
})

describe('a large generated export', () => {
  const bytes = 64 * 1024 * 1024

  it('is streamed, and waits for a client that does not read', async () => {
    const objects = { generated: { seed: 1, bytes: { dashboard: bytes }, hitBytes: 20_000 } }
    await using sandbox = await startShop({}, { objects })
    // Other test files of this process can hold buffers.
    const heldBefore = heldBytes()
    const response = await exportType(sandbox, 'dashboard')
    await expectLittleMemory(heldBefore)
    let received = 0
    for await (const part of response.body ?? []) {
      const half = received < bytes / 2
      received += part.length
      if (half && received >= bytes / 2) await expectLittleMemory(heldBefore)
    }
    expect(received).toBeGreaterThan(bytes - 100_000)
  })

  /** Waits, since V8 frees buffers some time after a collection. */
  async function expectLittleMemory(heldBefore: number): Promise<void> {
    await vi.waitFor(() => expect(heldBytes() - heldBefore).toBeLessThan(bytes / 4), {
      timeout: 10_000,
    })
  }

  /** Bytes of all buffers after a collection. */
  function heldBytes(): number {
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    return process.memoryUsage().arrayBuffers
  }

  it('ends when the client goes away', async () => {
    const objects = { generated: { seed: 1, bytes: { dashboard: bytes } } }
    await using sandbox = await startShop({ gzip: true, maxConcurrent: 1 }, { objects })
    const response = await exportType(sandbox, 'dashboard')
    await response.body?.cancel()
    await expect.poll(async () => (await call(sandbox, 'GET', '/v2/whoami')).status).toBe(200)
  })
})

describe('a body of a request that is refused', () => {
  it.each([
    ['of an unknown token', '/kibana/export', 'nobody', 403],
    ['for an address that is none', '/nowhere', mainToken, 404],
  ])('is not read: %s', async (_what, path, token, status) => {
    await using sandbox = await startShop()
    const { promise: sent, resolve } = Promise.withResolvers<void>()
    async function* endless() {
      yield Buffer.from('{"type":')
      await sent
    }
    const response = await fetch(sandbox.url + path, {
      method: 'POST',
      headers: { 'x-api-token': token },
      body: ReadableStream.from(endless()),
      duplex: 'half',
    })
    expect(response.status).toBe(status)
    resolve()
    await response.text()
  })
})

describe('recorded requests', () => {
  it('come in order, without tokens', async () => {
    await using sandbox = await startShop()
    await call(sandbox, 'GET', '/v2/whoami')
    await exportType(sandbox, 'search', { headers: { 'user-agent': 'me' } })
    await exportType(sandbox, 'search', { token: 'nobody' })
    expect(sandbox.requests()).toMatchObject([
      { number: 1, method: 'GET', path: '/v2/whoami', operation: 'whoami', body: '', status: 200 },
      {
        operation: 'export',
        type: 'search',
        account: mainId,
        body: '{"type":"search"}',
        headers: { 'user-agent': 'me', 'content-type': 'application/json' },
      },
      { number: 3, account: undefined, status: 403 },
    ])
    expect(JSON.stringify(sandbox.requests())).not.toContain(mainToken)
    sandbox.clearRequests()
    expect(sandbox.requests()).toEqual([])
  })
})

describe('the admin interface', () => {
  it('adds faults as JSON and in the short form, lists and clears them', async () => {
    await using sandbox = await startShop()
    const path = '/_sandbox/faults'
    const post = (body: unknown) => call(sandbox, 'POST', path, { body })
    expect((await post('export status=503 times=1')).status).toBe(201)
    expect((await post([{ operation: 'whoami', status: 500 }])).status).toBe(201)
    expect(await (await call(sandbox, 'GET', path)).json()).toHaveLength(2)
    expect((await exportType(sandbox, 'search')).status).toBe(503)
    expect((await call(sandbox, 'GET', '/v2/whoami')).status).toBe(500)
    expect((await call(sandbox, 'DELETE', path)).status).toBe(204)
    expect((await call(sandbox, 'GET', '/v2/whoami')).status).toBe(200)
    const wrong = await post('export what')
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({ message: expect.stringContaining("'what'") })
  })

  it('shows and clears the requests', async () => {
    await using sandbox = await startShop()
    await call(sandbox, 'GET', '/v2/whoami')
    const requests = () => call(sandbox, 'GET', '/_sandbox/requests')
    expect(await (await requests()).json()).toMatchObject([{ operation: 'whoami' }])
    await call(sandbox, 'DELETE', '/_sandbox/requests')
    expect(await (await requests()).json()).toEqual([])
  })

  it('puts objects and issues API tokens', async () => {
    await using sandbox = await startShop()
    const account = `/_sandbox/accounts/${subId}`
    const document = '{"kibanaVersion":"7.0", "hits":[]}'
    const put = (path: string, body: string) => call(sandbox, 'PUT', path, { body })
    expect((await put(`${account}/objects/search`, document)).status).toBe(204)
    const issued = await call(sandbox, 'POST', `${account}/tokens`)
    const { apiToken } = (await issued.json()) as { apiToken: string }
    expect(await (await exportType(sandbox, 'search', { token: apiToken })).text()).toBe(document)
    expect((await put(`${account}/objects/search`, '{}')).status).toBe(400)
    expect((await put(`${account}/objects/map`, document)).status).toBe(400)
    expect((await put('/_sandbox/accounts/999/objects/search', document)).status).toBe(400)
    const accounts = await (await call(sandbox, 'GET', '/_sandbox/accounts')).json()
    expect(accounts).toMatchObject([{}, { accountId: subId, apiTokens: [{}, apiToken] }, {}])
  })
})

describe('invalid options', () => {
  const folder = (path: string): SandboxOptions => ({
    accounts: [shop({ objects: { folder: path } })],
  })
  const generated = (sizes: object): SandboxOptions => ({
    accounts: [shop({ objects: { generated: { seed: 1, ...sizes } } })],
  })

  async function failure(options: SandboxOptions): Promise<unknown> {
    return startSandbox(options).then(
      (sandbox) => sandbox.close(),
      (error: unknown) => error,
    )
  }

  it('reports a folder that is missing, empty or broken', async () => {
    const path = temporaryFolder()
    const missing = join(path, 'missing')
    expect(await failure(folder(missing))).toMatchObject({
      kind: 'usage',
      message: `Cannot load objects from ${missing}: there is no such folder`,
    })
    expect(await failure(folder(path))).toMatchObject({
      message: `Cannot load objects from ${path}: it holds no export document`,
      hint: expect.stringContaining('dashboard.json'),
    })
    const file = join(path, 'search.json')
    writeFileSync(file, '{"kibanaVersion":"7","hits":[{"_id":}]}')
    expect(await failure(folder(path))).toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(`Cannot load ${file}: `),
    })
  })

  it('reports a port that is in use', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    expect(await failure({ port })).toMatchObject({
      kind: 'usage',
      message: `Cannot start the sandbox: port ${port} is in use`,
    })
  })

  it('reports an unusable database, and does not change other files', async () => {
    const path = temporaryFolder()
    const text = join(path, 'text')
    writeFileSync(text, 'no database at all, but long enough to be looked at. '.repeat(40))
    const foreign = join(path, 'foreign')
    const other = new DatabaseSync(foreign)
    other.exec('CREATE TABLE mine (id INTEGER)')
    other.close()
    for (const database of [text, foreign, join(path, 'missing', 'file'), path]) {
      expect(await failure({ database })).toMatchObject({
        kind: 'usage',
        message: expect.stringContaining(`Cannot open the sandbox database ${database}: `),
      })
    }
  })

  it.each([
    ['a prefix without a slash', { pathPrefix: 'v1' }, "the path prefix 'v1' is not a path"],
    ['a wrong fault', { faults: [{ status: 1 }] }, 'Cannot add the fault'],
    [
      'a token given twice',
      { accounts: [shop(), shop({ accountId: 77, subAccounts: [] })] },
      'its API token belongs to account 10',
    ],
    ['an account given twice', { accounts: [shop(), shop()] }, 'account 10: it is given twice'],
    ['a count and a size', generated({ count: 1, bytes: 1 }), 'both a count and a size in bytes'],
    ['a negative count', generated({ count: { search: -1 } }), '-1 is not a whole number'],
  ] satisfies [string, SandboxOptions, string][])('refuses %s', async (_what, options, reason) => {
    expect(await failure(options)).toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(reason),
    })
  })
})
