import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'

/** Bundles a module as the build does and imports the result. */
async function importBundled(file: string): Promise<Record<string, unknown>> {
  const input = new URL(`../../src/${file}`, import.meta.url).pathname
  await using bundle = await rolldown({ input, platform: 'node' })
  const { output } = await bundle.generate()
  const [{ code }] = output
  return await import(`data:text/javascript,${encodeURIComponent(code)}`)
}

it('refuses a proxy whose password cannot be decoded once it is bundled, too', async () => {
  const { readProxies } = await importBundled('http/proxy.ts')
  const problems: string[] = []
  ;(readProxies as typeof import('../../src/http/proxy.ts').readProxies)(
    { HTTP_PROXY: 'http://me:50%off@proxy.example.com' },
    problems,
  )
  expect(problems).toEqual([expect.stringMatching(/^HTTP_PROXY: expected .* as %25$/)])
})

it('has the style sheet of the pages once it is bundled, too', async () => {
  const { style } = await importBundled('web/style.ts')
  expect(style).toBe((await import('../../src/web/style.ts')).style)
})
