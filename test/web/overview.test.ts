import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { CoverageFound } from '../../src/accounts/coverage.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import type { CopyStatus } from '../../src/run/copy-status.ts'
import { StoreError } from '../../src/store/errors.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import { exportBody, numbered, scriptSource } from '../archive/scripted-source.ts'
import { openPages } from './open-pages.ts'

const midday = (day: number) => new Date(Date.UTC(2026, 10, day, 12))

/** Takes a snapshot of three objects in the morning of a day in November. */
async function take(store: MemoryStore, accountId: number, day = 1) {
  const source = scriptSource({ search: exportBody('search', numbered(2 + day)) })
  source.account = { accountId, accountName: `Account ${accountId}` }
  const takenAt = new Date(Date.UTC(2026, 10, day, 3))
  return (await takeSnapshot(source, store, { takenAt, types: ['search'] })).manifest
}

async function storeOf(...accountIds: number[]): Promise<MemoryStore> {
  const store = createMemoryStore()
  for (const id of accountIds) await take(store, id)
  return store
}

/** A store that does not answer what touches the account `slow` until it is released. */
function slowFor(store: MemoryStore, slow: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const list: MemoryStore['list'] = async function* (prefix, options) {
    if (prefix.startsWith(`${slow}/`)) await promise
    yield* store.list(prefix, options)
  }
  return { store: { ...store, list }, release: () => resolve() }
}

