import { describe, expect, it } from 'vitest'
import type { RetryEvent, ServiceClient } from '../../src/service/client.ts'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'
import {
  account,
  hangUp,
  json,
  type Scene,
  silence,
  smallExport,
  startScriptedServer,
  text,
} from './scripted-server.ts'

const newAccount = { email: 'admin@example.com', accountName: 'Team B', retentionDays: 3 }
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
const unavailable = text('<html>Bad gateway</html>', { status: 503 })

describe('what is transient', () => {
  it('exports once two 503s have passed', async () => {
    await using server = await startScriptedServer([unavailable, unavailable, json(smallExport)])
    const events: RetryEvent[] = []
    await using client = quickClient(server.url, { onRetry: (event) => events.push(event) })
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
    expect(events.map(({ attempt, error }) => [attempt, error.code, error.status])).toEqual([
      [1, 'unavailable', 503],
      [2, 'unavailable', 503],
    ])
  })

  it.each([
    ['a lost connection', hangUp],
    ['no answer in time', silence],
    ['408', text('', { status: 408 })],
    ['429', text('Too Many Requests', { status: 429 })],
    ['500', json({ message: 'oops' }, { status: 500 })],
    ['the code 500 under status 200', json({ code: 500, message: 'oops' })],
  ])('repeats after %s', async (_failure, scene: Scene) => {
    await using server = await startScriptedServer([scene, json(account)])
    await using client = quickClient(server.url)
    expect(await client.whoami()).toEqual(account)
    expect(server.requests).toHaveLength(2)
  })

  it.each([
    ['400', 400],
    ['401', 401],
    ['403', 403],
    ['404', 404],
  ])('does not repeat after %s', async (_name, status) => {
    await using server = await startScriptedServer([json({}, { status })])
    await using client = quickClient(server.url)
    expect(await serviceErrorOf(client.whoami())).toMatchObject({ status, transient: false })
    expect(server.requests).toHaveLength(1)
  })

  it('gives up after the last attempt with what happened then', async () => {
    await using server = await startScriptedServer([hangUp, hangUp, unavailable])
    await using client = quickClient(server.url, { limits: { attempts: 3 } })
    expect(await serviceErrorOf(client.whoami())).toMatchObject({
      code: 'unavailable',
      transient: true,
    })
    expect(server.requests).toHaveLength(3)
  })

  it('repeats a replace, which ends the same however often it is sent', async () => {
    await using server = await startScriptedServer([hangUp, unavailable, text('', { status: 204 })])
    await using client = quickClient(server.url)
    await client.replaceSubAccount(12, settings)
    expect(server.requests).toHaveLength(3)
  })
})

describe('a create', () => {
  it.each([
    ['a lost connection', hangUp],
    ['no answer in time', silence],
    ['503', unavailable],
    ['an answer that is not JSON', text('<html>')],
    ['an answer of the wrong shape', json({ accountToken: 'shipping-token' })],
  ])(
    'is not repeated after %s, and the hint says to look first',
    async (_failure, scene: Scene) => {
      await using server = await startScriptedServer([scene])
      await using client = quickClient(server.url)
      const error = await serviceErrorOf(client.createSubAccount(newAccount))
      expect(error.transient).toBe(false)
      expect(error.hint).toContain('list the sub accounts before you try again')
      expect(server.requests).toHaveLength(1)
    },
  )

  it('is not repeated after 429 either, though it may be later', async () => {
    await using server = await startScriptedServer([text('', { status: 429 })])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.createSubAccount(newAccount))
    expect(error).toMatchObject({ code: 'too-many-requests', transient: true })
    expect(server.requests).toHaveLength(1)
  })

  it('is repeated when the connection was refused before anything was sent', async () => {
    const created = { accountId: 13, accountToken: 'shipping-token' }
    const { port, url } = await portThatRefuses()
    let starting: ReturnType<typeof startScriptedServer> | undefined
    await using client = quickClient(url, {
      limits: { retryBaseMs: 100 },
      onRetry: () => {
        starting ??= startScriptedServer([json(created)], { port })
      },
    })
    expect(await client.createSubAccount(newAccount)).toEqual(created)
    await using server = await starting
    expect(server?.requests).toHaveLength(1)
  })
})

