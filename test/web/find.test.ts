import { get as httpGet } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { startWeb } from '../../src/web/server.ts'
import { fillArchive, hitOf, type Moment } from '../archive/archive-of.ts'
import { keepLog } from './open-app.ts'
import { libraryOptions, openPages, smallShop } from './open-pages.ts'

const noDashboard: Moment = { ...smallShop(), dashboard: [] }

describe('a search in one snapshot', () => {
  it('finds titles, ids and nested text, and shows the place', async () => {
    const pages = await openPages([smallShop()])
    const place = `10/${pages.manifests[0].snapshot}`
    const { status, text } = await pages.read(`/find?q=LINE&in=${place}`)
    expect(status).toBe(200)
    expect(text).toContain('Orders per hour')
    expect(text).toContain('visState › type')
    expect(text).not.toContain('Shop floor')
    expect(text).toContain(
      `dashkeep find LINE --snapshot ${pages.manifests[0].snapshot} --account 10`,
    )
    expect((await pages.read(`/find?q=nowhere&in=${place}`)).text).toContain(
      'No object contains the text.',
    )
  })
})

describe('a search in all snapshots of an account', () => {
  it('finds a deleted dashboard, and says when it was there', async () => {
    const pages = await openPages([smallShop(), smallShop(), noDashboard])
    const [first, second] = pages.manifests.map(({ snapshot }) => snapshot)
    const { text } = await pages.read('/find?q=shop+floor&in=10')
    expect(text).toContain(`href="/accounts/10/snapshots/${second}/object?id=dashboard%3Ad1"`)
    expect(text).toMatch(/deleted since/)
    expect(text).toMatch(new RegExp(`snapshots/${first}">.* to .*snapshots/${second}">`))
    expect(text).toContain('dashkeep find &#39;shop floor&#39; --all --account 10')
  })

  it('distinguishes objects that no longer match from those that still do', async () => {
    const pages = await openPages([smallShop(), smallShop({ title: 'New floor' })])
    expect((await pages.read('/find?q=shop+floor&in=10')).text).toContain('changed since')
    expect((await pages.read('/find?q=floor&in=10')).text).toContain('state good')
  })

  it('ends a page after four seconds, says how far it went, and continues on the next page', async () => {
    const days = Array.from({ length: 6 }, (_, day) => smallShop({ title: `Floor ${day}` }))
    let now = Date.UTC(2026, 10, 8)
    const pages = await openPages([noDashboard, smallShop({ title: 'Lost' }), ...days], {
      // Each look at the clock takes three seconds.
      now() {
        now += 3000
        return new Date(now)
      },
    })
    let path: string | undefined = '/find?q=lost&in=10'
    let texts = 0
    let last = ''
    while (path !== undefined) {
      const { status, text } = await pages.read(path)
      expect(status).toBe(200)
      texts += 1
      last = text
      const [, next] = /rel="next" href="([^"]*)"/.exec(text) ?? []
      if (next !== undefined) expect(text).toMatch(/Searched all snapshots after /)
      path = next?.replaceAll('&amp;', '&')
    }
    expect(texts).toBeGreaterThan(1)
    expect(texts).toBeLessThan(10)
    expect(last).toContain('Lost')
  })

  it('names damaged files, and finds objects in the others', async () => {
    const pages = await openPages([smallShop(), noDashboard])
    for await (const { key } of pages.store.list('10/')) {
      if (key.includes('/visualization.')) await pages.store.put(key, Buffer.from('x'))
    }
    const { status, text } = await pages.read('/find?q=o&in=10')
    expect(status).toBe(200)
    expect(text).toContain('Some of the archive cannot be read')
    expect(text).toContain('Shop floor')
  })
})

