import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createAdaptorServer } from '@hono/node-server'
import fc from 'fast-check'
import { Context } from 'hono'
import { describe, expect, it } from 'vitest'
import { type Access, createGate } from '../../src/web/security.ts'
import { openPages, smallShop } from './open-pages.ts'

const expected = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

describe('every answer', () => {
  it.each([
    ['a page', '/', {}, 200],
    ['the style sheet', '/style.css', {}, 200],
    ['the script', '/script.js', {}, 200],
    ['an unknown address', '/nowhere', {}, 404],
    ['an unknown host', '/', { host: 'evil.example' }, 421],
    ['a reader without a cookie', '/', { cookie: '' }, 403],
    ['a wrong token', '/open?token=wrong', {}, 403],
    ['a redirection', '/open?token=TOKEN', {}, 403],
  ] as const)('has the headers: %s', async (_what, path, headers, status) => {
    const pages = await openPages([smallShop()])
    const answer = await pages.send(path, { ...pages.own, ...headers })
    expect(answer.status).toBe(status)
    for (const [name, value] of Object.entries(expected))
      expect(answer.headers.get(name)).toBe(value)
  })
})

describe('the one-time token', () => {
  it('is exchanged once for a cookie that no script reads and no other site sends', async () => {
    const { gate, send } = await openPages([])
    // The first use is that of `openPages` itself.
    const second = await send(`/open?token=${gate.token}`)
    expect(second.status).toBe(403)
    expect(second.headers.get('set-cookie')).toBeNull()
  })

  it('is not used up by a HEAD request', async () => {
    const { createApp } = await import('../../src/web/app.ts')
    const access: Access = { kind: 'token', port: 1 }
    const gate = createGate(access)
    const app = createApp({ read: { signal: new AbortController().signal } } as never, {
      access,
      gate,
      log: {} as never,
    })
    const ask = (method: string) =>
      app.request(`http://127.0.0.1:1/open?token=${gate.token}`, {
        method,
        headers: { host: '127.0.0.1:1' },
      })
    expect((await ask('HEAD')).status).toBe(403)
    const answer = await ask('GET')
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('set-cookie')).toMatch(
      /^dashkeep-1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect((await ask('GET')).status).toBe(403)
  })

  it('never appears on a page, nor does the cookie', async () => {
    const pages = await openPages([smallShop()])
    const secrets = [pages.gate.token ?? '', pages.own.cookie?.split('=')[1] ?? '']
    for (const path of ['/', '/accounts/10', '/nowhere', '/open?token=x']) {
      const { text } = await pages.read(path)
      for (const secret of secrets) expect(text).not.toContain(secret)
    }
    expect(pages.logged.join('')).not.toContain(secrets[0])
  })
})

