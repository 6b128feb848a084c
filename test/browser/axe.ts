import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe-core finds on a page, a line for each element; none when all is well. The source is
 * evaluated by the debugger, so the policy of the page stays in force.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  const debug = await page.context().newCDPSession(page)
  await debug.send('Runtime.evaluate', { expression: await source })
  const { result } = await debug.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ html, failureSummary }) => [id, help, html, failureSummary].join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await debug.detach()
  return result.value
}
