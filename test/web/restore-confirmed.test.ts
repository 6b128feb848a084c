import { describe, expect, it } from 'vitest'
import { InterruptedError } from '../../src/errors.ts'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import type { ServiceReader } from '../../src/web/compare/live.ts'
import { formOf, openRestorePages, unescapeMarkup } from './open-restore-pages.ts'
import {
  changeDashboard,
  choosing,
  confirmation,
  empty,
  importsOf,
  overview,
  restore,
  shopId,
} from './restore-steps.ts'

describe('a confirmed plan', () => {
  it('sends nothing and offers a new plan when the service has changed', async () => {
    await using pages = await openRestorePages()
    changeDashboard(pages, { title: 'Renamed' })
    const query = `${choosing()}&overwrite=1`
    const { form, action } = await confirmation(pages, { query })
    changeDashboard(pages, { title: 'Renamed again' })
    const { location } = await pages.post(action, form)
    await pages.restores?.registry.settled()
    const result = await pages.read(location)
    expect(result.text).toContain('The service has changed since the plan was shown.')
    expect(importsOf(pages)).toEqual([])
    const [, plan = ''] = /href="([^"]*)">Show the new plan/.exec(result.text) ?? []
    expect((await pages.read(unescapeMarkup(plan))).text).toContain('Overwrite: different')
    expect((await restore(pages, { query })).text).toContain('Restored 1 of 1 object')
  })

  it('sends nothing when the token belongs to another account since the plan was made', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    const body = JSON.stringify({ accountId: 100002, accountName: 'Other' })
    pages.sandbox.faults.add({ operation: 'whoami', body })
    const { location } = await pages.post(action, form)
    await pages.restores?.registry.settled()
    const { text } = await pages.read(location)
    expect(text).toContain('the token belongs to account 100002')
    expect(text).toContain('correct the token in the configuration')
    expect(text).toContain('Nothing was sent.')
    expect(importsOf(pages)).toEqual([])
  })

  it.each([
    // A backup lists the snapshots first, and puts the manifest last.
    ['before its backup', 'list'],
    ['after its backup', 'put'],
  ])('overwrites no edit that was made %s', async (_when, action) => {
    await using pages = await openRestorePages()
    changeDashboard(pages, { title: 'Renamed' })
    const confirmed = await confirmation(pages, { query: `${choosing()}&overwrite=1` })
    pages.store.intercept = (call) => {
      if (call.action === action) changeDashboard(pages, { title: 'Edited meanwhile' })
    }
    const { location } = await pages.post(confirmed.action, confirmed.form)
    await pages.restores?.registry.settled()
    const { text } = await pages.read(location)
    expect(importsOf(pages)).toEqual([])
    expect(text).toContain(`Cannot restore: ${overview} changed in the service after the plan`)
    expect(text).toContain('Nothing was sent.')
  })

  it('lists the objects that are not overwritten, and keeps them in the basket', async () => {
    await using pages = await openRestorePages()
    const gone = 'search:failed-orders'
    for (const id of [gone, overview]) {
      const object = await pages.read(`${pages.path}/object?${choosing(id)}`)
      await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    }
    changeDashboard(pages, { title: 'Renamed' })
    const rest = sampleObjects().search.filter(({ _id }) => _id !== gone)
    pages.sandbox.setObjects(shopId, 'search', rest)
    const { text } = await restore(pages, { query: `${choosing(gone)}&${choosing()}` })
    expect(text).toContain('Restored 1 of 1 object, confirmed by a fresh export.')
    expect(text).toContain('Left: 1 object, different in the service and not overwritten.')
    expect(text).toMatch(
      /<bdi>dashboard:shop-overview<\/bdi>[\s\S]*?class="">leave<\/td>[\s\S]*?not overwritten<\/span>/,
    )
    expect(text).toContain('Identical in the service before: 4 objects.')
    const basket = await pages.read('/basket')
    expect(basket.text).toContain('1 chosen object')
    expect(basket.text).toContain(overview)
    expect((await pages.read('/restores')).text).toContain(
      '1 of 1 object restored, 1 not overwritten',
    )
  })

  it('keeps failed objects in the basket', async () => {
    await using pages = await openRestorePages()
    const object = await pages.read(`${pages.path}/object?${choosing()}`)
    await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    empty(pages)
    pages.sandbox.faults.add({ operation: 'import', failIds: [overview] })
    expect((await restore(pages)).text).toContain('Restored 5 of 6 objects')
    expect((await pages.read('/basket')).text).toContain('1 chosen object')
  })

  it('starts one restore when the form is posted several times', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    const [first, second] = await Promise.all([pages.post(action, form), pages.post(action, form)])
    expect(first.location).toBe(second.location)
    await pages.restores?.registry.settled()
    const later = await pages.post(action, form)
    expect([later.status, later.location]).toEqual([303, first.location])
    expect(importsOf(pages)).toHaveLength(3)
    expect(pages.restores?.registry.list()).toHaveLength(1)
  })

  it('is refused while another restore into the account runs', async () => {
    const gate = Promise.withResolvers<void>()
    await using pages = await openRestorePages({
      wrapDesk: (desk) => ({
        ...desk,
        async prepare(restoring, choice, options) {
          if (options.onStep) await gate.promise
          return desk.prepare(restoring, choice, options)
        },
      }),
    })
    empty(pages)
    const [one, other] = [await confirmation(pages), await confirmation(pages)]
    const first = await pages.post(one.action, one.form)
    const progress = await pages.read(first.location)
    expect(progress.text).toContain('<meta http-equiv="refresh" content="2">')
    expect(progress.text).toMatch(/data-lost="The server does not answer, or does not know/)
    expect(progress.text).toMatch(/<li class="current" aria-current="step">Read the service again/)
    const second = await pages.post(other.action, other.form)
    expect(second.status).toBe(422)
    expect(second.text).toContain('Another restore into this account is running.')
    expect(second.text).toContain(`href="${first.location}"`)
    expect(second.text).not.toContain('/restore/start')
    gate.resolve()
    await pages.restores?.registry.settled()
    expect((await pages.read(first.location)).text).toContain('Restored 6 of 6 objects')
    const third = await pages.post(other.action, other.form)
    await pages.restores?.registry.settled()
    expect((await pages.read(third.location)).text).toContain('has changed since the plan')
  })

  it('lists objects that the service ignored because somebody else created them first', async () => {
    let create = () => {}
    await using pages = await openRestorePages({
      wrapDesk: (desk) => ({
        ...desk,
        prepare(restoring, choice, { onStep, ...options }) {
          const observed: typeof onStep = (step, plan) => {
            if (step === 'sending') create()
            onStep?.(step, plan)
          }
          return desk.prepare(restoring, choice, {
            ...options,
            ...(onStep && { onStep: observed }),
          })
        },
      }),
    })
    pages.sandbox.setObjects(shopId, 'dashboard', sampleObjects().dashboard.slice(1))
    create = () => changeDashboard(pages, { title: 'Created meanwhile' })
    const { text } = await restore(pages)
    expect(text).toContain('Restored 0 of 1 object')
    expect(text).toContain('Ignored by the service')
    expect(text).toMatch(
      / has an object with this id[\s\S]*<li><bdi>dashboard:shop-overview<\/bdi>/,
    )
  })

  it('lets the next comparison with the service export again', async () => {
    let exports = 0
    const service: ServiceReader = {
      patienceMs: 60_000,
      has: () => true,
      async export() {
        exports += 1
        return { store: pages.store, manifest: pages.manifest, async [Symbol.asyncDispose]() {} }
      },
    }
    await using pages = await openRestorePages({ library: { service } })
    const path = `/compare?from=${shopId}/${pages.manifest.snapshot}&to=${shopId}/service`
    for (let turn = 1; turn <= 2; turn += 1) expect((await pages.read(path)).status).toBe(200)
    expect(exports).toBe(1)
    empty(pages)
    await restore(pages)
    for (let turn = 1; turn <= 2; turn += 1) expect((await pages.read(path)).status).toBe(200)
    expect(exports).toBe(2)
  })

  it('names the objects that failed', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    pages.sandbox.faults.add({ operation: 'import', failIds: [overview] })
    const { text } = await restore(pages)
    expect(text).toContain('partly restored')
    expect(text).toContain('Restored 5 of 6 objects, confirmed by a fresh export.')
    expect(text).toMatch(/<bdi>dashboard:shop-overview<\/bdi>[\s\S]*is missing in the service/)
    expect(text).toContain('Reported as failed by the service')
    expect(text).toContain('Plan again</a> to finish the restore.')
  })

  it('shows how many objects were restored when the service answers 500', async () => {
    await using pages = await openRestorePages({ limits: { maxImportBytes: 1 } })
    empty(pages)
    const { form, action } = await confirmation(pages)
    // The question whether imports are accepted is the first import.
    pages.sandbox.faults.add({ operation: 'import', after: 3, status: 500 })
    const { location } = await pages.post(action, form)
    await pages.restores?.registry.settled()
    const { text } = await pages.read(location)
    expect(text).toContain('partly restored')
    expect(text).toMatch(/Restored 2 of 6 objects/)
    expect(text).toMatch(/\d objects not sent/)
    expect(text).toMatch(/Cannot import[^<]*500/)
    pages.sandbox.faults.clear()
    expect((await restore(pages)).text).toContain('Restored 4 of 4 objects')
  })

  it('is interrupted when the server stops', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    pages.sandbox.faults.add({ operation: 'import', after: 1, hang: true })
    const { location } = await pages.post(action, form)
    const isSending = () => pages.sandbox.requests().filter((one) => one.operation === 'import')
    while (isSending().length < 3) await new Promise(setImmediate)
    pages.stop.abort(new InterruptedError('SIGTERM'))
    await pages.restores?.registry.settled()
    expect(pages.restores?.registry.get(location.slice('/restores/'.length))?.end?.kind).toBe(
      'interrupted',
    )
    expect(pages.logged.join('')).toMatch(/"outcome":"interrupted"/)
  })

  it('shows the error when the service cannot be read', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    pages.sandbox.faults.add({ operation: 'export', status: 500 })
    const { location } = await pages.post(action, form)
    await pages.restores?.registry.settled()
    const { text } = await pages.read(location)
    expect(text).toMatch(/Cannot export[\s\S]*Nothing was sent\./)
  })

  it('says what to do when the server does not know the restore', async () => {
    await using pages = await openRestorePages()
    const { status, text } = await pages.read('/restores/of-the-server-before')
    expect(status).toBe(404)
    expect(text).toContain('This server does not know the restore.')
    expect(text).toContain('href="/compare"')
    expect(text).toContain('dashkeep diff')
  })

  it('shows no details of a bug, and logs them', async () => {
    await using pages = await openRestorePages({
      wrapDesk: (desk) => ({
        ...desk,
        prepare(restoring, choice, options) {
          if (options.onStep) throw new TypeError('secret detail')
          return desk.prepare(restoring, choice, options)
        },
      }),
    })
    empty(pages)
    const { text } = await restore(pages)
    expect(text).toContain('This is a bug in dashkeep')
    expect(text).not.toContain('secret detail')
    expect(pages.logged.join('')).toContain('secret detail')
  })
})

it('logs `this browser` as the user of a restore', async () => {
  await using pages = await openRestorePages()
  empty(pages)
  await restore(pages)
  expect(pages.logged.join('')).toMatch(/"user":"this browser"[^\n]*"msg":"restored"/)
})