describe('a request', () => {
  it.each(['127.0.0.1:5338', 'localhost:5338', 'LOCALHOST:5338'])(
    'may name the host %s',
    async (host) => {
      const pages = await openPages([])
      expect((await pages.send('/', { ...pages.own, host })).status).toBe(200)
    },
  )

  it.each([
    '',
    '127.0.0.1',
    '127.0.0.1:80',
    'evil.example:5338',
    '127.0.0.1:5338.evil.example',
    '0.0.0.0:5338',
  ])('is refused for the host %j', async (host) => {
    const pages = await openPages([])
    expect((await pages.send('/', { ...pages.own, host })).status).toBe(421)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'cannot be a %s',
    async (method) => {
      const pages = await openPages([])
      const answer = await pages.send('/', pages.own, { method })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
    },
  )

  it('without the cookie sees nothing of the archive', async () => {
    const pages = await openPages([smallShop()])
    for (const cookie of [
      '',
      'dashkeep-5338=',
      'dashkeep-5338=wrong',
      `other=${pages.own.cookie?.split('=')[1]}`,
    ]) {
      const answer = await pages.send('/accounts/10?x="><b>', { cookie })
      expect(answer.status).toBe(403)
      expect(await answer.text()).not.toMatch(/Shop|<b>/)
    }
  })
})

describe('the page for a reader who is not signed in', () => {
  it.each([
    ['//evil.example/login', '/evil.example/login'],
    ['///evil.example/', '/evil.example/'],
    ['/..//evil.example/x?a=1', '/evil.example/x?a=1'],
    ['/\\evil.example/', '/evil.example/'],
    ['/accounts/10', '/accounts/10'],
  ])('links only to this server: %s', async (path, href) => {
    const pages = await openPages([])
    const answer = await pages.send(path)
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain(`<a href="${href}">continue</a>`)
  })
})

describe('behind a proxy', () => {
  const access: Access = {
    kind: 'proxy',
    origin: new URL('https://dashkeep.example.com'),
    userHeader: 'X-User',
  }

  it('shows the user that the header names', async () => {
    const pages = await openPages([smallShop()], { access })
    const answer = await pages.send('/', { 'x-user': 'anna <b>' })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<bdi>anna &lt;b&gt;</bdi>')
  })

  it('refuses requests without the header, and one-time tokens', async () => {
    const pages = await openPages([smallShop()], { access })
    expect((await pages.send('/')).status).toBe(403)
    expect((await pages.send('/', { 'x-user': ' ' })).status).toBe(403)
    expect((await pages.send('/open?token=')).status).toBe(403)
    expect((await pages.send('/open?token=undefined')).status).toBe(403)
  })

  it.each([
    ['two users', { 'x-user': ['mallory', 'alice'] }, 403, 'several headers X-User'],
    ['the same user twice', { 'x-user': ['alice', 'alice'] }, 403, 'several headers X-User'],
    ['a name with a comma', { 'x-user': 'Doe, Jane' }, 200, 'Doe, Jane'],
    ['a name of 257 characters', { 'x-user': 'a'.repeat(257) }, 403, 'more than 256 characters'],
  ])('answers a request that names %s', async (_what, headers, status, words) => {
    const { app } = await openPages([smallShop()], { access })
    await using server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const host = access.origin.host
    const request = get({ host: '127.0.0.1', port, headers: { host, ...headers }, agent: false })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(status)
    expect(await text(answer)).toContain(words)
  })

  it('distinguishes users whose long names begin and end alike', () => {
    const gate = createGate(access)
    const name = (middle: string) => `${'a'.repeat(100)}${middle}${'z'.repeat(100)}`
    const readers = [name('1'), name('2')].map((user) => {
      const request = new Request('https://dashkeep.example.com/', { headers: { 'x-user': user } })
      return gate.readerOf(new Context(request))
    })
    expect(readers).toEqual([{ user: name('1') }, { user: name('2') }])
  })

  it('answers requests for the public host only', async () => {
    const pages = await openPages([smallShop()], { access })
    expect((await pages.send('/', { 'x-user': 'anna', host: '127.0.0.1:5338' })).status).toBe(421)
  })
})

it('answers 2,000 random requests without a failure or a stack trace', {
  timeout: 60_000,
}, async () => {
  const pages = await openPages([smallShop(), smallShop({ title: 'New' })])
  const [{ snapshot }] = pages.manifests
  const form = 'application/x-www-form-urlencoded'
  const part = fc.oneof(
    fc.constantFrom(
      'accounts',
      '10',
      'snapshots',
      snapshot,
      'object',
      'raw',
      'download',
      'history',
      'compare',
      'refresh',
      'healthz',
      '..',
      '',
      'open',
    ),
    fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.constantFrom('%', '%2', '%ff', '%00', '%2e%2e%2f', '__proto__', '-1', '9'.repeat(400)),
  )
  const name = fc.constantFrom(
    'id',
    'with',
    'q',
    'type',
    'sort',
    'changed',
    'page',
    'year',
    'token',
    '__proto__',
  )
  const value = fc.oneof(
    part,
    fc.constantFrom('search:s1', '-title', 'constructor', '-toString', '1', '2026', '*?*?*'),
  )
  const known = fc.constantFrom(
    ['accounts', '10'],
    ['accounts', '10', 'history'],
    ['accounts', '10', 'snapshots', snapshot],
    ['accounts', '10', 'snapshots', snapshot, 'object'],
    ['accounts', '10', 'snapshots', snapshot, 'object', 'compare'],
    ['accounts', '10', 'refresh'],
  )
  const request = fc.record({
    method: fc.oneof(
      { weight: 4, arbitrary: fc.constant('GET') },
      { weight: 1, arbitrary: fc.constantFrom('HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS') },
    ),
    body: fc.oneof(
      part,
      fc.array(fc.tuple(name, value)).map((all) => new URLSearchParams(all).toString()),
    ),
    path: fc.oneof(known, fc.array(part, { maxLength: 7 })),
    query: fc.array(fc.tuple(name, value), { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, body, path, query }) => {
      const address = `/${path.join('/')}?${query.map((pair) => pair.join('=')).join('&')}`
      const hasBody = !['GET', 'HEAD'].includes(method)
      const headers = { ...pages.own, ...(hasBody && { 'content-type': form }) }
      const answer = await pages.send(address, headers, { method, ...(hasBody && { body }) })
      const text = await answer.text()
      expect([200, 303, 400, 403, 404, 405]).toContain(answer.status)
      expect(text).not.toMatch(/\n\s+at .*\.[tj]s/)
    }),
    { numRuns: 2000 },
  )
})
