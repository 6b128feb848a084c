import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Access } from '../../src/web/security.ts'
import { formOf, openRestorePages } from './open-restore-pages.ts'
import { choosing, confirmation, empty, importsOf, restore, shopId } from './restore-steps.ts'

describe('a form is refused', () => {
  it.each([
    ['without Origin', { origin: '' }, 403],
    ['from another origin', { origin: 'https://evil.example' }, 403],
    ['from an opaque origin', { origin: 'null' }, 403],
    ['from another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['from the same site only', { 'sec-fetch-site': 'same-site' }, 403],
    ['from nowhere', { 'sec-fetch-site': 'none' }, 403],
    ['without a cookie', { cookie: '' }, 403],
    ['with another cookie', { cookie: 'dashkeep-5338=x' }, 403],
    ['as plain text', { 'content-type': 'text/plain' }, 415],
    ['as JSON', { 'content-type': 'application/json' }, 415],
    ['for another host', { host: 'evil.example' }, 421],
  ])('%s', async (_what, headers, status) => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    for (const path of [action, '/basket/add', '/basket/remove']) {
      const answer = await pages.post(path, form, headers)
      expect(answer.status).toBe(status)
      expect(answer.answer.headers.get('cache-control')).toBe('no-store')
    }
    expect(importsOf(pages)).toEqual([])
    expect(pages.restores?.registry.list()).toEqual([])
  })

  it('with a wrong form token, and with that of another session', async () => {
    await using pages = await openRestorePages()
    await using others = await openRestorePages()
    empty(pages)
    empty(others)
    const { form, action } = await confirmation(pages)
    const foreign = (await confirmation(others)).form.get('form-token') ?? ''
    for (const token of ['', 'wrong', foreign]) {
      form.set('form-token', token)
      expect((await pages.post(action, form)).status).toBe(403)
    }
    form.delete('form-token')
    expect((await pages.post(action, form)).status).toBe(403)
  })

  it('with a key that no plan has', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    form.set('key', 'invented')
    const answer = await pages.post(action, form)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('The plan was too old to be confirmed.')
    expect(importsOf(pages)).toEqual([])
  })

  it('when it is too large', async () => {
    await using pages = await openRestorePages()
    const form = formOf((await pages.read(pages.path)).text, '/basket/add')
    form.set('object', 'x'.repeat(1024 ** 2))
    expect((await pages.post('/basket/add', form)).status).toBe(413)
    const length = { 'content-length': String(2 * 1024 ** 2) }
    expect((await pages.post('/basket/add', new URLSearchParams(), length)).status).toBe(413)
  })

  it('with no object, and with an invalid object', async () => {
    await using pages = await openRestorePages()
    const { text } = await pages.read(pages.path)
    const form = formOf(text, '/basket/add')
    expect((await pages.post('/basket/add', form)).status).toBe(422)
    form.append('object', 'account=x&snapshot=y&id=z')
    expect((await pages.post('/basket/add', form)).status).toBe(422)
    expect((await pages.read('/basket')).text).toContain('The basket is empty.')
  })
})

