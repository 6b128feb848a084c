import { expect } from 'vitest'
import { shopId } from '../e2e/trial.ts'
import { deleted, rebuilt, type Site } from './site.ts'
import { see, type Tab, textOf } from './tab.ts'

/** Sees on the first page that an account is suspect and why, and looks at its calendar. */
export async function seeSuspect(tab: Tab, { address }: Site): Promise<void> {
  await tab.open(new URL('/', address).href)
  await see(tab, '2 of 3 accounts need attention.')
  await see(tab, 'search: 0 objects, down from 1')
  await tab.click('link', 'staging')
  await see(tab, 'November 2026')
  await see(tab, 'search: 0 objects, down from 1')
}

/**
 * Finds the deleted dashboard in the snapshots of a year, restores it with what it needs, and sees
 * both in the service. Returns the path of the page that shows the restore.
 */
export async function restoreDeleted(tab: Tab, { address, trial }: Site): Promise<string> {
  const present = () =>
    ['dashboard', 'visualization'].map((type) => String(trial.sandbox.objects(shopId, type))).join()
  for (const id of deleted) expect(present()).not.toContain(id)
  await tab.open(new URL(`/find?in=${shopId}`, address).href)
  await tab.type('searchbox', 'Text', 'Payments')
  await tab.click('button', 'Find')
  await see(tab, 'deleted since')
  await tab.click('link', 'Payments')
  await see(tab, 'What needs it')
  await tab.click('button', 'Put into the basket')
  await see(tab, 'that the chosen objects need')
  await tab.click('link', 'Plan the restore of 1 object')
  await see(tab, 'Create: not in the service')
  await tab.type('textbox', 'To confirm, type production', 'production')
  await tab.click('button', 'Restore 2 objects')
  await see(tab, '● restored')
  for (const id of deleted) expect(present()).toContain(id)
  return tab.evaluate<string>('location.pathname')
}

/** Compares two dates of a real account: which objects differ, and how a dashboard was rebuilt. */
export async function compareRealDates(tab: Tab, { address }: Site): Promise<void> {
  await tab.open(new URL(`/accounts/${shopId}`, address).href)
  await tab.click('button', 'Compare')
  await see(tab, '24 objects')
  await tab.click('link', '[Metricbeat NATS] Overview ECS')
  for (const text of ['8 removed', '11 added', '4 moved', '3 resized']) await see(tab, text)
  const count = (selector: string) =>
    tab.evaluate<number>(`document.querySelectorAll('.dashboard-pair ${selector}').length`)
  expect(await count('a.panel-removed')).toBe(8)
  expect(await count('a.panel-added')).toBe(11)
  expect(await count('a.panel-moved')).toBe(2 * 4)
  expect(await tab.evaluate<string>('location.search')).toContain(encodeURIComponent(rebuilt))
}

/** Finds no way to restore on pages that were served without `--allow-restore`. */
export async function findNoRestore(tab: Tab, address: string, paths: string[]): Promise<void> {
  await tab.open(address)
  await tab.open(new URL(paths[0] ?? '', address).href)
  expect(await tab.evaluate("document.querySelector('header').innerText")).toContain('read only')
  const names = "[...document.querySelectorAll('a, button')].map((one) => one.textContent).join()"
  expect(await tab.evaluate(names)).not.toMatch(/restore|basket/i)
  for (const path of paths.slice(1)) {
    await tab.open(new URL(path, address).href)
    expect(await textOf(tab)).toContain('Not found')
  }
}
