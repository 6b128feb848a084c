import { generateIdentity, identityToRecipient } from 'age-encryption'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { DashkeepError, InterruptedError } from '../../src/errors.ts'
import { findRefusal } from '../../src/run/restore-to-service.ts'
import { sampleApiToken, sampleObjects } from '../../src/sandbox/sample-account.ts'
import type { ServiceReader } from '../../src/web/compare/live.ts'
import { choiceBox } from '../../src/web/restore/controls.ts'
import type { Access } from '../../src/web/security.ts'
import {
  formOf,
  openRestorePages,
  type RestorePages,
  unescapeMarkup,
} from './open-restore-pages.ts'

const overview = 'dashboard:shop-overview'
const shopId = 100001
const types = ['search', 'visualization', 'dashboard'] as const

/** The ids in the service. */
function idsOf({ sandbox }: RestorePages): string[] {
  return types.flatMap((type) => {
    const document = JSON.parse(Buffer.from(sandbox.objects(shopId, type)).toString())
    return (document as { hits: { _id: string }[] }).hits.map(({ _id }) => _id)
  })
}

function empty({ sandbox }: RestorePages): void {
  for (const type of types) sandbox.setObjects(shopId, type, [])
}

/** Changes the first dashboard in the service. */
function changeDashboard({ sandbox }: RestorePages, change: object): void {
  const [first, ...others] = sampleObjects().dashboard
  const dashboard = { ...(first?._source.dashboard as object), ...change }
  const changed = { ...first, _source: { ...first?._source, dashboard } }
  sandbox.setObjects(shopId, 'dashboard', [changed, ...others])
}

/** Imports of objects that the service has received. */
function importsOf({ sandbox }: RestorePages): { override: boolean; hits: { _id: string }[] }[] {
  const requests = sandbox.requests().filter(({ operation }) => operation === 'import')
  return requests.map(({ body }) => JSON.parse(body)).filter(({ hits }) => hits.length > 0)
}

const choosing = (id = overview) => `id=${encodeURIComponent(id)}`

/** Shows a plan and returns the form that confirms it, with a name typed. */
async function confirmation(
  pages: RestorePages,
  { query = choosing(), name = 'Shop', headers = pages.own } = {},
) {
  const plan = await pages.read(`${pages.path}/restore?${query}`, headers)
  const form = formOf(plan.text, `${pages.path}/restore/start`)
  form.set('name', name)
  return { plan, form, action: `${pages.path}/restore/start` }
}

/** Confirms a plan and waits for the end of the restore. */
async function restore(pages: RestorePages, options: Parameters<typeof confirmation>[1] = {}) {
  const { form, action } = await confirmation(pages, options)
  const posted = await pages.post(action, form)
  expect(posted.status, posted.text).toBe(303)
  await pages.restores?.registry.settled()
  return { ...(await pages.read(posted.location)), location: posted.location }
}

it('shortens a title in the label of its checkbox, and removes direction marks', () => {
  const object = { accountId: 10, snapshot: '2026-11-01T00-00-00Z', id: 'search:s1' }
  const box = String(choiceBox(object, `\u202e${'A'.repeat(1000)}`))
  expect(box).toContain('aria-label="Choose \ufffdAAA')
  expect(box.length).toBeLessThan(600)
})

