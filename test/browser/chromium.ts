import { type Browser, chromium, type Page } from 'playwright-core'
import { reportViolations, type Tab } from './tab.ts'

/** Starts Debian's Chromium without a window. */
export function startChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

/** A tab that is a page of Chromium. Scripts that run before those of the page report violations. */
export async function tabOf(page: Page): Promise<Tab> {
  const problems: string[] = []
  page.on('console', (message) => {
    // The status of the page itself is reported as well; a page may say that it is not there.
    const isStatus = message.location().url === page.url() && /^Failed to load/.test(message.text())
    if (message.type() === 'error' && !isStatus) problems.push(message.text())
  })
  page.on('pageerror', ({ message }) => problems.push(message))
  await page.addInitScript(reportViolations)
  return {
    open: async (address) => void (await page.goto(address)),
    click: (role, name) => page.getByRole(role, { name, exact: true }).first().click(),
    type: (role, name, text) => page.getByRole(role, { name, exact: true }).first().fill(text),
    press: (key) => page.keyboard.press(key),
    evaluate: <Value>(expression: string) => page.evaluate(expression) as Promise<Value>,
    problems,
  }
}
