import { describe, expect, it } from 'vitest'
import { readAccounts } from '../../src/report/read-account.ts'
import { StoreError } from '../../src/store/errors.ts'
import { fillArchive } from '../archive/archive-of.ts'

const now = new Date('2026-11-10T12:00:00Z')
const terms = {
  ...{ since: new Date('2026-11-01'), now, schedule: undefined, retention: undefined },
  guard: { maxFall: 0.5, windowMs: 7 * 24 * 3600_000 },
}
const findConfigured = () => ({ configuredAs: undefined, isConfigured: true })

describe('a server that cannot tell its locks', () => {
  it.each([true, false])(
    'makes the report incomplete if locks are configured: %s',
    async (hasLocks) => {
      const { store } = await fillArchive([{ search: [] }])
      store.lockedUntil = async () => {
        throw new StoreError('Cannot ask for the lock')
      }
      const [account] = await Array.fromAsync(
        readAccounts(store, terms, { findConfigured, hasLocks }),
      )
      expect(account?.locks).toBeUndefined()
      expect(account?.unread).toEqual(hasLocks ? ['Cannot ask for the lock'] : [])
    },
  )
})
