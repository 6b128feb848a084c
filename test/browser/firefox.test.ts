import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { corpus } from '../corpus/corpus.ts'
import { browsers, reportLeftOut } from './browsers.ts'
import { type FirefoxTab, openFirefox } from './firefox.ts'
import { pathsOf } from './paths.ts'
import { openRealSite, openSite, type Site, servePages } from './site.ts'
import { compareRealDates, findNoRestore, restoreDeleted, seeSuspect } from './stories.ts'

reportLeftOut('firefox')

describe.skipIf(browsers.firefox === undefined)('the pages in Firefox', () => {
  let site: Site
  let tab: FirefoxTab

  beforeAll(async () => {
    site = await openSite(['--allow-restore'])
    tab = await openFirefox(browsers.firefox ?? '')
    await tab.open(site.address)
  }, 300_000)

  afterAll(async () => {
    await tab?.[Symbol.asyncDispose]()
    await site?.[Symbol.asyncDispose]()
  })

  it('show which account is suspect, and why', async () => {
    await seeSuspect(tab, site)
    expect(tab.problems).toEqual([])
  })

  it('find a deleted dashboard within a year, and restore it with what it needs', async () => {
    await restoreDeleted(tab, site)
    expect(tab.problems).toEqual([])
  }, 60_000)

  it.skipIf(corpus === '')(
    'compare two dates of a real account',
    async () => {
      await using real = await openRealSite()
      await tab.open(real.address)
      await compareRealDates(tab, real)
      expect(tab.problems).toEqual([])
    },
    120_000,
  )

  it('have no way to restore without the flag', async () => {
    await using readOnly = await servePages(site.trial, [])
    const { dashboard, basket, plan, restores } = await pathsOf(site)
    await findNoRestore(tab, readOnly.address, [dashboard, basket, plan, restores])
    expect(tab.problems).toEqual([])
  })
})