describe('a search in all accounts', () => {
  it('finds objects in the newest good snapshot of each', async () => {
    const pages = await openPages([smallShop({ title: 'Old floor' }), smallShop()])
    const { store } = await fillArchive([smallShop({ title: 'Other shop' })], { accountId: 20 })
    for await (const { key } of store.list('20/')) {
      await pages.store.put(key, (await store.get(key, { maxBytes: 1e6 })) as Uint8Array)
    }
    const form = await pages.read('/find')
    expect(form.text).toContain('<option value="20">all snapshots of Shop</option>')
    const { text } = await pages.read('/find?q=shop')
    expect(text).toContain('Shop floor')
    expect(text).toContain('Other shop')
    expect(text).toContain('dashkeep find shop --account 10\ndashkeep find shop --account 20')
    expect((await pages.read('/find?q=old')).text).toContain('No object contains the text.')
  })
})

describe('a search that takes longer than a page may', () => {
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
    hitOf(`dashboard:${name}`, { title: `Floor ${name}` }),
  )

  /** Follows a search to its end. Returns the ids that each page found. */
  async function follow(pages: Awaited<ReturnType<typeof openPages>>, path: string) {
    const found: string[][] = []
    for (let next: string | undefined = path; next !== undefined; ) {
      const { status, text } = await pages.read(next)
      expect(status).toBe(200)
      found.push([...text.matchAll(/class="id"><bdi>([^<]*)/g)].map(([, id]) => id as string))
      next = /rel="next" href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    return found
  }

  it.each(['10/SNAPSHOT', '10', ''])(
    'ends the page within a large export, and continues at the same object: scope "%s"',
    async (scope) => {
      let now = Date.UTC(2026, 10, 2)
      const pages = await openPages([{ dashboard: many }], {
        // Each look at the clock takes a second.
        now() {
          now += 1000
          return new Date(now)
        },
      })
      const place = scope.replace('SNAPSHOT', pages.manifests[0].snapshot)
      const first = (await pages.read(`/find?q=floor&in=${place}`)).text
      expect(first).toMatch(/first \d objects of type dashboard/)
      const found = await follow(pages, `/find?q=floor&in=${place}`)
      expect(found.length).toBeGreaterThan(1)
      expect(found.flat()).toEqual(many.map((hit) => (hit as { _id: string })._id))
    },
  )

  it('misses nothing when the snapshot in which it ended is pruned', async () => {
    let now = Date.UTC(2026, 10, 4)
    const pages = await openPages([noDashboard, { dashboard: many }, { dashboard: many }], {
      full: true,
      now() {
        now += 1000
        return new Date(now)
      },
    })
    const [, second = ''] = pages.manifests.map(({ snapshot }) => snapshot)
    const { text } = await pages.read('/find?q=floor&in=10')
    const next = /rel="next" href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(next).toContain(second)
    for await (const { key } of pages.store.list(`10/${second}/`)) await pages.store.remove(key)
    await pages.get('/accounts/10/refresh')
    const ids = (await follow(pages, next)).flat()
    expect(ids).toContain('dashboard:g')
  })

  it('searches the whole copy of a file that is damaged, because its order may differ', async () => {
    let now = Date.UTC(2026, 10, 3)
    const turned = { dashboard: many.toReversed() }
    const pages = await openPages([{ dashboard: many }, turned], {
      full: true,
      now() {
        now += 1000
        return new Date(now)
      },
    })
    const { text } = await pages.read('/find?q=floor&in=10')
    const next = /rel="next" href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    for await (const { key, size } of pages.store.list(`10/${pages.manifests[0].snapshot}/d`)) {
      await pages.store.put(key, Buffer.alloc(size))
    }
    const ids = (await follow(pages, next)).flat()
    expect(ids).toEqual(expect.arrayContaining(many.map((hit) => (hit as { _id: string })._id)))
  })
})