describe('the story of a deleted dashboard', () => {
  it('is found, put into the basket, planned, confirmed by name, and restored with what it needs', async () => {
    await using pages = await openRestorePages()
    const before = idsOf(pages)
    empty(pages)

    const object = await pages.read(`${pages.path}/object?${choosing()}`)
    expect(object.text).toContain('restore allowed')
    const added = await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    expect([added.status, added.location]).toEqual([303, '/basket'])

    const basket = await pages.read('/basket')
    expect(basket.text).toContain('1 chosen object')
    expect(basket.text).toContain('5 objects that the chosen objects need and that come along')
    expect(basket.text).toMatch(/<bdi>Shop<\/bdi>, <time[^>]*>2026-11-22 12:00:00 UTC/)
    expect(basket.text).toContain('just now')
    expect(basket.text).toContain('>Basket <span class="count">1</span>')
    const [, plan = ''] = /<a class="button" href="([^"]*)"/.exec(basket.text) ?? []
    expect(unescapeMarkup(plan)).toBe(`${pages.path}/restore?id=dashboard%3Ashop-overview`)

    const planned = await pages.read(unescapeMarkup(plan))
    expect(planned.status).toBe(200)
    expect(planned.text).toContain('Create: not in the service (6)')
    expect(planned.text).toMatch(/Shop overview[\s\S]*>chosen<[\s\S]*>comes along</)
    expect(planned.text).toContain('Index patterns that must exist')
    expect(planned.text).toMatch(/7\.10\.2[\s\S]*7\.10\.2[\s\S]*same/)
    expect(planned.text).toContain('Nothing is overwritten, so no snapshot is taken first.')
    expect(planned.text).toContain(`restore ${pages.manifest.snapshot} --account ${shopId}`)
    expect(planned.text).toContain('--object dashboard:shop-overview --to-service')

    const form = formOf(planned.text, `${pages.path}/restore/start`)
    form.set('name', 'shop')
    const wrong = await pages.post(`${pages.path}/restore/start`, form)
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('The typed name is not the name of the account.')
    expect(importsOf(pages)).toEqual([])

    const again = formOf(wrong.text, `${pages.path}/restore/start`)
    again.set('name', 'Shop')
    const started = await pages.post(`${pages.path}/restore/start`, again)
    expect(started.status).toBe(303)
    expect(started.location).toMatch(/^\/restores\/[\w-]{22}$/)
    await pages.restores?.registry.settled()
    const result = await pages.read(started.location)
    expect(result.text).toContain('Restored 6 of 6 objects, confirmed by a fresh export.')
    expect(result.text).not.toContain('http-equiv="refresh"')
    expect(idsOf(pages).toSorted()).toEqual(
      before.filter((id) => result.text.includes(`<bdi>${id}</bdi>`)).toSorted(),
    )
    expect(idsOf(pages)).toContain(overview)
    expect((await pages.read('/basket')).text).toContain('The basket is empty.')
    expect((await pages.read('/restores')).text).toContain('6 of 6 objects restored')
  })

  it('restores marked objects of a snapshot, and removes others from the basket', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { text } = await pages.read(pages.path)
    const form = formOf(text, '/basket/add')
    const boxes = [...text.matchAll(/class="choose" form="choice" name="object" value="([^"]*)"/g)]
    expect(boxes).toHaveLength(14)
    for (const [, value = ''] of boxes) form.append('object', unescapeMarkup(value))
    await pages.post('/basket/add', form)
    const basket = await pages.read('/basket')
    expect(basket.text).toContain('14 chosen objects')
    expect(basket.text).toContain('No other object comes along.')
    const one = formOf(basket.text, '/basket/remove')
    await pages.post('/basket/remove', one)
    const less = await pages.read('/basket')
    expect(less.text).toContain('13 chosen objects')
    const group = [...less.text.matchAll(/name="group" value="([^"]*)"/g)]
    one.delete('object')
    one.set('group', unescapeMarkup(group[0]?.[1] ?? ''))
    await pages.post('/basket/remove', one)
    expect((await pages.read('/basket')).text).toContain('The basket is empty.')
  })

  it('puts versions of comparisons into the basket, but none of the service', async () => {
    await using pages = await openRestorePages()
    const first = pages.manifest.snapshot
    changeDashboard(pages, { title: 'Renamed' })
    pages.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
    const { snapshot: second } = await pages.backUp()
    const sides = `/compare?from=${shopId}/${first}&to=${shopId}/${second}`
    const all = await pages.read(sides)
    const boxes = [...all.text.matchAll(/class="choose"[^>]*name="object" value="([^"]*)"/g)]
    const form = formOf(all.text, '/basket/add')
    for (const [, value = ''] of boxes) form.append('object', unescapeMarkup(value))
    await pages.post('/basket/add', form)
    const basket = await pages.read('/basket')
    expect(basket.text).toContain('2 chosen objects')
    expect(basket.text).toContain(`Snapshot <a href="${pages.path}">`)
    const one = await pages.read(`${sides}&${choosing()}`)
    expect(one.text).toContain('Put the first version into the basket')
    await pages.post('/basket/add', formOf(one.text.split('first version')[1] ?? '', '/basket/add'))
    expect((await pages.read('/basket')).text).toContain(`/snapshots/${second}">`)
  })

  it('offers no button for marked objects where the service alone has what differs', async () => {
    await using pages = await openRestorePages()
    const present = sampleObjects().search
    pages.sandbox.setObjects(shopId, 'search', present.slice(1))
    const { snapshot } = await pages.backUp()
    pages.sandbox.setObjects(shopId, 'search', present)
    const service: ServiceReader = {
      patienceMs: 60_000,
      has: () => true,
      export: async () => ({
        store: pages.store,
        manifest: pages.manifest,
        [Symbol.asyncDispose]: async () => {},
      }),
    }
    await using withService = await openRestorePages({ library: { service, store: pages.store } })
    const { text } = await withService.read(
      `/compare?from=${shopId}/${snapshot}&to=${shopId}/service`,
    )
    expect(text).toContain('+</span> added')
    expect(text).not.toContain('Put the marked objects into the basket')
  })

  it('restores a whole snapshot from its page', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    expect((await pages.read(pages.path)).text).toContain(`href="${pages.path}/restore?all=1"`)
    const { text } = await restore(pages, { query: 'all=1' })
    expect(text).toContain('Restored 14 of 14 objects')
    expect(idsOf(pages)).toHaveLength(14)
  })

  it('plans a basket that is too long for an address from the basket itself', async () => {
    const search = Array.from({ length: 60 }, (_, place) => ({
      _type: '_doc',
      _id: `search:${'long-'.repeat(20)}${place}`,
      _source: { type: 'search', search: { title: `t${place}` } },
    }))
    await using pages = await openRestorePages({ account: { objects: { documents: { search } } } })
    pages.sandbox.setObjects(shopId, 'search', [])
    const { text } = await pages.read(pages.path)
    const form = formOf(text, '/basket/add')
    for (const [, value = ''] of text.matchAll(/name="object" value="([^"]*)"/g)) {
      form.append('object', unescapeMarkup(value))
    }
    await pages.post('/basket/add', form)
    expect((await pages.read('/basket')).text).toContain(`href="${pages.path}/restore?basket=1"`)
    const result = await restore(pages, { query: 'basket=1' })
    expect(result.text).toContain('Restored 60 of 60 objects')
  })
})

