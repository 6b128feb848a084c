import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../src/archive/manifest.ts'
import { DashkeepError } from '../../src/errors.ts'
import { createLiveExports, type ServiceReader } from '../../src/web/compare/live.ts'
import { fillArchive, hitOf, type Moment } from '../archive/archive-of.ts'
import { openPages, smallShop } from './open-pages.ts'

/** The small shop a day later: another title, an object less and one more. */
function laterShop(): Moment {
  const orders = hitOf('visualization:v1', {
    title: 'Orders per hour',
    savedSearchId: 's1',
    visState: '{"type":"line"}',
  })
  return {
    ...smallShop({ title: 'New floor' }),
    search: [],
    visualization: [orders, hitOf('visualization:v2', { title: 'Fresh' })],
  }
}

async function openShops(options: Parameters<typeof openPages>[1] = {}) {
  const pages = await openPages([smallShop(), laterShop()], options)
  const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
  return { ...pages, first, second }
}

/** A service that holds these objects. */
function serviceWith(moment: Moment, more: Partial<ServiceReader> = {}) {
  const asked: string[][] = []
  const service: ServiceReader = {
    patienceMs: 60_000,
    has: ({ id }) => id === 10,
    async export(_account, { types }) {
      asked.push([...types])
      const { store, manifests } = await fillArchive([moment])
      return { store, manifest: manifests[0], [Symbol.asyncDispose]: () => store.close() }
    },
    ...more,
  }
  return { service, asked }
}

describe('the comparison of two snapshots', () => {
  it('shows the numbers by type, and links to the objects that differ', async () => {
    const { read, first, second } = await openShops()
    const { status, text } = await read(`/compare?from=10/${first}&to=10/${second}`)
    expect(status).toBe(200)
    expect(text).toMatch(/New floor[\s\S]*class="state changed"/)
    expect(text).toMatch(/Fresh[\s\S]*class="state added"/)
    expect(text).toMatch(/Failed orders[\s\S]*class="state removed"/)
    expect(text).not.toContain('Orders per hour')
    expect(text).toContain(`from=10%2F${first}&amp;to=10%2F${second}&amp;id=dashboard%3Ad1`)
    expect(text).toContain(`dashkeep diff ${first} ${second} --account 10`)
    const dashboards = await read(`/compare?from=10/${first}&to=10/${second}&type=dashboard`)
    expect(dashboards.text).toContain('New floor')
    expect(dashboards.text).not.toContain('Fresh')
  })

  it('says when nothing differs, and names types that only one side has', async () => {
    const { dashboard: _, ...less } = smallShop()
    const pages = await openPages([smallShop(), smallShop(), less])
    const [first, second, third] = pages.manifests.map(({ snapshot }) => snapshot)
    const same = await pages.read(`/compare?from=10/${first}&to=10/${second}`)
    expect(same.text).toContain('Nothing differs.')
    const { text } = await pages.read(`/compare?from=10/${first}&to=10/${third}`)
    expect(text).toContain('Only the first side holds <bdi>dashboard</bdi>')
  })

  it('redirects to an address with names of snapshots when it names accounts only', async () => {
    const { get, first, second } = await openShops()
    const answer = await get(`/compare?from=10/${first}&to=10&type=search`)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(
      `/compare?from=10%2F${first}&to=10%2F${second}&type=search`,
    )
  })

  it('answers 404 for a side that the archive does not hold', async () => {
    const { get, first } = await openShops()
    for (const to of ['11', '10/none', '10/service/x', 'x', `10/${first}&id=none:1`]) {
      expect((await get(`/compare?from=10/${first}&to=${to}`)).status, to).toBe(404)
    }
  })

  it('can be started on the pages of an account and of a snapshot, and between accounts', async () => {
    const { read, first, second } = await openShops()
    const account = await read('/accounts/10')
    expect(account.text).toMatch(/<form method="get" action="\/compare"/)
    expect(account.text).toContain(`<option value="10/${first}" selected>`)
    const snapshot = await read(`/accounts/10/snapshots/${second}`)
    expect(snapshot.text).toContain(`href="/compare?from=10%2F${second}"`)
    const choose = await read(`/compare?from=10/${second}`)
    expect(choose.text).toContain(`<option value="10/${second}" selected>`)
    expect(choose.text).toContain('<option value="10">Shop (10)</option>')
    expect(choose.text).toContain(`dashkeep diff ${second} latest --account 10`)
    const both = await read('/compare')
    expect(both.text).toContain('Two accounts')
    expect(both.text).toContain('dashkeep diff &#39;latest~1&#39; latest')
  })
})