describe('Retry-After', () => {
  const date = 'Fri, 20 Nov 2026 16:31:00 GMT'

  it.each([
    ['seconds', { 'retry-after': '0' }, 0],
    ['more seconds than the limit', { 'retry-after': '3600' }, 40],
    ['a date past', { 'retry-after': 'Fri, 20 Nov 2026 16:30:00 GMT', date }, 0],
    ['a date far ahead', { 'retry-after': 'Fri, 20 Nov 2026 17:30:00 GMT', date }, 40],
    ['nonsense', { 'retry-after': 'soon' }, 0],
    ['nothing', {}, 0],
  ])('is honoured as %s, on top of the back-off', async (_form, headers, askedMs) => {
    await using server = await startScriptedServer([
      text('Too Many Requests', { status: 429, headers: headers as Record<string, string> }),
      json(account),
    ])
    const events: RetryEvent[] = []
    await using client = quickClient(server.url, {
      limits: { retryBaseMs: 10, maxRetryAfterMs: 40 },
      onRetry: (event) => events.push(event),
    })
    const before = performance.now()
    await client.whoami()
    const [event] = events
    expect(event?.delayMs).toBeGreaterThanOrEqual(askedMs + 10)
    expect(event?.delayMs).toBeLessThanOrEqual(askedMs + 20)
    expect(performance.now() - before).toBeGreaterThanOrEqual((event?.delayMs ?? 0) - 5)
  })

  it('is part of the error', async () => {
    const later = { 'retry-after': 'Fri, 20 Nov 2026 16:33:00 GMT', date }
    await using server = await startScriptedServer([text('', { status: 429, headers: later })])
    await using client = quickClient(server.url, { limits: { attempts: 1 } })
    expect((await serviceErrorOf(client.whoami())).retryAfterMs).toBe(120_000)
  })

  it('doubles the wait each time', async () => {
    await using server = await startScriptedServer([unavailable])
    const waits: number[] = []
    await using client = quickClient(server.url, {
      limits: { attempts: 4, retryBaseMs: 8 },
      onRetry: ({ delayMs }) => waits.push(delayMs),
    })
    await serviceErrorOf(client.whoami())
    expect(waits).toHaveLength(3)
    for (const [n, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(8 * 2 ** n)
      expect(wait).toBeLessThanOrEqual(16 * 2 ** n)
    }
  })
})

describe('abort', () => {
  it.each([
    ['while the service is silent', silence, {}],
    [
      'while Retry-After is waited for',
      text('', { status: 429, headers: { 'retry-after': '60' } }),
      {},
    ],
    ['while backing off', unavailable, { retryBaseMs: 60_000, retryMaxMs: 60_000 }],
  ])('stops %s, with the reason given', async (_when, scene: Scene, limits) => {
    await using server = await startScriptedServer([scene])
    let isWaiting = false
    await using client = quickClient(server.url, {
      limits: { headersTimeoutMs: 60_000, ...limits },
      onRetry: () => {
        isWaiting = true
      },
    })
    const controller = new AbortController()
    const asking = client.whoami({ signal: controller.signal })
    const outcome = expect(asking).rejects.toThrowError('enough')
    const hasCome = () => (scene === silence ? server.requests.length > 0 : isWaiting)
    await expect.poll(hasCome, { interval: 5 }).toBe(true)
    controller.abort(new Error('enough'))
    await outcome
    expect(server.requests).toHaveLength(1)
  })

  it('sends nothing when aborted before', async () => {
    await using server = await startScriptedServer([json(account)])
    await using client = quickClient(server.url)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.whoami({ signal })).rejects.toThrowError('enough')
    await expect(client.exportObjects('search', { signal })).rejects.toThrowError('enough')
    expect(server.requests).toHaveLength(0)
  })

  it('stops a request that waits for a free connection', async () => {
    await using server = await startScriptedServer([silence])
    await using client = quickClient(server.url, {
      limits: { concurrency: 1, headersTimeoutMs: 60_000 },
    })
    const first = new AbortController()
    const second = new AbortController()
    const asking: ReturnType<ServiceClient['whoami']>[] = [
      client.whoami({ signal: first.signal }),
      client.whoami({ signal: second.signal }),
    ]
    second.abort(new Error('second'))
    await expect(asking[1]).rejects.toThrowError('second')
    first.abort(new Error('first'))
    await expect(asking[0]).rejects.toThrowError('first')
  })
})

async function portThatRefuses(): Promise<{ port: number; url: string }> {
  await using server = await startScriptedServer([silence])
  return { port: server.port, url: server.url }
}