describe('a plan', () => {
  it('shows what overwriting changes, draws both layouts, and takes a snapshot first', async () => {
    await using pages = await openRestorePages()
    changeDashboard(pages, { title: 'Renamed', panelsJSON: '[]' })
    const left = await pages.read(`${pages.path}/restore?${choosing()}`)
    expect(left.text).toContain('Leave: different in the service and not overwritten (1)')
    expect(left.text).toContain('Nothing to send.')
    expect(left.text).not.toContain('/restore/start')
    const query = `${choosing()}&overwrite=1`
    const { plan } = await confirmation(pages, { query })
    expect(plan.text).toContain('Overwrite: different in the service (1)')
    expect(plan.text).toContain('First, a snapshot of the present objects is taken')
    expect(plan.text).toMatch(/<bdi>title<\/bdi>[\s\S]*Renamed/)
    expect(plan.text.match(/<svg class="dashboard"/g)).toHaveLength(2)
    expect(plan.text).toContain('In the service now')
    const ids = [...plan.text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const { text } = await restore(pages, { query })
    expect(text).toMatch(/Snapshot <a href="[^"]*">\w+-\w+<\/a> holds the objects from before/)
    expect(importsOf(pages)).toMatchObject([{ override: true, hits: [{ _id: overview }] }])
  })

  it.each(['cross-site', 'same-site'])('is not made for a link that is %s', async (site) => {
    await using pages = await openRestorePages()
    const before = pages.sandbox.requests().length
    const path = `${pages.path}/restore?${choosing()}&overwrite=1`
    const { text } = await pages.read(path, { ...pages.own, 'sec-fetch-site': site })
    expect(pages.sandbox.requests()).toHaveLength(before)
    const [, link = ''] = /<a class="button" href="([^"]*)">Show the plan/.exec(text) ?? []
    expect(unescapeMarkup(link)).toBe(path)
    expect((await pages.read(path)).text).toContain('Plan to restore into')
  })

  it('is refused for a suspect snapshot until that is allowed', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const suspect = await pages.backUp()
    expect(suspect.suspect).toBeDefined()
    for (const type of types) pages.sandbox.setObjects(shopId, type, sampleObjects()[type])
    const path = `/accounts/${shopId}/snapshots/${suspect.snapshot}/restore?all=1`
    const refusal = await pages.read(path)
    expect(refusal.status).toBe(409)
    expect(refusal.text).toContain('it is suspect')
    expect(refusal.text).toContain('name="allow-suspect"')
    expect((await pages.read(`${path}&allow-suspect=1`)).status).toBe(200)
  })

  it('is refused for another kibanaVersion until that is allowed', async () => {
    await using pages = await openRestorePages()
    const document = { kibanaVersion: '8.1.0', hits: [] }
    pages.sandbox.setObjects(shopId, 'search', JSON.stringify(document))
    const path = `${pages.path}/restore?${choosing('search:failed-orders')}`
    const refusal = await pages.read(path)
    expect(refusal.status).toBe(409)
    expect(refusal.text).toMatch(/is of kibanaVersion 7\.10\.2, the service of 8\.1\.0/)
    const allowed = await pages.read(`${path}&any-version=1`)
    expect(allowed.status).toBe(200)
    expect(allowed.text).toContain('<strong>different</strong>')
  })

  it('is refused for a token of another account, with a hint for the pages', async () => {
    await using pages = await openRestorePages()
    const body = JSON.stringify({ accountId: 100002, accountName: 'Other' })
    pages.sandbox.faults.add({ operation: 'whoami', body })
    const { status, text } = await pages.read(`${pages.path}/restore?all=1`)
    expect(status).toBe(409)
    expect(text).toContain('the token belongs to account 100002')
    expect(text).toContain('correct the token in the configuration')
    expect(text).not.toContain('--into-account')
  })

  it('says that an object is not in the snapshot, and that the service refuses', async () => {
    await using pages = await openRestorePages()
    for (const id of ['dashboard:gone', '*', 'Shop overview']) {
      const { status, text } = await pages.read(`${pages.path}/restore?${choosing(id)}`)
      expect(status).toBe(409)
      expect(text).toMatch(/Cannot (find|choose) [^<]*(gone|\*|Shop overview)/)
    }
    pages.sandbox.faults.add({ operation: 'export', status: 500 })
    const { status, text } = await pages.read(`${pages.path}/restore?all=1`)
    expect(status).toBe(502)
    expect(text).not.toContain(sampleApiToken)
    expect((await pages.read(`${pages.path}/restore`)).status).toBe(404)
  })

  it('cannot be made for an account without a token, and every page says why', async () => {
    await using pages = await openRestorePages({
      wrapDesk: (desk) => ({
        ...desk,
        refusalOf: ({ id }) => `the configuration has no token of account ${id}`,
      }),
    })
    const reason = `the configuration has no token of account ${shopId}`
    for (const path of [pages.path, `${pages.path}/object?${choosing()}`]) {
      const { text } = await pages.read(path)
      expect(text).toContain(reason)
      expect(text).not.toContain('action="/basket/add"')
    }
    const plan = await pages.read(`${pages.path}/restore?all=1`)
    expect([plan.status, plan.text.includes(reason)]).toEqual([409, true])
  })
})