describe('the comparison of two accounts', () => {
  it('names both accounts, and compares an object by its id', async () => {
    const pages = await openPages([smallShop()])
    const { manifests, store } = await fillArchive([laterShop()], { accountId: 20 })
    for await (const { key } of store.list('20/')) {
      await pages.store.put(key, (await store.get(key, { maxBytes: 1e6 })) as Uint8Array)
    }
    const [from, to] = [pages.manifests[0].snapshot, manifests[0].snapshot]
    const { status, text } = await pages.read(`/compare?from=10/${from}&to=20/${to}`)
    expect(status).toBe(200)
    expect(text).toMatch(/New floor[\s\S]*class="state changed"/)
    expect(text).toContain(`dashkeep diff ${from} ${to} --account 10 --other-account 20`)
    const object = await pages.read(`/compare?from=10/${from}&to=20/${to}&id=dashboard:d1`)
    expect(object.status).toBe(200)
    expect(object.text).toContain('<del><bdi>&quot;Shop floor&quot;</bdi></del>')
  })
})

describe('the comparison with the service', () => {
  it('exports once for several pages, and says how old the export is', async () => {
    let now = new Date(Date.UTC(2026, 10, 3))
    const { service, asked } = serviceWith(laterShop())
    const pages = await openPages([smallShop()], { service, now: () => now })
    const from = `10/${pages.manifests[0].snapshot}`
    const { status, text } = await pages.read(`/compare?from=${from}&to=10/service`)
    expect(status).toBe(200)
    expect(text).toMatch(/New floor[\s\S]*class="state changed"/)
    expect(text).toContain('The service was asked just now, at')
    expect(text).toContain(`dashkeep diff ${pages.manifests[0].snapshot} --account 10`)
    now = new Date(now.getTime() + 120_000)
    const object = await pages.read(`/compare?from=${from}&to=10/service&id=dashboard:d1`)
    expect(object.text).toContain('The service was asked 2 minutes ago')
    expect(object.text).toContain('New floor')
    expect(asked).toEqual([['search', 'visualization', 'dashboard']])
    const [, again = ''] = /href="([^"]*newer=[^"]*)">Ask again/.exec(object.text) ?? []
    await pages.read(again.replaceAll('&amp;', '&'))
    expect(asked).toHaveLength(2)
    now = new Date(now.getTime() + 6 * 60_000)
    await pages.read(`/compare?from=${from}&to=10/service`)
    expect(asked).toHaveLength(3)
  })

  it('puts the service second, and shows an error when there is no token', async () => {
    const { service } = serviceWith(smallShop())
    const pages = await openPages([smallShop()], { service })
    const name = `10/${pages.manifests[0].snapshot}`
    const answer = await pages.get(`/compare?from=10/service&to=${name}`)
    expect(answer.headers.get('location')).toBe(
      `/compare?from=${encodeURIComponent(name)}&to=10%2Fservice`,
    )
    expect((await pages.get('/compare?from=10/service&to=10/service')).status).toBe(404)
    expect((await pages.read('/accounts/10')).text).toContain('the service now')
    const without = await openPages([smallShop()], { service: { ...service, has: () => false } })
    const path = `/compare?from=10/${without.manifests[0].snapshot}&to=10/service`
    const answered = await without.read(path)
    expect(answered.status).toBe(502)
    expect(answered.text).toContain('the configuration has no token of it')
    expect((await without.read('/accounts/10')).text).not.toContain('the service now')
  })

  it('shows an error when the newest manifest is damaged', async () => {
    const { service } = serviceWith(smallShop())
    const pages = await openPages([smallShop(), laterShop()], { service })
    const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
    for await (const { key } of pages.store.list(`10/${second}/`)) {
      if (key.includes('manifest')) await pages.store.put(key, Buffer.from('x'))
    }
    const { status, text } = await pages.read(`/compare?from=10/${first}&to=10/service`)
    expect(status).toBe(502)
    expect(text).toContain('<h1><bdi>The archive cannot be read</bdi></h1>')
    expect(text).toContain(second)
  })

  it('shows the error of the service, and asks it again on the next page', async () => {
    let fails = true
    const { service } = serviceWith(smallShop())
    const failing = async (...given: Parameters<ServiceReader['export']>) => {
      if (!fails) return service.export(...given)
      throw new DashkeepError('Cannot export: the <token> is refused', { hint: 'use another' })
    }
    const pages = await openPages([smallShop()], { service: { ...service, export: failing } })
    const path = `/compare?from=10/${pages.manifests[0].snapshot}&to=10/service`
    const { status, text } = await pages.read(path)
    expect(status).toBe(502)
    expect(text).toContain('<h1><bdi>The service cannot be read</bdi></h1>')
    expect(text).toContain('Cannot export: the &lt;token&gt; is refused')
    fails = false
    expect((await pages.read(path)).status).toBe(200)
  })

  it('shows a waiting page for a slow service, and asks it only once', async () => {
    const gate = Promise.withResolvers<void>()
    const { service, asked } = serviceWith(smallShop())
    const slow = async (
      account: Manifest['account'],
      options: { types: readonly string[]; signal: AbortSignal },
    ) => {
      const exported = service.export(account, options)
      await gate.promise
      return exported
    }
    const pages = await openPages([smallShop()], {
      service: { ...service, export: slow, patienceMs: 0 },
    })
    const path = `/compare?from=10/${pages.manifests[0].snapshot}&to=10/service`
    const waiting = await pages.read(path)
    expect(waiting.status).toBe(200)
    expect(waiting.text).toContain('<meta http-equiv="refresh" content="3">')
    expect(waiting.text).toContain('The export began just now')
    gate.resolve()
    await expect.poll(async () => (await pages.read(path)).text).toContain('Nothing differs.')
    expect(asked).toHaveLength(1)
  })
})