describe('addresses of restoring', () => {
  it('accept only POST for forms, and only GET and HEAD otherwise', async () => {
    await using pages = await openRestorePages()
    const start = `${pages.path}/restore/start`
    for (const path of ['/basket/add', '/basket/remove', start]) {
      const answer = await pages.send(path, pages.own)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
    for (const path of ['/', '/basket', '/restores', `${pages.path}/restore`, '/style.css']) {
      const answer = await pages.send(path, pages.postHeaders, { method: 'POST', body: 'a=b' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })

  it('do not exist without --allow-restore', async () => {
    await using pages = await openRestorePages({ isAllowed: false })
    const start = `${pages.path}/restore/start`
    for (const path of [
      '/basket',
      '/basket/add',
      '/restores',
      '/restores/x',
      `${pages.path}/restore?all=1`,
      start,
    ]) {
      expect((await pages.read(path)).status).toBe(404)
    }
    for (const path of ['/basket/add', '/basket/remove', start]) {
      expect(
        (await pages.send(path, pages.postHeaders, { method: 'POST', body: 'a=b' })).status,
      ).toBe(405)
    }
    for (const path of ['/', pages.path, `${pages.path}/object?${choosing()}`]) {
      const { text } = await pages.read(path)
      expect(text).toContain('read only')
      expect(text).not.toMatch(/asket|\/restore|<form method="post"|name="referrer"/)
    }
  })
})

it('sets a referrer policy with which browsers send Origin with forms', async () => {
  await using pages = await openRestorePages()
  const { text } = await pages.read('/basket')
  expect(text).toContain('<meta name="referrer" content="same-origin">')
})

describe('behind a proxy', () => {
  const access: Access = {
    kind: 'proxy',
    origin: new URL('https://dashkeep.example.com'),
    userHeader: 'x-user',
  }

  it('logs and shows the user of a restore, and gives each user a basket', async () => {
    await using pages = await openRestorePages({ access })
    empty(pages)
    const object = await pages.read(`${pages.path}/object?${choosing()}`)
    await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    expect((await pages.read('/basket')).text).toContain('1 chosen object')
    expect((await pages.read('/basket', { 'x-user': 'bert' })).text).toContain('is empty')
    const { text } = await restore(pages)
    expect(text).toContain('<dt>Confirmed by</dt><dd><bdi>anna</bdi></dd>')
    const lines = pages.logged.map((line) => JSON.parse(line))
    const about = { user: 'anna', account: shopId, snapshot: pages.manifest.snapshot }
    expect(lines).toContainEqual(expect.objectContaining({ ...about, msg: 'restore started' }))
    expect(lines).toContainEqual(
      expect.objectContaining({ ...about, msg: 'restored', total: 6, restored: 6, failed: 0 }),
    )
  })

  it('refuses a form and a key of another user', async () => {
    await using pages = await openRestorePages({ access })
    empty(pages)
    const { form, action } = await confirmation(pages)
    expect((await pages.post(action, form, { 'x-user': 'bert' })).status).toBe(403)
    const own = await confirmation(pages, { headers: { 'x-user': 'bert' } })
    own.form.set('key', form.get('key') ?? '')
    const answer = await pages.post(action, own.form, { 'x-user': 'bert' })
    expect([answer.status, importsOf(pages)]).toEqual([422, []])
    expect((await pages.post(action, form, { origin: 'http://dashkeep.example.com' })).status).toBe(
      403,
    )
  })
})

it('answers 1,000 random posts without a failure, a stack trace or a restore', async () => {
  await using pages = await openRestorePages()
  const { text } = await pages.read(`${pages.path}/object?id=search:failed-orders`)
  const form = formOf(text, '/basket/add')
  const before = pages.store.keys()
  const names = ['object', 'group', 'key', 'request', 'name', 'digest', 'id', '__proto__']
  const value = fc.oneof(
    fc.constantFrom(...form.values(), '', '-1', 'constructor', '9'.repeat(400), '../..'),
    fc.constantFrom('Shop', 'all=1', 'basket=1', `id=${'x'.repeat(9000)}`, 'id=%ff&id=%00'),
    fc.constantFrom(`account=${shopId}&snapshot=${pages.manifest.snapshot}&id=x`, 'account=-1'),
    fc.string({ unit: 'binary' }),
  )
  const field = fc.tuple(fc.constantFrom(...names), value)
  const request = fc.record({
    path: fc.oneof(
      fc.constantFrom(
        '/basket/add',
        '/basket/remove',
        `${pages.path}/restore/start`,
        '/',
        '/basket',
      ),
      fc.string({ unit: 'binary' }).map((one) => `/${encodeURIComponent(one.toWellFormed())}`),
    ),
    fields: fc.array(field, { maxLength: 6 }),
    isSigned: fc.boolean(),
    type: fc.constantFrom(
      'application/x-www-form-urlencoded',
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data',
      '',
    ),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ path, fields, isSigned, type }) => {
      const body = new URLSearchParams(
        fields.map(([name, one]): [string, string] => [name, one.toWellFormed()]),
      )
      if (isSigned) body.set('form-token', form.get('form-token') ?? '')
      const answer = await pages.post(path, body, { 'content-type': type })
      expect([200, 303, 400, 403, 404, 405, 409, 413, 415, 422]).toContain(answer.status)
      expect(answer.text).not.toMatch(/\n\s+at .*\.[tj]s/)
    }),
    { numRuns: 1000 },
  )
  expect(pages.store.keys()).toEqual(before)
}, 60_000)
