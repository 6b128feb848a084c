import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)

it('offers the client to other packages, as dashkeep/service', async () => {
  const { exports } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as {
    exports: Record<string, { types: string; default: string }>
  }
  const { types, default: built } = exports['./service'] ?? { types: '', default: '' }
  expect(types.replace(/\.d\.ts$/, '.js')).toBe(built)
  const source = built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
  const offered = await import(new URL(source, root).href)
  expect(Object.keys(offered).toSorted()).toEqual([
    'DashkeepError',
    'ServiceError',
    'createServiceClient',
    'defaultServiceLimits',
  ])
})
