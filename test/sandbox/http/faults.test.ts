import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/sandbox/http/faults.ts'
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
} from '../calls.ts'

const document = `{"kibanaVersion":"7","hits":[{"_id":"search:1","t":"${'x'.repeat(4000)}"}]}`
const objects = { documents: { search: document, dashboard: document } }

function startWith(...faults: Fault[]) {
  return startShop({ faults }, { objects })
}

async function bytesBeforeCut(response: Response): Promise<number> {
  let received = 0
  try {
    for await (const chunk of response.body ?? []) received += chunk.length
  } catch {
    return received
  }
  throw new Error('the connection was not cut')
}

describe('which requests a fault hits', () => {
  it('hits the operation, type and account it names', async () => {
    await using sandbox = await startWith({
      operation: 'export',
      type: 'dashboard',
      account: mainId,
      status: 503,
    })
    expect((await exportType(sandbox, 'dashboard')).status).toBe(503)
    expect((await exportType(sandbox, 'search')).status).toBe(200)
    expect((await exportType(sandbox, 'dashboard', { token: subToken })).status).toBe(200)
    expect((await call(sandbox, 'GET', '/v2/whoami')).status).toBe(200)
  })

  it('hits `times` times once `after` requests have passed', async () => {
    await using sandbox = await startWith({ operation: 'whoami', status: 500, after: 1, times: 2 })
    const statuses: number[] = []
    for (let request = 0; request < 5; request += 1) {
      statuses.push((await call(sandbox, 'GET', '/v2/whoami')).status)
    }
    expect(statuses).toEqual([200, 500, 500, 200, 200])
    expect(sandbox.faults.pending()).toEqual([])
  })

  it('applies one fault after another, until they are cleared', async () => {
    await using sandbox = await startWith({ status: 500, times: 1 }, { status: 502 })
    const status = async () => (await call(sandbox, 'GET', '/v2/whoami')).status
    expect([await status(), await status(), await status()]).toEqual([500, 502, 502])
    sandbox.faults.clear()
    expect(await status()).toBe(200)
  })
})