/** Lets everything happen that needs no answer from outside. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await setImmediate()
}

describe('the first page, while the archive is read', () => {
  it('shows the progress, and calls no account missing', async () => {
    const slow = slowFor(await storeOf(10, 11, 12), 11)
    const configured = [{ name: 'absent', accountId: 99 }]
    const now = () => midday(1)
    const pages = await openPages([], { store: slow.store, configured, now, patienceMs: 0 })
    await pages.get('/')
    await settle()
    const early = await pages.get('/')
    const text = await early.text()
    expect(early.headers.get('refresh')).toBe('3')
    expect(text).toMatch(
      /Read 1 of 3 accounts <progress aria-label="accounts read" value="1" max="3">/,
    )
    expect(text).toContain('Account 10')
    expect(text).not.toMatch(/Account 11|absent|missing|needs? attention\.|have a good backup/)
    slow.release()
    await settle()
    const late = await pages.get('/')
    expect(late.headers.get('refresh')).toBeNull()
    expect(await late.text()).toMatch(/1 of 4 accounts needs attention[\s\S]*absent/)
  })

  it('does not block other pages', async () => {
    const slow = slowFor(await storeOf(10, 11), 11)
    const pages = await openPages([], { store: slow.store, now: () => midday(1), patienceMs: 0 })
    await pages.get('/')
    expect((await pages.read('/accounts/10')).text).toContain('<bdi>Account 10</bdi>')
    expect((await pages.get('/style.css')).status).toBe(200)
    slow.release()
  })
})

describe('the state of all accounts', () => {
  it('is read once for all readers, and again in the background after a minute', async () => {
    const store = await storeOf(10)
    let now = midday(1)
    const pages = await openPages([], { store, now: () => now })
    await Promise.all([pages.read('/'), pages.read('/'), pages.read('/')])
    const listings = () => store.calls.filter(({ action, key }) => action === 'list' && key === '')
    expect(listings()).toHaveLength(1)
    await take(store, 11)
    expect((await pages.read('/')).text).toContain('just now')
    now = new Date(now.getTime() + 61_000)
    const old = (await pages.read('/')).text
    expect(old).not.toContain('Account 11')
    expect(old).toContain('Reading again')
    await settle()
    expect((await pages.read('/')).text).toContain('Account 11')
    expect(listings()).toHaveLength(2)
  })

  it('is read before it is shown when it is older than ten minutes', async () => {
    const store = await storeOf(10)
    let now = midday(1)
    const pages = await openPages([], { store, now: () => now, maxAgeMs: 26 * 3_600_000 })
    await pages.read('/')
    await take(store, 10, 3)
    now = midday(3)
    expect((await pages.read('/')).text).toContain('The account has a good backup.')
  })

  it('counts the objects again once a damaged manifest is repaired', async () => {
    const store = await storeOf(10)
    const { snapshot } = await take(store, 10, 2)
    await take(store, 10, 3)
    const pages = await openPages([], { store, now: () => midday(3) })
    const key = `10/${snapshot}/manifest.json`
    const sound = (await store.get(key, { maxBytes: 1e6 })) as Uint8Array
    await store.put(key, Buffer.from('{'))
    expect((await pages.read('/')).text).toContain('objects over 2 snapshots')
    await store.put(key, sound)
    expect((await pages.read('/')).text).toContain('objects over 3 snapshots')
  })

  it('is read again on request', async () => {
    const store = await storeOf(10)
    let now = midday(1)
    const pages = await openPages([], { store, now: () => now })
    await pages.read('/')
    await take(store, 11)
    now = new Date(now.getTime() + 6_000)
    const answer = await pages.get('/refresh')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
    expect((await pages.read('/')).text).toContain('Account 11')
  })

  it('is still shown, with the error, when it cannot be read again', async () => {
    const store = await storeOf(10)
    let now = midday(1)
    const pages = await openPages([], { store, now: () => now })
    await pages.read('/')
    store.intercept = () => {
      throw new StoreError('Cannot list the <store>: it is asleep')
    }
    now = new Date(now.getTime() + 11 * 60_000)
    const { status, text } = await pages.read('/')
    expect(status).toBe(200)
    expect(text).toContain('cannot be read again: <bdi>Cannot list the &lt;store&gt;')
    expect(text).toContain('11 minutes ago')
    store.intercept = undefined
    expect((await pages.read('/')).text).not.toContain('cannot be read again')
  })

  it('is split into pages of 100 accounts, with a search', async () => {
    const ids = Array.from({ length: 101 }, (_, place) => 100 + place)
    const pages = await openPages([], { store: await storeOf(...ids), now: () => midday(1) })
    const first = (await pages.read('/')).text
    expect(first).toContain('Part 1 of 2')
    expect(first).not.toContain('Account 200')
    expect(first).toContain('All 101 accounts have a good backup.')
    expect((await pages.read('/?page=2')).text).toContain('Account 200')
    expect((await pages.read('/?q=t+150')).text).toContain('<caption>1 account,')
    expect((await pages.read('/?q=nobody')).text).toContain('No account matches the search.')
  })
})

describe('the pages of an account', () => {
  it('list it at most once a minute, on request, and for a snapshot that is not in the list', async () => {
    const store = await storeOf(10)
    let now = midday(2)
    const pages = await openPages([], { store, now: () => now })
    const listings = () =>
      store.calls.filter(({ action, key }) => action === 'list' && key === '10/').length
    await pages.read('/accounts/10')
    const { snapshot } = await take(store, 10, 2)
    store.calls.length = 0
    await pages.read('/accounts/10')
    await pages.read('/accounts/10/history?id=search:1')
    expect(listings()).toBe(0)
    now = new Date(now.getTime() + 6_000)
    expect((await pages.read(`/accounts/10/snapshots/${snapshot}`)).status).toBe(200)
    expect(listings()).toBe(1)
    expect((await pages.read('/accounts/10/snapshots/none')).status).toBe(404)
    expect(listings()).toBe(1)
    const answer = await pages.get('/accounts/10/refresh')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/accounts/10'])
    await pages.read('/accounts/10')
    expect(listings()).toBe(2)
    now = new Date(now.getTime() + 60_000)
    await pages.read('/accounts/10')
    expect(listings()).toBe(3)
  })
})

describe('sub accounts without a backup', () => {
  it('are listed once the service has answered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const askCoverage = async (
      backups: readonly { accountId: number }[],
    ): Promise<CoverageFound> => {
      expect(backups).toMatchObject([{ accountId: 10 }])
      await promise
      const covered = {
        accountId: 10,
        accountName: 'Safe',
        state: 'covered' as const,
        newestGood: midday(1),
      }
      const bare = {
        accountId: 12,
        accountName: '<b>',
        state: 'unconfigured' as const,
        newestGood: undefined,
      }
      return { accounts: [covered, bare], unidentified: [] }
    }
    const now = () => midday(1)
    const pages = await openPages([], { store: await storeOf(10), now, askCoverage })
    expect((await pages.read('/')).text).toContain('The service is being asked.')
    resolve()
    await settle()
    const { text } = await pages.read('/')
    expect(text).toContain('1 of 2 sub accounts')
    expect(text).toMatch(/<bdi>&lt;b&gt;<\/bdi>[\s\S]*no configured account backs it up/)
    expect(text).not.toContain('Safe')
  })

  it('are replaced by the error when the service cannot be asked', async () => {
    const askCoverage = async () => {
      throw new StoreError('Cannot reach the service: refused')
    }
    const now = () => midday(1)
    const pages = await openPages([], { store: await storeOf(10), now, askCoverage })
    await pages.read('/')
    await settle()
    const { status, text } = await pages.read('/')
    expect(status).toBe(200)
    expect(text).toContain('The service cannot be asked: <bdi>Cannot reach the service: refused')
  })
})

it('answers probes without a user, for any host', async () => {
  const pages = await openPages([])
  const answer = await pages.send('/healthz', { host: '10.0.0.7:5338' })
  expect([answer.status, await answer.text()]).toEqual([200, 'ok\n'])
})

describe('copies of the archive', () => {
  const statusOf = (more: Partial<CopyStatus> = {}): CopyStatus => ({
    name: 'offsite',
    url: 's3://offsite',
    error: undefined,
    accounts: [
      { accountId: 10, missing: 2, snapshot: 'S1', takenAt: midday(1), stale: false },
      { accountId: 11, missing: 0, snapshot: 'S2', takenAt: midday(2), stale: false },
    ],
    ...more,
  })
  const copyOf = (read: () => Promise<CopyStatus>, name = 'offsite') => ({
    name,
    url: `s3://${name}`,
    read,
  })

  it('are shown with the accounts that they lack snapshots of', async () => {
    const copies = [
      copyOf(async () => statusOf()),
      copyOf(async () => statusOf({ accounts: [] }), 'second'),
    ]
    const pages = await openPages([], { store: await storeOf(10), now: () => midday(3), copies })
    await pages.read('/')
    await settle()
    const { text } = await pages.read('/')
    expect(text).toMatch(
      /s3:\/\/offsite[\s\S]*▲<\/span> behind[\s\S]*Account 10<\/bdi><\/a>: 2<\/li>/,
    )
    expect(text).toMatch(/s3:\/\/second[\s\S]*complete/)
    expect(text).not.toContain('Copies that need attention')
    const account = (await pages.read('/accounts/10')).text
    expect(account).toMatch(/behind[\s\S]*data-label="Missing snapshots"[^>]*>2</)
    expect(account).toContain('href="/accounts/10/snapshots/S1"')
  })

  it.each([
    ['stale', statusOf({ accounts: [{ ...statusOf().accounts[0], stale: true } as never] })],
    ['cannot be read', statusOf({ accounts: [], error: 'Cannot list <s3>: refused' })],
  ])('are shown with the state: %s', async (word, status) => {
    const copies = [copyOf(async () => status)]
    const pages = await openPages([], { store: await storeOf(10), now: () => midday(3), copies })
    await pages.read('/')
    await settle()
    for (const path of ['/', '/accounts/10']) {
      const { text } = await pages.read(path)
      expect(text).toContain(`</span> ${word}</span>`)
      if (status.error) expect(text).toContain('Cannot list &lt;s3&gt;: refused')
    }
    expect((await pages.read('/')).text).toContain(
      'Copies that need attention: <bdi>offsite</bdi>.',
    )
  })

  it('block neither a page nor another copy when one does not answer', async () => {
    const copies = [
      copyOf(() => new Promise<never>(() => {})),
      copyOf(async () => statusOf(), 'second'),
    ]
    const pages = await openPages([], { store: await storeOf(10), now: () => midday(3), copies })
    await pages.read('/')
    await settle()
    for (const path of ['/', '/accounts/10']) {
      const { status, text } = await pages.read(path)
      expect(status).toBe(200)
      expect(text).toMatch(/s3:\/\/offsite[\s\S]*being read …[\s\S]*s3:\/\/second[\s\S]*behind/)
    }
  })

  it('are read every ten minutes at most, while somebody looks', async () => {
    let [reads, now] = [0, midday(3)]
    const read = async () => {
      reads += 1
      return statusOf()
    }
    const pages = await openPages([], {
      store: await storeOf(10),
      now: () => now,
      copies: [copyOf(read)],
    })
    expect(reads).toBe(0)
    for (const minutes of [0, 1, 9, 11, 12]) {
      now = new Date(midday(3).getTime() + minutes * 60_000)
      await pages.read('/')
      await settle()
    }
    expect(reads).toBe(2)
  })
})
