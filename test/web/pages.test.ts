import { describe, expect, it, vi } from 'vitest'
import { fileKey } from '../../src/archive/archive.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { fillArchive, hitOf } from '../archive/archive-of.ts'
import { openPages, smallShop } from './open-pages.ts'

const shop = '/accounts/10'

describe('the accounts page', () => {
  it('says that the account has a good backup, and shows its newest good snapshot', async () => {
    const pages = await openPages([smallShop(), smallShop({ title: 'New floor' })])
    const { status, text } = await pages.read('/')
    expect(status).toBe(200)
    expect(text).toContain('<title>Accounts · dashkeep</title>')
    expect(text).toContain('The account has a good backup.')
    expect(text).toMatch(/<a href="\/accounts\/10"><bdi>Shop<\/bdi>/)
    expect(text).toContain('12 hours ago')
    expect(text).toMatch(/data-label="Objects"[^>]*>3</)
    expect(text).toContain('3 to 3 objects over 2 snapshots')
    expect(text).toContain('<code>dashkeep status</code>')
  })

  it('shows a suspect account with its reasons', async () => {
    const pages = await openPages([smallShop(), { ...smallShop(), dashboard: [] }], {
      acceptFall: false,
    })
    const { text } = await pages.read('/')
    expect(text).toContain('1 of 1 account needs attention.')
    expect(text).toMatch(/class="state suspect">.*◆.* suspect</)
    expect(text).toMatch(/<ul class="reasons">\s*<li><bdi>dashboard/)
  })

  it('shows a stale account, and before it one that is configured and missing', async () => {
    const configured = [{ name: 'absent', accountId: 11 }]
    const pages = await openPages([smallShop()], { configured, maxAgeMs: 3_600_000 })
    const { text } = await pages.read('/')
    expect(text).toContain('2 of 2 accounts need attention.')
    expect(text).toContain('the newest good snapshot is too old')
    expect(text).toMatch(/state stale[\s\S]*state missing/)
  })

  it('explains an empty archive', async () => {
    const { text } = await (await openPages([])).read('/')
    expect(text).toContain('holds no snapshot. Check its address')
  })
})

describe('the account page', () => {
  it('shows a calendar, and a table with changes and pins', async () => {
    const pages = await openPages([smallShop(), smallShop(), smallShop({ title: 'New floor' })])
    const [first, , third] = pages.manifests.map(({ snapshot }) => snapshot)
    await pages.store.put(`pins/10/${first}`, Buffer.from('{}'))
    const { status, text } = await pages.read(shop)
    expect(status).toBe(200)
    expect(text).toContain('<caption>November 2026</caption>')
    expect(text).toMatch(/class="day unchanged"[^>]*>2</)
    expect(text).toMatch(/class="day changed"[^>]*>3</)
    expect(text).toContain(`href="${shop}/snapshots/${third}"`)
    expect(text).toContain('1 changed')
    expect(text).toMatch(new RegExp(`${first}</a> <span class="pin">pinned`))
    expect(text).toContain('dashkeep list --account 10')
  })

  it('shows the state of the account with its reasons', async () => {
    const pages = await openPages([smallShop(), { ...smallShop(), dashboard: [] }], {
      acceptFall: false,
    })
    await pages.read('/')
    const [facts = ''] =
      /<dl class="facts">[\s\S]*?<\/dl>/.exec((await pages.read(shop)).text) ?? []
    expect(facts).toMatch(/<dt>State<\/dt>.*suspect[\s\S]*<bdi>dashboard/)
  })

  it('marks a snapshot whose files are missing as damaged', async () => {
    const pages = await openPages([smallShop()])
    const [{ snapshot, exports }] = pages.manifests
    await pages.store.remove(fileKey(10, snapshot, exports[0]?.file.name ?? ''))
    const { text } = await pages.read(shop)
    expect(text).toMatch(/class="day damaged"/)
    expect(text).toContain('are missing or cut short')
  })

  it('answers 404 for an account that the archive does not hold', async () => {
    const pages = await openPages([smallShop()])
    for (const path of ['/accounts/11', '/accounts/x', '/accounts/-1', `${shop}/nothing`]) {
      expect((await pages.get(path)).status).toBe(404)
    }
  })
})