describe('what a fault does', () => {
  it('answers with a status and a body of any shape', async () => {
    await using sandbox = await startWith(
      { body: '{"hits":"none"}', times: 1 },
      { status: 502, body: '<html>Bad gateway</html>' },
    )
    const wrongShape = await exportType(sandbox, 'search')
    expect([wrongShape.status, await wrongShape.text()]).toEqual([200, '{"hits":"none"}'])
    const gateway = await exportType(sandbox, 'search')
    expect([gateway.status, await gateway.text()]).toEqual([502, '<html>Bad gateway</html>'])
    expect(gateway.headers.get('content-type')).toContain('text/plain')
  })

  it('refuses the token under status 200', async () => {
    await using sandbox = await startWith({ refused: true })
    const response = await exportType(sandbox, 'search')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ code: 403, message: 'Insufficient privileges' })
  })

  it('answers with status 429, with and without Retry-After', async () => {
    const date = 'Wed, 01 Jan 2031 00:00:00 GMT'
    await using sandbox = await startWith(
      { status: 429, times: 1 },
      { retryAfter: 7, times: 1 },
      { status: 503, retryAfter: date },
    )
    const seen: unknown[] = []
    for (let request = 0; request < 3; request += 1) {
      const response = await exportType(sandbox, 'search')
      seen.push([response.status, response.headers.get('retry-after')])
    }
    expect(seen).toEqual([
      [429, null],
      [429, '7'],
      [503, date],
    ])
  })

  it('redirects', async () => {
    await using sandbox = await startWith({ redirectTo: 'http://other.example/' })
    const response = await exportType(sandbox, 'search')
    expect(response.status).toBe(307)
    expect(response.headers.get('location')).toBe('http://other.example/')
  })

  it('sends more after the document', async () => {
    await using sandbox = await startWith({ trailing: '}garbage' })
    expect(await (await exportType(sandbox, 'search')).text()).toBe(`${document}}garbage`)
    const whoami = await call(sandbox, 'GET', '/v2/whoami')
    expect(await whoami.text()).toMatch(/\}\}garbage$/)
  })

  it('cuts the connection before an answer, and does nothing then', async () => {
    await using sandbox = await startWith({ operation: 'replace', cut: true })
    const body = { accountName: 'Changed', retentionDays: 1 }
    const replace = call(sandbox, 'PUT', `${subAccountsPath(sandbox)}/${subId}`, { body })
    await expect(replace).rejects.toThrow()
    expect((await listed(sandbox))[0]).toMatchObject({ accountName: 'Sub' })
  })

  it('does what was asked for and loses the answer', async () => {
    await using sandbox = await startWith({ operation: 'replace', lost: true })
    const body = { accountName: 'Changed', retentionDays: 1 }
    const replace = call(sandbox, 'PUT', `${subAccountsPath(sandbox)}/${subId}`, { body })
    await expect(replace).rejects.toThrow()
    expect((await listed(sandbox))[0]).toMatchObject({ accountName: 'Changed' })
  })

  it.each([0, 1, 1234])('cuts the connection after %i bytes of the body', async (atByte) => {
    await using sandbox = await startWith({ cut: true, atByte })
    const response = await exportType(sandbox, 'search')
    expect(response.status).toBe(200)
    expect(await bytesBeforeCut(response)).toBe(atByte)
  })

  it('cuts a body whose length was announced', async () => {
    const faults: Fault[] = [{ cut: true, atByte: 100 }]
    await using sandbox = await startShop({ faults, contentLength: true }, { objects })
    expect(await bytesBeforeCut(await exportType(sandbox, 'search'))).toBe(100)
  })

  it('cuts at the end of a body that is shorter', async () => {
    await using sandbox = await startWith({ cut: true, atByte: 1_000_000 })
    const response = await exportType(sandbox, 'search')
    expect(await bytesBeforeCut(response)).toBe(document.length)
  })

  it('waits before the answer, and in the middle of the body', async () => {
    await using sandbox = await startWith(
      { delayMs: 60, times: 1 },
      { delayMs: 60, atByte: 100, times: 1 },
    )
    for (let request = 0; request < 2; request += 1) {
      const startedAt = performance.now()
      expect(await (await exportType(sandbox, 'search')).text()).toBe(document)
      expect(performance.now() - startedAt).toBeGreaterThan(50)
    }
  })

  it('hangs until the client or the sandbox goes', async () => {
    const sandbox = await startWith(
      { operation: 'whoami', hang: true },
      { operation: 'export', hang: true, atByte: 10 },
    )
    const whoami = call(sandbox, 'GET', '/v2/whoami').catch(() => 'cut')
    const response = await exportType(sandbox, 'search')
    const received = bytesBeforeCut(response)
    await sandbox.close()
    expect(await whoami).toBe('cut')
    expect(await received).toBe(10)
  })

  it('combines a wait with an answer', async () => {
    await using sandbox = await startWith({ delayMs: 5, status: 503 })
    expect((await exportType(sandbox, 'search')).status).toBe(503)
  })
})

describe('faults that cannot be meant', () => {
  it.each([
    [{}, 'it has no effect'],
    [{ operation: 'export', times: 2 }, 'it has no effect'],
    [{ status: 99 }, 'status: expected'],
    [{ statsu: 503 }, 'statsu'],
    [{ status: 503, atByte: 4 }, 'atByte needs delayMs, hang or cut'],
    [{ status: 503, operation: 'fetch' }, 'operation: not valid'],
  ])('%j is refused', async (fault, reason) => {
    await using sandbox = await startShop()
    expect(() => sandbox.faults.add(fault as Fault)).toThrow(reason)
  })
})

describe('requests at once', () => {
  it('answers 429 to more than the limit and remembers the most there were', async () => {
    const hang: Fault = { operation: 'list', hang: true }
    await using sandbox = await startShop({ maxConcurrent: 2, faults: [hang] })
    const abort = new AbortController()
    const list = () =>
      fetch(`${sandbox.url}${subAccountsPath(sandbox)}`, {
        headers: { 'x-api-token': 'main-token' },
        signal: abort.signal,
      }).catch(() => 'aborted')
    const hanging = [list(), list()]
    await expect.poll(() => sandbox.highWater(mainId)).toBe(2)
    const refused = await call(sandbox, 'GET', '/v2/whoami')
    expect([refused.status, await refused.text()]).toEqual([429, 'Too Many Requests'])
    expect((await call(sandbox, 'GET', '/v2/whoami', { token: subToken })).status).toBe(200)
    abort.abort()
    expect(await Promise.all(hanging)).toEqual(['aborted', 'aborted'])
    await expect.poll(async () => (await call(sandbox, 'GET', '/v2/whoami')).status).toBe(200)
    expect([mainId, subId, otherSubId].map(sandbox.highWater)).toEqual([3, 1, 0])
  })
})