it('keeps the exports of four accounts, and closes the oldest one for a fifth', async () => {
  const { store, manifests } = await fillArchive([smallShop()])
  const [manifest] = manifests
  const asked: number[] = []
  const closed: number[] = []
  const service: ServiceReader = {
    patienceMs: 60_000,
    has: () => true,
    async export({ id }) {
      asked.push(id)
      return { store, manifest, [Symbol.asyncDispose]: async () => void closed.push(id) }
    },
  }
  const { signal } = new AbortController()
  const live = createLiveExports(service, { now: () => new Date(0), signal })
  const read = (id: number) => live.get({ ...manifest, account: { ...manifest.account, id } })
  for (const id of [1, 2, 3, 4, 1, 2, 3, 4]) await read(id)
  expect(asked).toEqual([1, 2, 3, 4])
  expect(closed).toEqual([])
  await read(5)
  await expect.poll(() => closed).toEqual([1])
})

describe('the comparison of an object', () => {
  const of = (text: string) => `${text}`.replaceAll('\n', ' ')

  it('shows an object that only one side holds', async () => {
    const { read, first, second } = await openShops()
    const { status, text } = await read(`/compare?from=10/${first}&to=10/${second}&id=search:s1`)
    expect(status).toBe(200)
    expect(text).toContain('Only the first side holds this object.')
    expect(text).toContain(`/snapshots/${first}/object?id=search%3As1`)
  })

  it('groups differences by panel, with those of the object that it shows', async () => {
    const panel = (more: object) => ({
      panelIndex: '1',
      version: '7.17.0',
      gridData: { x: 0, y: 0, w: 24, h: 15, i: '1' },
      type: 'visualization',
      id: 'v1',
      ...more,
    })
    const shop = (markdown: string, more: object, description: string): Moment => ({
      visualization: [
        hitOf('visualization:v1', {
          title: 'Notes',
          visState: JSON.stringify({ type: 'markdown', params: { markdown } }),
        }),
      ],
      dashboard: [
        hitOf('dashboard:d1', {
          title: 'Shop floor',
          description,
          panelsJSON: JSON.stringify([panel(more)]),
        }),
      ],
    })
    const text = 'first line\nthe second line of the text\nthird line'
    const pages = await openPages([
      shop(text, {}, 'old'),
      shop(text.replace('second', 'other'), { title: 'Own <title>' }, 'new'),
    ])
    const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
    const { text: page } = await pages.read(
      `/compare?from=10/${first}&to=10/${second}&id=dashboard:d1`,
    )
    const [, panels = '', itself = ''] = page.split(/Changes by panel|The dashboard itself/)
    expect(of(panels)).toMatch(/changed inside[\s\S]*title<\/bdi><\/span>: <ins>/)
    expect(of(panels)).toContain('id=visualization%3Av1')
    expect(of(panels)).toContain('<mark>second</mark>')
    expect(of(panels)).toContain('<mark>other</mark>')
    expect(of(panels)).toContain('first line')
    expect(itself).toContain('description')
    expect(itself).not.toContain('panelsJSON')
    expect(page).not.toContain('<title>&')
  })

  it('escapes hostile titles, ids and panels', async () => {
    const hostile = `"><script>alert(1)</script><img src=x>\u202e\n'`
    const shop = (index: string): Moment => ({
      visualization: [hitOf(`visualization:${hostile}`, { title: hostile, visState: index })],
      dashboard: [
        hitOf('dashboard:d1', {
          title: `${hostile}${index}`,
          [hostile]: index,
          panelsJSON: JSON.stringify([
            {
              panelIndex: hostile,
              title: hostile,
              type: 'visualization',
              id: hostile,
              [hostile]: index,
            },
          ]),
        }),
      ],
    })
    const pages = await openPages([shop('one'), shop('two')])
    const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
    const path = `/compare?from=10/${first}&to=10/${second}`
    for (const at of [
      path,
      `${path}&id=dashboard:d1`,
      `${path}&id=${encodeURIComponent(`visualization:${hostile}`)}`,
      `/find?q=${encodeURIComponent('"><script>')}&in=10`,
    ]) {
      const { status, text } = await pages.read(at)
      expect(status, at).toBe(200)
      // A field of a form holds the text as it is.
      expect(text.replaceAll(/<input[^>]*>/g, ''), at).not.toMatch(/<script>|<img|\u202e/)
      expect(text, at).toContain('&lt;script&gt;')
    }
  })

  it('compares hostile texts of megabytes in limited time and size', async () => {
    const shop = (text: string): Moment => ({
      visualization: [hitOf('visualization:v1', { title: 'x', description: text })],
    })
    const noise = (seed: number, size: number) =>
      Array.from({ length: size }, (_, at) => (((at * seed) % 7) & 1 ? '<b>\u202e ' : 'a\n')).join(
        '',
      )
    const pages = await openPages([shop(noise(3, 800_000)), shop(noise(5, 800_000))])
    const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
    const { status, text } = await pages.read(
      `/compare?from=10/${first}&to=10/${second}&id=visualization:v1`,
    )
    expect(status).toBe(200)
    expect(text.length).toBeLessThan(1_000_000)
    expect(text).not.toMatch(/<b>|\u202e/)
    expect(text).toContain('The texts differ in more than is shown here.')
  }, 30_000)
})
