import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { explainOldNode, hasProxyAgents } from '../src/node-version.ts'

describe('a version of Node', () => {
  it.each(['18.20.4', '20.11.1', '22.18.0', '23.0.0'])('%s is refused in one line', (version) => {
    const message = `error: Cannot run on Node ${version}: dashkeep needs Node 24 or newer\n`
    expect(explainOldNode(version)).toBe(message)
  })

  it.each(['24.0.0', '24.21.0', '25.0.0', '26.1.0', '100.0.0'])('%s is accepted', (version) => {
    expect(explainOldNode(version)).toBeUndefined()
  })

  it('is the one that package.json asks for', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8'))
    expect(manifest.engines.node).toBe('>=24')
  })

  it('has agents that know proxies from 24.5 on', () => {
    expect(['24.0.0', '24.4.1', '24.5.0', '25.0.0'].map(hasProxyAgents)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
