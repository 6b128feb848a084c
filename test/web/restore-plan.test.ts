import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { findRefusal } from '../../src/run/restore-to-service.ts'
import { sampleApiToken, sampleObjects } from '../../src/sandbox/sample-account.ts'
import { openRestorePages, unescapeMarkup } from './open-restore-pages.ts'
import {
  changeDashboard,
  choosing,
  confirmation,
  empty,
  importsOf,
  overview,
  restore,
  shopId,
  types,
} from './restore-steps.ts'

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

  it('shows the error when an object is not in the snapshot or the service fails', async () => {
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

  it('is refused for an account without a token, and every page shows the reason', async () => {
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
