import { fileURLToPath } from 'node:url'
import { startChromium } from '../../test/browser/chromium.ts'
import { pathsOf } from '../../test/browser/paths.ts'
import { openSite } from '../../test/browser/site.ts'

// Makes the pictures of the README from the web shop of the sandbox: `npm run pictures`. The clock
// stands still, so a picture changes only when its page does.

await using site = await openSite()
const paths = await pathsOf(site)
const browser = await startChromium(process.env.DASHKEEP_TEST_CHROMIUM ?? '/usr/bin/chromium')
const page = await browser.newPage({ viewport: { width: 1200, height: 600 }, timezoneId: 'UTC' })
await page.goto(site.address)
await takePicture('accounts', 'table.data')
await page.goto(new URL(paths['compare-dashboards'], site.address).href)
await takePicture('compare', '.dashboard-pair')
await browser.close()

/** Keeps a picture of the page, from its top to the end of an element. */
async function takePicture(name: string, last: string): Promise<void> {
  const box = await page.locator(last).first().boundingBox()
  if (box === null) throw new Error(`${last} cannot be seen`)
  const path = fileURLToPath(new URL(`${name}.webp`, import.meta.url))
  const clip = { x: 0, y: 0, width: 1200, height: Math.ceil(box.y + box.height + 24) }
  await page.screenshot({ path, clip, fullPage: true, type: 'webp', quality: 85 })
}