describe('the snapshot page', () => {
  it('lists types and objects, finds, and sorts', async () => {
    const pages = await openPages([smallShop()])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}`
    const all = await pages.read(path)
    expect(all.text).toContain('3 objects')
    expect(all.text).toContain(`href="${path}/object?id=dashboard%3Ad1"`)
    const found = await pages.read(`${path}?q=ORDERS&type=search`)
    expect(found.text).toContain('1 object found')
    expect(found.text).toContain('Failed orders')
    expect(found.text).not.toContain('Shop floor')
    const nested = await pages.read(`${path}?q=line`)
    expect(nested.text).toContain('1 object found')
    expect(nested.text).toContain('visState › type')
    const sorted = await pages.read(`${path}?sort=-title`)
    expect(sorted.text).toMatch(/Shop floor[\s\S]*Orders per hour[\s\S]*Failed orders/)
    expect(sorted.text).toContain('aria-sort="descending"')
    expect((await pages.read(`${path}?q=nowhere`)).text).toContain('No object matches the search.')
  })

  it('reads the newest snapshot once when the page of its account was shown before', async () => {
    const pages = await openPages([smallShop()])
    const { snapshot } = pages.manifests[0]
    pages.store.calls.length = 0
    await pages.read(shop)
    const opened = () => pages.store.calls.filter(({ action }) => action === 'open').length
    await vi.waitFor(() => expect(opened()).toBe(3))
    expect((await pages.read(`${shop}/snapshots/${snapshot}`)).text).toContain('Shop floor')
    expect(opened()).toBe(3)
  })

  it('reads one snapshot ahead at a time, however many accounts are shown', async () => {
    const { store, opened, answer, manifest } = await fillTwoAccounts()
    const pages = await openPages([smallShop()], { store })
    for (const path of [shop, '/accounts/11', '/accounts/12']) await pages.read(path)
    expect(opened).toEqual(['10'])
    answer()
    await pages.read(`${shop}/snapshots/${manifest.snapshot}`)
    expect(opened).toEqual(['10', '10', '10'])
    await pages.read('/accounts/11')
    await vi.waitFor(() => expect(opened.slice(3)).toEqual(['11', '11', '11']))
  })

  it('shows the page of an account whose newest snapshot cannot be read', async () => {
    const pages = await openPages([smallShop()])
    const { snapshot, exports } = pages.manifests[0]
    for (const { file } of exports)
      await pages.store.put(fileKey(10, snapshot, file.name), Buffer.of(1))
    expect((await pages.read(shop)).status).toBe(200)
    const table = await pages.read(`${shop}/snapshots/${snapshot}`)
    expect(table.text).toContain('Cannot read the archive')
  })

  it('reads the files once for a search, however the table is sorted', async () => {
    const pages = await openPages([smallShop()])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}?q=line`
    await pages.read(path)
    pages.store.calls.length = 0
    expect((await pages.read(`${path}&sort=-title`)).text).toContain('visState › type')
    expect(pages.store.calls).toEqual([])
  })

  it('names a file that a search cannot read, and searches it again once it is repaired', async () => {
    const pages = await openPages([smallShop()])
    const { account, snapshot, exports } = pages.manifests[0]
    const path = `${shop}/snapshots/${snapshot}`
    await pages.read(path)
    const file = exports.find(({ type }) => type === 'visualization')?.file.name ?? ''
    const key = fileKey(account.id, snapshot, file)
    const sound = (await pages.store.get(key, { maxBytes: 1e6 })) as Uint8Array
    await pages.store.put(key, sound.toReversed())
    const damaged = await pages.read(`${path}?q=line`)
    expect(damaged.text).toContain('Some of the archive cannot be read')
    expect(damaged.text).toContain(key)
    await pages.store.put(key, sound)
    const repaired = await pages.read(`${path}?q=line`)
    expect(repaired.text).toContain('visState › type')
    expect(repaired.text).not.toContain('cannot be read')
  })

  it('shows only what changed since the previous snapshot, removed objects included', async () => {
    const after = {
      ...smallShop({ title: 'New floor' }),
      search: [hitOf('search:s2', { title: 'Fresh' })],
    }
    const pages = await openPages([smallShop(), after])
    const [before, now] = pages.manifests.map(({ snapshot }) => snapshot)
    const { text } = await pages.read(`${shop}/snapshots/${now}?changed=1`)
    expect(text).toMatch(/New floor[\s\S]*state changed/)
    expect(text).toMatch(/Fresh[\s\S]*state added/)
    expect(text).toContain(`href="${shop}/snapshots/${before}/object?id=search%3As1"`)
    expect(text).not.toContain('Orders per hour')
    expect(text).toContain(`dashkeep diff ${before} ${now} --account 10`)
  })

  it('splits a long table into pages', async () => {
    const search = Array.from({ length: 700 }, (_, place) =>
      hitOf(`search:${place}`, { title: `t${place}` }),
    )
    const pages = await openPages([{ search }])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}`
    const { text } = await pages.read(`${path}?sort=title&page=2`)
    expect(text).toContain('Part 2 of 2')
    expect(text.match(/<th role="rowheader"/g)?.length).toBe(200 + 1)
  })
})

describe('the object page', () => {
  it('shows opened JSON, relations, raw bytes and a download', async () => {
    const pages = await openPages([smallShop()])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}/object`
    const { text } = await pages.read(`${path}?id=visualization:v1`)
    expect(text).toContain('<h1><bdi>Orders per hour</bdi></h1>')
    expect(text).toContain('&quot;type&quot;: &quot;line&quot;')
    expect(text).toMatch(
      /What it needs[\s\S]*id=search%3As1[\s\S]*What needs it[\s\S]*id=dashboard%3Ad1/,
    )
    expect(text).toContain('dashkeep cat visualization:v1 --open --snapshot')
    const raw = await pages.get(`${path}/raw?id=visualization:v1`)
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await raw.text()).toBe(JSON.stringify(smallShop().visualization?.[0]))
    const download = await pages.get(`${path}/download?id=visualization:v1`)
    expect(download.headers.get('content-disposition')).toBe(
      'attachment; filename="visualization%3Av1.json"',
    )
  })

  it('shows a visualization as kind, fields, aggregations and query, and a search as columns', async () => {
    const source = { index: 'logs-*', query: { language: 'kuery', query: 'a < 5' } }
    const meta = { kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify(source) } }
    const aggs = [{ id: '1', type: 'avg', schema: 'metric', params: { field: '<bytes>' } }]
    const pages = await openPages([
      {
        search: [
          hitOf('search:s1', { title: 'S', columns: ['<b>'], sort: ['t', 'desc'], ...meta }),
        ],
        visualization: [
          hitOf('visualization:v1', {
            title: 'V',
            savedSearchId: 's1',
            visState: JSON.stringify({ type: 'pie', aggs }),
            ...meta,
          }),
          hitOf('visualization:v2', { title: 'Broken', visState: '{' }),
        ],
      },
    ])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}/object`
    const visualization = await pages.read(`${path}?id=visualization:v1`)
    expect(visualization.text).toMatch(/Kind<\/dt><dd><bdi>pie<[\s\S]*logs-\*[\s\S]*a &lt; 5/)
    expect(visualization.text).toMatch(/avg[\s\S]*&lt;bytes&gt;[\s\S]*metric/)
    expect(visualization.text).toContain(`${path}?id=search%3As1`)
    const search = await pages.read(`${path}?id=search:s1`)
    expect(search.text).toMatch(/Columns[\s\S]*&lt;b&gt;[\s\S]*Sort[\s\S]*t desc/)
    const broken = await pages.read(`${path}?id=visualization:v2`)
    expect(broken.text).not.toContain('<h2>Visualization</h2>')
    expect(broken.text).toContain('Opened JSON')
  })

  it('answers 404 for an object that the snapshot does not hold', async () => {
    const pages = await openPages([smallShop()])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}/object`
    for (const query of ['', '?id=', '?id=search:none', '/raw?id=nothing', '/other?id=search:s1']) {
      expect((await pages.get(path + query)).status).toBe(404)
    }
  })
})