describe('a confirmed plan', () => {
  it('is shown anew and asked again when the service has changed since', async () => {
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

  it('sends nothing when the token belongs to another account by now', async () => {
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

  it('lists the objects that it leaves, and keeps them in the basket', async () => {
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

  it('keeps objects in the basket that failed', async () => {
    await using pages = await openRestorePages()
    const object = await pages.read(`${pages.path}/object?${choosing()}`)
    await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    empty(pages)
    pages.sandbox.faults.add({ operation: 'import', failIds: [overview] })
    expect((await restore(pages)).text).toContain('Restored 5 of 6 objects')
    expect((await pages.read('/basket')).text).toContain('1 chosen object')
  })

  it('starts one restore, however often it is posted', async () => {
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

  it('waits for another restore into the same account', async () => {
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

  it('shows what the service ignored, because somebody else created it first', async () => {
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

  it('makes the comparison with the service export again', async () => {
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

  it('shows honestly which objects failed', async () => {
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

  it('shows how far it came when the service answers 500', async () => {
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

  it('is refused in words when nothing can be sent', async () => {
    await using pages = await openRestorePages()
    empty(pages)
    const { form, action } = await confirmation(pages)
    pages.sandbox.faults.add({ operation: 'export', status: 500 })
    const { location } = await pages.post(action, form)
    await pages.restores?.registry.settled()
    const { text } = await pages.read(location)
    expect(text).toMatch(/Cannot export[\s\S]*Nothing was sent\./)
  })

  it('says what to do when the server was started again since', async () => {
    await using pages = await openRestorePages()
    const { status, text } = await pages.read('/restores/of-the-server-before')
    expect(status).toBe(404)
    expect(text).toContain('This server does not know the restore.')
    expect(text).toContain('href="/compare"')
    expect(text).toContain('dashkeep diff')
  })

  it('reports a bug without its stack', async () => {
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

describe('a post is refused', () => {
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

  it('with a key that no plan has, and with one of another user', async () => {
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

  it('with nothing chosen, or with what cannot be chosen', async () => {
    await using pages = await openRestorePages()
    const { text } = await pages.read(pages.path)
    const form = formOf(text, '/basket/add')
    expect((await pages.post('/basket/add', form)).status).toBe(422)
    form.append('object', 'account=x&snapshot=y&id=z')
    expect((await pages.post('/basket/add', form)).status).toBe(422)
    expect((await pages.read('/basket')).text).toContain('The basket is empty.')
  })
})

it('answers 300 random posts without a failure or a stack trace', async () => {
  await using pages = await openRestorePages()
  const own = formOf((await pages.read(pages.path)).text, '/basket/add')
  const name = fc.constantFrom('object', 'group', 'key', 'request', 'name', 'digest', '__proto__')
  const value = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    fc.constantFrom('Shop', 'all=1', 'basket=1', `id=${'x'.repeat(9000)}`, 'id=%ff&id=%00'),
    fc.constantFrom(`account=${shopId}&snapshot=${pages.manifest.snapshot}&id=x`, 'account=-1'),
  )
  const path = fc.constantFrom('/basket/add', '/basket/remove', `${pages.path}/restore/start`)
  const fields = fc.array(fc.tuple(name, value), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(path, fields, async (address, given) => {
      const form = new URLSearchParams([...own, ...given])
      const { status, text } = await pages.post(address, form)
      expect([303, 404, 409, 422]).toContain(status)
      expect(text).not.toMatch(/\n\s+at .*\.[tj]s/)
    }),
    { numRuns: 300 },
  )
  expect((await pages.read('/basket')).status).toBe(200)
  expect(importsOf(pages)).toEqual([])
}, 60_000)

describe('methods', () => {
  it('are those of the address', async () => {
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

  it('and addresses of restoring do not exist without --allow-restore', async () => {
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

it('lets pages send their origin, which no-referrer alone would hide', async () => {
  await using pages = await openRestorePages()
  const { text } = await pages.read('/basket')
  expect(text).toContain('<meta name="referrer" content="same-origin">')
})

it('escapes hostile titles on every page', async () => {
  const hostile = '"><script>alert(1)</script>\u202e&amp;\'`$ {x}'
  const id = `dashboard:x"><script>'\n&lt;`
  const dashboard = [
    {
      _type: '_doc',
      _id: id,
      _source: {
        type: 'dashboard',
        dashboard: { title: hostile, panelsJSON: '[]' },
        references: [{ name: hostile, type: 'index-pattern', id: hostile }],
      },
    },
  ]
  await using pages = await openRestorePages({
    account: { accountName: hostile, objects: { documents: { dashboard } } },
  })
  const texts: string[] = []
  const see = async (path: string) => {
    const { status, text } = await pages.read(path)
    expect(status).toBe(200)
    texts.push(text)
    return text
  }
  const object = await see(`${pages.path}/object?${choosing(id)}`)
  await pages.post('/basket/add', formOf(object, '/basket/add'))
  const basket = await see('/basket')
  expect(basket).toContain('1 chosen object')
  pages.sandbox.setObjects(shopId, 'dashboard', [
    { ...dashboard[0], _source: { type: 'dashboard', dashboard: { title: `${hostile}2` } } },
  ])
  const [, plan = ''] = /<a class="button" href="([^"]*)"/.exec(basket) ?? []
  await see(`${unescapeMarkup(plan)}&overwrite=1`)
  // Nobody can type the name, so the id of the account confirms.
  const query = `${unescapeMarkup(plan).split('?')[1]}&overwrite=1`
  const { text } = await restore(pages, { query, name: String(shopId) })
  expect(text).toContain('Restored 1 of 1 object')
  texts.push(text, await see('/restores'))
  for (const page of texts) {
    expect(page).not.toMatch(/<script>|\u202e|alert\(1\)<\/script>/)
    expect(page.match(/<h1>/g)).toHaveLength(1)
  }
})

it('restores from an encrypted archive, and shows no secret', async () => {
  const identity = await generateIdentity()
  const variables = {
    DASHKEEP_RECIPIENTS: await identityToRecipient(identity),
    DASHKEEP_IDENTITY: identity,
  }
  await using pages = await openRestorePages({ variables })
  expect(pages.manifest.exports[0]?.file.encryption?.format).toBe('age')
  empty(pages)
  const { plan } = await confirmation(pages)
  const { text } = await restore(pages)
  expect(text).toContain('Restored 6 of 6 objects')
  const seen = [plan.text, text, ...pages.logged, (await pages.read('/restores')).text].join('\n')
  for (const secret of [identity, sampleApiToken]) expect(seen).not.toContain(secret)
})

describe('behind a proxy', () => {
  const access: Access = {
    kind: 'proxy',
    origin: new URL('https://dashkeep.example.com'),
    userHeader: 'x-user',
  }

  it('logs the user, shows who restored, and keeps baskets apart', async () => {
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

it('finds no token for an account that is not configured', async () => {
  const account = { name: 'a', token: { env: 'T' }, baseUrl: 'http://a', pathPrefix: '' }
  const refusalOf = (accounts: object[]) =>
    findRefusal({ accounts } as unknown as Config, { id: 1, name: 'A', configuredAs: 'a' })
  expect(refusalOf([account])).toBeUndefined()
  expect(refusalOf([{ ...account, accountId: 1, name: 'b' }])).toBeUndefined()
  expect(refusalOf([account, { ...account, name: 'b' }])).toBeUndefined()
  for (const accounts of [
    [],
    [{ ...account, accountId: 2 }],
    [
      { ...account, name: 'b' },
      { ...account, name: 'c' },
    ],
  ]) {
    expect(refusalOf(accounts)).toBe('the configuration has no token of account 1')
  }
})

it('names this browser in the log of a restore', async () => {
  await using pages = await openRestorePages()
  empty(pages)
  await restore(pages)
  expect(pages.logged.join('')).toMatch(/"user":"this browser"[^\n]*"msg":"restored"/)
})

it('says that the basket has no room instead of losing objects', async () => {
  const { createBaskets } = await import('../../src/web/restore/baskets.ts')
  let time = new Date(0)
  const baskets = createBaskets({ now: () => time, maxCharacters: 10 })
  const object = (id: string) => ({ accountId: 1, snapshot: 's', id })
  baskets.add('anna', [object('12345')])
  expect(() => baskets.add('bert', [object('1'), object('23456')])).toThrow(DashkeepError)
  expect(baskets.of('bert')).toEqual([])
  time = new Date(25 * 3_600_000)
  baskets.add('bert', [object('1'), object('23456')])
  expect(baskets.of('anna')).toEqual([])
  expect([...(baskets.of('bert')[0]?.ids ?? [])]).toEqual(['1', '23456'])
})
