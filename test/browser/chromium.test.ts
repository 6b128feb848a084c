import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { corpus } from '../corpus/corpus.ts'
import { leaveOut } from '../left-out.ts'
import { findBarriers } from './axe.ts'
import { browsers, reportLeftOut } from './browsers.ts'
import { startChromium, tabOf } from './chromium.ts'
import { walkWithTab } from './keyboard.ts'
import { attack } from './other-origin.ts'
import { pathsOf } from './paths.ts'
import { openRealSite, openSite, type Site, servePages } from './site.ts'
import { compareRealDates, findNoRestore, restoreDeleted, seeSuspect } from './stories.ts'
import { see, type Tab } from './tab.ts'

reportLeftOut('chromium')
if (corpus === '')
  leaveOut('dates of a real account in a browser', 'by naming real objects in DASHKEEP_TEST_CORPUS')

/** Where pictures of all pages go; none are kept without it. */
const pictures = process.env.DASHKEEP_TEST_PICTURES

type Paths = Awaited<ReturnType<typeof pathsOf>>

describe.skipIf(browsers.chromium === undefined)('the pages in Chromium', () => {
  let site: Site
  let browser: Browser
  let cookies: BrowserContextOptions['storageState']
  let paths: Paths & Record<string, string>

  beforeAll(async () => {
    site = await openSite(['--allow-restore'])
    paths = await pathsOf(site)
    browser = await startChromium(browsers.chromium ?? '')
    cookies = await letIn(site.address)
  }, 300_000)

  afterAll(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
  })

  /** Exchanges the one-time token, and returns the cookie. */
  async function letIn(address: string) {
    const context = await browser.newContext()
    await (await context.newPage()).goto(address)
    const state = await context.storageState()
    await context.close()
    return state
  }

  /** Uses a page in a browser that was let in; nothing may go wrong in it. */
  async function visit(
    path: string,
    use: (page: Page, tab: Tab) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const all = { storageState: cookies, timezoneId: 'UTC', ...options } as BrowserContextOptions
    const context = await browser.newContext(all)
    try {
      const page = await context.newPage()
      const tab = await tabOf(page)
      await tab.open(new URL(path, site.address).href)
      await use(page, tab)
      expect(tab.problems, path).toEqual([])
    } finally {
      await context.close()
    }
  }

  it('show which account is suspect, and why', () =>
    visit('/', (_page, tab) => seeSuspect(tab, site)))

  it('find a deleted dashboard within a year, and restore it with what it needs', async () => {
    await visit('/', async (_page, tab) => {
      paths.restore = await restoreDeleted(tab, site)
      // For the pictures of the basket.
      await tab.open(new URL(paths.dashboard, site.address).href)
      await tab.click('button', 'Put into the basket')
    })
  }, 60_000)

  it.skipIf(corpus === '')(
    'compare two dates of a real account',
    async () => {
      await using real = await openRealSite()
      const context = await browser.newContext({ storageState: await letIn(real.address) })
      const page = await context.newPage()
      const tab = await tabOf(page)
      await compareRealDates(tab, real)
      await takePicture(page, 'compare-real')
      expect(tab.problems).toEqual([])
      await context.close()
    },
    120_000,
  )

  it('have no way to restore without the flag', async () => {
    await using readOnly = await servePages(site.trial, [])
    const context = await browser.newContext()
    const tab = await tabOf(await context.newPage())
    const { dashboard, basket, plan, restores } = paths
    await findNoRestore(tab, readOnly.address, [dashboard, basket, plan, restores])
    expect(tab.problems).toEqual([])
    await context.close()
  })

  it.each([
    ['light', 360],
    ['light', 1280],
    ['dark', 360],
    ['dark', 1280],
  ] as const)(
    'have no barrier that axe finds, in %s at %i pixels',
    async (colorScheme, width) => {
      for (const [name, path] of Object.entries(paths)) {
        const viewport = { width, height: 900 }
        const look = async (page: Page) => {
          expect(await findBarriers(page), name).toEqual([])
          await takePicture(page, `${name}-${colorScheme}-${width}`)
        }
        await visit(path, look, { colorScheme, viewport })
      }
    },
    300_000,
  )

  it.each([320, 360, 768, 1024, 1280, 2560])(
    'do not scroll sideways at %i pixels',
    async (width) => {
      for (const [name, path] of Object.entries(paths)) {
        const measure = async (page: Page) =>
          expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(width)
        await visit(path, measure, { viewport: { width, height: 900 } })
      }
    },
    120_000,
  )

  it('can be used with the keyboard alone, and always show the focus', async () => {
    for (const [name, path] of Object.entries(paths)) {
      await visit(path, async (page) => {
        expect(await walkWithTab(page), name).toEqual({ missed: [], unseen: [] })
      })
    }
  }, 300_000)

  it('begin with a link that skips to the content', async () => {
    await visit('/', async (page, tab) => {
      await tab.press('Tab')
      expect(await page.getByRole('link', { name: 'Skip to content' }).isVisible()).toBe(true)
      await tab.press('Enter')
      expect(await tab.evaluate('document.activeElement.id')).toBe('main')
    })
  })

  it('work without JavaScript', async () => {
    for (const [name, path] of Object.entries(paths)) {
      const read = async (page: Page) => {
        expect(await page.locator('main').innerText(), name).not.toBe('')
        expect(await page.locator('.foot').innerText()).toBe('Times are in UTC.')
      }
      await visit(path, read, { javaScriptEnabled: false })
    }
  }, 120_000)

  it('cannot be read and get no posts from a page of another origin', async () => {
    const context = await browser.newContext({ storageState: cookies as never })
    const loot = await attack(context, new URL('/', site.address))
    expect(Object.keys(loot).length).toBeGreaterThan(0)
    expect(Object.entries(loot).filter(([, got]) => got !== undefined)).toEqual([])
    await context.close()
  })

  async function takePicture(page: Page, name: string): Promise<void> {
    if (pictures === undefined) return
    await mkdir(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
  }

  describe('with their script', () => {
    it('filter rows while somebody types, and say how many are left', async () => {
      await visit(paths.snapshot, async (page, tab) => {
        await tab.press('/')
        await page.keyboard.type('dashboard: shop?')
        expect(await page.locator('table.data').last().locator('tbody tr:visible').count()).toBe(1)
        expect(await page.getByRole('status').innerText()).toMatch(/^1 of \d+ rows/)
      })
    })

    it('go through the rows with j and k, which are letters in a field', async () => {
      await visit(paths.account, async (page, tab) => {
        const focused = () => tab.evaluate<string>('document.activeElement.textContent')
        await tab.press('j')
        const first = await focused()
        await tab.press('j')
        expect(await focused()).not.toBe(first)
        await tab.press('k')
        expect(await focused()).toBe(first)
        await tab.press('/')
        await page.keyboard.type('jk?')
        expect(await tab.evaluate('document.activeElement.value')).toBe('jk?')
        expect(await page.getByRole('dialog').count()).toBe(0)
      })
    })

    it('list their shortcuts, which can be turned off', async () => {
      await visit('/', async (page, tab) => {
        await tab.press('?')
        await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
        expect(await findBarriers(page)).toEqual([])
        await tab.click('checkbox', 'Keys of one character are on')
        await tab.press('Escape')
        await tab.press('?')
        expect(await page.getByRole('dialog').count()).toBe(0)
        await tab.click('button', 'Shortcuts')
        await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
      })
    })

    it('mark a panel in both drawings and in the list', async () => {
      await visit(paths['compare-dashboards'], async (page) => {
        await page.locator('[data-panel]').first().focus()
        const number = await page.locator('[data-panel]').first().getAttribute('data-panel')
        const marked = page.locator('.panel-highlighted')
        expect(await marked.count()).toBeGreaterThan(1)
        await page.locator(`#change-${number}`).hover()
        expect(await marked.count()).toBeGreaterThan(1)
      })
    })

    it('show times in the time zone of the browser, with UTC on hover or for the key u', async () => {
      const look = async (page: Page, tab: Tab) => {
        const time = page.locator('time').first()
        expect(await time.innerText()).toMatch(/ (CET|GMT\+1)$/)
        expect(await time.getAttribute('title')).toMatch(/ UTC$/)
        await see(tab, 'CET')
        await tab.press('u')
        expect(await time.innerText()).toMatch(/ UTC$/)
      }
      await visit('/', look, { timezoneId: 'Europe/Berlin' })
      const lookAtLists = async (page: Page) => {
        const option = page.locator('select[name=from] option').first()
        expect(await option.textContent()).toMatch(/ (CET|GMT\+1)$/)
        expect(await page.locator('figcaption').first().innerText()).toMatch(/ (CEST|GMT\+2)$/)
      }
      await visit(paths['compare-dashboards'], lookAtLists, { timezoneId: 'Europe/Berlin' })
    })
  })
})
