import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formOf, openRestorePages } from './open-restore-pages.ts'

it('answers 1,000 random posts without a failure, a stack trace or a restore', async () => {
  await using pages = await openRestorePages()
  const { text } = await pages.read(`${pages.path}/object?id=search:failed-orders`)
  const form = formOf(text, '/basket/add')
  const before = pages.store.keys()
  const names = [...new Set([...form.keys(), 'id', 'account', 'snapshot', 'confirm', '__proto__'])]
  const value = fc.oneof(
    fc.constantFrom(...form.values(), '', '-1', 'constructor', '9'.repeat(400), '../..'),
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
