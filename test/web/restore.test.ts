import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { DashkeepError } from '../../src/errors.ts'
import { sampleApiToken, sampleObjects } from '../../src/sandbox/sample-account.ts'
import type { ServiceReader } from '../../src/web/compare/live.ts'
import { choiceBox } from '../../src/web/restore/controls.ts'
import { formOf, openRestorePages, unescapeMarkup } from './open-restore-pages.ts'
import {
  changeDashboard,
  choosing,
  confirmation,
  empty,
  idsOf,
  importsOf,
  overview,
  restore,
  shopId,
} from './restore-steps.ts'

it('shortens a title in the label of its checkbox, and removes direction marks', () => {
  const object = { accountId: 10, snapshot: '2026-11-01T00-00-00Z', id: 'search:s1' }
  const box = String(choiceBox(object, `\u202e${'A'.repeat(1000)}`))
  expect(box).toContain('aria-label="Choose \ufffdAAA')
  expect(box.length).toBeLessThan(600)
})

describe('restoring from the pages', () => {
  it('finds a deleted dashboard, and restores it from the basket with what it needs', async () => {
    await using pages = await openRestorePages()
    const before = idsOf(pages)
    empty(pages)

    const object = await pages.read(`${pages.path}/object?${choosing()}`)
    expect(object.text).toContain('restore allowed')
    const added = await pages.post('/basket/add', formOf(object.text, '/basket/add'))
    expect([added.status, added.location]).toEqual([303, '/basket'])

    const basket = await pages.read('/basket')
    expect(basket.text).toContain('1 chosen object')
    expect(basket.text).toContain('5 objects that the chosen objects need')
    expect(basket.text).toMatch(/<bdi>Shop<\/bdi>, <time[^>]*>2026-11-22 12:00:00 UTC/)
    expect(basket.text).toContain('just now')
    expect(basket.text).toContain('>Basket <span class="count">1</span>')
    const [, plan = ''] = /<a class="button" href="([^"]*)"/.exec(basket.text) ?? []
    expect(unescapeMarkup(plan)).toBe(`${pages.path}/restore?id=dashboard%3Ashop-overview`)

    const planned = await pages.read(unescapeMarkup(plan))
    expect(planned.status).toBe(200)
    expect(planned.text).toContain('Create: not in the service (6)')
    expect(planned.text).toMatch(/Shop overview[\s\S]*>chosen<[\s\S]*>needed</)
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
    expect(basket.text).toContain('The chosen objects need no other objects.')
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

  it('puts both versions of a comparison into the basket, but never the version of the service', async () => {
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
    const both = await pages.read('/basket')
    expect(both.text).toContain(`/snapshots/${second}">`)
    for (const snapshot of [first, second]) {
      expect(both.text).toContain(`dashkeep restore ${snapshot} --account ${shopId} --object`)
    }
  })

  it('offers no basket when only the service holds the objects that differ', async () => {
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

  it('plans the objects of the basket when their ids are too long for an address', async () => {
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

it('refuses objects when the baskets are full, and removes old baskets', async () => {
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
