import { describe, expect, it } from 'vitest'
import { complete } from '../../src/config/complete.ts'
import type { FileConfig } from '../../src/config/schema.ts'
import { warningsOf } from '../../src/config/warnings.ts'
import { noProxy } from '../../src/http/proxy.ts'

function warningsFor(file: FileConfig): string[] {
  const nothing = { accounts: [], management: undefined, stores: [], shard: undefined }
  const others = { ...nothing, findProxy: noProxy }
  return warningsOf(complete(file, others))
}

describe('a configuration', () => {
  it.each([
    [{ schedule: { cron: '0 3 1 * 1' } }, 'schedule.cron: 0 3 1 * 1'],
    [{ types: ['dashboard', 'lens'] }, 'types: lens'],
    [{ encryption: { identity: { file: '/key' } } }, 'encryption.identity: '],
  ])('with %j gets a warning', (file, warning) => {
    expect(warningsFor(file)).toEqual([expect.stringContaining(warning)])
  })

  it.each([
    {},
    { schedule: { cron: '0 3 * * 1' } },
    { types: ['search', 'query'] },
    { encryption: { identity: { file: '/key' }, passphrase: { env: 'PASSPHRASE' } } },
  ])('with %j gets none', (file) => {
    expect(warningsFor(file)).toEqual([])
  })
})
