import type { Page } from 'playwright-core'

/** What the Tab key does on a page; both lists are empty when all is well. */
interface TabOrder {
  /** Elements that Tab never reaches. */
  readonly missed: readonly string[]
  /** Elements whose focus cannot be seen. */
  readonly unseen: readonly string[]
}

/** Numbers everything that can have the focus, and describes it. */
const numberAll = `[...document.querySelectorAll(
  'a[href], button, input:not([type=hidden], [type=radio]), select, textarea, summary, [tabindex="0"]'
)].filter((element) => element.checkVisibility()).map((element, nth) => {
  element.setAttribute('data-nth', nth)
  return element.outerHTML.slice(0, 120)
})`

/** The number of what has the focus, and whether that can be seen. */
const readFocus = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  return { nth: Number(document.activeElement.getAttribute('data-nth') ?? -1), isSeen }
})()`

/** Walks through a page with the Tab key alone. */
export async function walkWithTab(page: Page): Promise<TabOrder> {
  const all = (await page.evaluate(numberAll)) as string[]
  const reached = new Set<number>()
  const unseen: string[] = []
  for (let nth = 0; nth < all.length + 3; nth += 1) {
    await page.keyboard.press('Tab')
    const focus = (await page.evaluate(readFocus)) as { nth: number; isSeen: boolean }
    reached.add(focus.nth)
    if (focus.nth >= 0 && !focus.isSeen) unseen.push(all[focus.nth] ?? '')
  }
  return { missed: all.filter((_, nth) => !reached.has(nth)), unseen }
}