describe('the versions of an object', () => {
  it('are shown newest first, for a deleted object, too', async () => {
    const gone = { ...smallShop(), dashboard: [hitOf('dashboard:d2', { title: 'Other' })] }
    const pages = await openPages([smallShop(), smallShop({ title: 'New floor' }), gone])
    const { text } = await pages.read(`${shop}/history?id=dashboard:d1`)
    expect(text).toMatch(/disappeared[\s\S]*renamed[\s\S]*appeared/)
    expect(text).toContain('Versions of New floor')
    expect(text).toContain('dashkeep history dashboard:d1 --patch --account 10')
    expect((await pages.get(`${shop}/history?id=dashboard:none`)).status).toBe(404)
  })
})

describe('every page', () => {
  it.each([
    ['/', 'Accounts'],
    ['/accounts/10', 'Accounts'],
    ['/find?q=a&in=10', 'Find'],
    ['/compare?from=10', 'Compare'],
    ['/nowhere', undefined],
  ])('marks its section in the navigation: %s', async (path, label) => {
    const { text } = await (await openPages([smallShop()])).read(path)
    expect(/aria-current="true">([^<]*)/.exec(text)?.[1]).toBe(label)
  })

  const hostile = `"><script>alert(1)</script>&lt;'\u202e\u0000${'x'.repeat(5000)}`

  it('escapes hostile titles and ids', async () => {
    const id = `dashboard:<img src=x onerror=alert(1)>/..\\ "'&?#%`
    const pages = await openPages([
      { dashboard: [hitOf(id, { title: hostile, description: hostile })] },
    ])
    const path = `${shop}/snapshots/${pages.manifests[0].snapshot}`
    const query = `id=${encodeURIComponent(id)}`
    for (const at of [
      '/',
      shop,
      path,
      `${path}?q=${encodeURIComponent('">')}`,
      `${path}/object?${query}`,
      `${shop}/history?${query}`,
    ]) {
      const { status, text } = await pages.read(at)
      expect(status, at).toBe(200)
      expect(text, at).not.toMatch(/<script(?! type="module" src="\/script.js">)|<img|\u202e|\0/)
    }
  })

  it('shows an error of the store with status 502 and no stack trace', async () => {
    const pages = await openPages([smallShop()])
    const { StoreError } = await import('../../src/store/errors.ts')
    pages.store.intercept = () => {
      throw new StoreError('Cannot reach the <store>: it is asleep', { hint: 'wake it' })
    }
    const { status, text } = await pages.read('/')
    expect(status).toBe(502)
    expect(text).toContain('Cannot reach the &lt;store&gt;: it is asleep')
    expect(text).toContain('Hint: <bdi>wake it</bdi>')
    expect(text).not.toMatch(/\n\s+at /)
  })

  it('shows no details of a bug, and logs them', async () => {
    const pages = await openPages([smallShop()])
    pages.store.intercept = () => {
      throw new TypeError('secret detail')
    }
    const { status, text } = await pages.read('/')
    expect(status).toBe(500)
    expect(text).not.toContain('secret detail')
    expect(pages.logged.join('')).toContain('secret detail')
  })

  it('reads a manifest once', async () => {
    const pages = await openPages([smallShop()])
    await pages.read(shop)
    pages.store.calls.length = 0
    await pages.read(shop)
    expect(pages.store.calls.filter(({ action }) => action === 'get')).toEqual([])
  })

  it.each([
    ['invalid', async () => Buffer.from('{')],
    ['that of another snapshot', (other: () => Promise<Uint8Array>) => other()],
  ])('shows the repair of a manifest at once that was %s', async (_what, damage) => {
    const pages = await openPages([smallShop(), smallShop({ title: 'New floor' })])
    const [key, other] = pages.manifests.map(({ snapshot }) =>
      fileKey(10, snapshot, 'manifest.json'),
    ) as [string, string]
    const stored = async (name: string) =>
      (await pages.store.get(name, { maxBytes: 1e6 })) as Uint8Array
    const sound = await stored(key)
    await pages.store.put(key, await damage(() => stored(other)))
    expect((await pages.read(shop)).text).toContain('class="day damaged"')
    await pages.store.put(key, sound)
    expect((await pages.read(shop)).text).not.toContain('class="day damaged"')
  })
})

