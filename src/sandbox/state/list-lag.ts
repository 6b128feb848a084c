import type { StoredAccount } from './state.ts'

/** Delays writes: the next few lists still show the previous state. */
export interface ListLag {
  /** Records a write. `before` is the previous account; undefined for a new one. */
  written(accountId: number, before: StoredAccount | undefined): void
  /** The accounts as this list returns them. */
  asListed(accounts: readonly StoredAccount[]): StoredAccount[]
}

/** Creates a lag: the next `staleLists` lists after a write still show the state before it. */
export function createListLag(staleLists: number): ListLag {
  const stale = new Map<number, { before: StoredAccount | undefined; left: number }>()
  return {
    written(accountId, before) {
      const known = stale.get(accountId)
      if (staleLists === 0) return
      stale.set(accountId, { before: known ? known.before : before, left: staleLists })
    },
    asListed: (accounts) =>
      accounts.flatMap((account) => {
        const entry = stale.get(account.accountId)
        if (entry === undefined) return [account]
        entry.left -= 1
        if (entry.left === 0) stale.delete(account.accountId)
        return entry.before === undefined ? [] : [entry.before]
      }),
  }
}
