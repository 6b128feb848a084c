import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext } from 'playwright-core'

const script = readFile(new URL('evil.js', import.meta.url))

/**
 * Lets a page on another port of this machine try to read and to post, in a browser that has the
 * cookie. Returns what each way has brought; undefined means nothing.
 */
export async function attack(
  context: BrowserContext,
  target: URL,
): Promise<Record<string, string | undefined>> {
  const server = createServer(async ({ url }, response) => {
    const isScript = url === '/evil.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? await script : '<!doctype html><body><script src="/evil.js"></script>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const page = await context.newPage()
    const { port } = server.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/?target=${encodeURIComponent(target.href)}`)
    return await page.evaluate('window.loot')
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