describe('the drawing of a dashboard', () => {
  const object = (snapshot: string | undefined) => `${shop}/snapshots/${snapshot}/object`

  it('links each panel to the object that it shows', async () => {
    const pages = await openPages([shopWith([{ x: 0, y: 0 }])])
    const [snapshot] = pages.manifests.map((manifest) => manifest.snapshot)
    const { text } = await pages.read(`${object(snapshot)}?id=dashboard:d1`)
    expect(text).toContain('<svg class="dashboard"')
    expect(text).toContain('Orders per hour')
    expect(text).toContain(`href="${object(snapshot)}?id=visualization%3Av1"`)
    const other = await pages.read(`${object(snapshot)}?id=visualization:v1`)
    expect(other.text).not.toContain('<svg class="dashboard"')
  })

  it('names what cannot be drawn', async () => {
    const broken = { ...smallShop(), dashboard: [hitOf('dashboard:d1', { panelsJSON: '{' })] }
    const pages = await openPages([broken])
    const [snapshot] = pages.manifests.map((manifest) => manifest.snapshot)
    const { text } = await pages.read(`${object(snapshot)}?id=dashboard:d1`)
    expect(text).toContain('panelsJSON is not JSON')
  })

  it('compares two versions, and the page of versions links to it', async () => {
    const pages = await openPages([
      shopWith([{ x: 0, y: 0 }]),
      shopWith([
        { x: 24, y: 0 },
        { x: 0, y: 0 },
      ]),
    ])
    const [first, second] = pages.manifests.map((manifest) => manifest.snapshot)
    const compare = `/compare?from=10%2F${first}&amp;to=10%2F${second}&amp;id=dashboard%3Ad1`
    const { text: versions } = await pages.read(`${shop}/history?id=dashboard:d1`)
    expect(versions).toContain(`href="${compare}"`)
    const { status, text } = await pages.read(compare.replaceAll('&amp;', '&'))
    expect(status).toBe(200)
    expect(text.match(/<svg class="dashboard"/g)).toHaveLength(2)
    expect(text).toMatch(
      /<li id="change-1"[\s\S]*<bdi>Orders per hour<\/bdi>[\s\S]*moved from column 0/,
    )
    expect(text).toMatch(/<li id="change-2"[\s\S]*<bdi>Orders per hour<\/bdi>[\s\S]*<p>added/)
    expect(text).toContain(`dashkeep diff ${first} ${second} --object dashboard:d1 --account 10`)
  })

  it('compares objects of other types by their differences alone', async () => {
    const renamed = { ...smallShop(), search: [hitOf('search:s1', { title: 'Errors' })] }
    const pages = await openPages([smallShop(), renamed])
    const [first, second] = pages.manifests.map((manifest) => manifest.snapshot)
    const { text } = await pages.read(`/compare?from=10/${first}&to=10/${second}&id=search:s1`)
    expect(text).not.toContain('<svg class="dashboard"')
    expect(text).toMatch(/<h2>Differences<\/h2>\s*<ul/)
  })
})

/** The small shop with a dashboard that shows its visualization at each of these places. */
function shopWith(places: readonly { x: number; y: number }[]) {
  const panels = places.map(({ x, y }, nth) => ({
    panelIndex: String(nth + 1),
    type: 'visualization',
    id: 'v1',
    version: '7.10.2',
    gridData: { x, y, w: 24, h: 15, i: String(nth + 1) },
  }))
  const dashboard = hitOf('dashboard:d1', {
    title: 'Shop floor',
    panelsJSON: JSON.stringify(panels),
  })
  return { ...smallShop(), dashboard: [dashboard] }
}

/** The accounts 10 and 11, in a store that opens no file before `answer`. Keeps whose files are opened. */
async function fillTwoAccounts() {
  const { store, manifests } = await fillArchive([smallShop()])
  const others = await fillArchive([smallShop()], { accountId: 11 })
  for (const [key, bytes] of others.store.objects) store.objects.set(key, bytes)
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  const opened: string[] = []
  const open: ObjectStore['open'] = async (key, options) => {
    opened.push(key.slice(0, key.indexOf('/')))
    await promise
    return store.open(key, options)
  }
  return { store: { ...store, open }, opened, answer, manifest: manifests[0] }
}