describe('the page to find', () => {
  it('escapes hostile text, and answers 404 for an unknown scope', async () => {
    const hostile = '"><img src=x onerror=alert(1)>\u202e'
    const pages = await openPages([{ dashboard: [hitOf('dashboard:d1', { title: hostile })] }])
    const { status, text } = await pages.read(`/find?q=${encodeURIComponent(hostile)}&in=10`)
    expect(status).toBe(200)
    expect(text).toContain('1 object')
    // The field holds the text that was typed.
    expect(text.replace(/<input[^>]*>/, '')).not.toMatch(/<img|\u202e/)
    for (const place of ['11', 'x', '10/none', '10/a/b']) {
      expect((await pages.get(`/find?q=a&in=${place}`)).status, place).toBe(404)
    }
  })

  it('stops reading the store when the browser disconnects', async () => {
    const { store } = await fillArchive([smallShop(), smallShop({ title: 'New floor' })])
    const { log } = await keepLog()
    const asked = Promise.withResolvers<AbortSignal | undefined>()
    const options = {
      ...libraryOptions(store, 2),
      store: {
        ...store,
        open(_key: string, given: { signal?: AbortSignal | undefined }) {
          asked.resolve(given.signal)
          return new Promise<never>((_, reject) => {
            given.signal?.addEventListener('abort', () => reject(given.signal?.reason))
          })
        },
      },
    }
    await using server = await startWeb(options, { listen: '127.0.0.1:0', proxy: undefined, log })
    const opened = await fetch(server.address, { redirect: 'manual' })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const request = httpGet(new URL('/find?q=a&in=10', server.address), { headers: { cookie } })
    request.on('error', () => {})
    const signal = await asked.promise
    expect(signal?.aborted).toBe(false)
    request.destroy()
    await expect.poll(() => signal?.aborted).toBe(true)
  })
})

it.each(['/find?in=10&', '/?', '/accounts/10/snapshots/SNAPSHOT?'])(
  'refuses to search for more than 200 characters: %s',
  async (path) => {
    const pages = await openPages([smallShop()])
    const address = path.replace('SNAPSHOT', pages.manifests[0].snapshot)
    expect((await pages.read(`${address}q=${'a'.repeat(200)}`)).status).toBe(200)
    const { status, text } = await pages.read(`${address}q=*${'a'.repeat(3900)}b`)
    expect(status).toBe(400)
    expect(text).toContain('Cannot search for a text of 3902 characters: at most 200 are allowed.')
  },
)

it.each(['/find', '/compare'])(
  'removes direction marks from the names of accounts in a list: %s',
  async (path) => {
    const pages = await openPages([smallShop()], { nameOf: () => 'Shop \u202efloor' })
    await vi.waitFor(async () => {
      expect((await pages.read(path)).text).toContain('Shop \ufffdfloor')
    })
    expect((await pages.read(path)).text).not.toContain('\u202e')
  },
)

it('does not link an object whose id an address cannot contain', async () => {
  const moment = { search: [hitOf('search:\ud800', { title: 'Half', columns: ['a'] })] }
  const pages = await openPages([moment])
  const place = `10/${pages.manifests[0].snapshot}`
  for (const path of [
    `/find?q=half&in=${place}`,
    `/accounts/${place.replace('/', '/snapshots/')}`,
  ]) {
    const { status, text } = await pages.read(path)
    expect(status).toBe(200)
    expect(text).toContain('Half')
    expect(text).not.toContain('/object?id=')
  }
})

it('answers 404 for an object that no readable snapshot holds, and names the damage', async () => {
  const pages = await openPages([smallShop(), smallShop({ title: 'New' })])
  for await (const { key } of pages.store.list(`10/${pages.manifests[0].snapshot}/`)) {
    if (key.includes('manifest')) await pages.store.put(key, Buffer.from('x'))
  }
  const { status, text } = await pages.read('/accounts/10/history?id=dashboard:none')
  expect(status).toBe(404)
  expect(text).toContain('No snapshot that can be read holds this object.')
  expect(text).toContain('Some of the archive cannot be read')
  expect((await pages.read('/accounts/10/history?id=dashboard:d1')).status).toBe(200)
})
