import { DashkeepError } from '../../errors.ts'
import type { Service } from '../http/exchange.ts'
import type { ExportDocument, Hits } from '../options.ts'
import type { State, StoredAccount } from '../state/state.ts'
import { splitDocument, toDocument } from './raw-hits.ts'

/**
 * Sets an account's objects of one type: a document that is kept byte for byte, or hits. Throws a
 * `usage` error for an unknown account or type, and for an invalid document.
 */
export function putObjects(
  service: Pick<Service, 'state' | 'options'>,
  accountId: number,
  { type, given }: { type: string; given: ExportDocument | Hits },
): void {
  const account = knownAccount(service.state, accountId)
  const { types } = service.options.exports
  if (!types.includes(type)) {
    throw new DashkeepError(`Cannot set objects of type ${type}: the sandbox does not export it`, {
      kind: 'usage',
      hint: `its types are ${types.join(', ')}`,
    })
  }
  storeObjects(service.state, account, { type, given, what: `the objects of type ${type}` })
}

/** Returns the account with this id. Throws a `usage` error when there is none. */
export function knownAccount(state: State, accountId: number): StoredAccount {
  const account = state.account(accountId)
  if (account !== undefined) return account
  const ids = state.accounts().map(({ accountId }) => accountId)
  throw new DashkeepError(`Cannot use account ${accountId}: the sandbox has no such account`, {
    kind: 'usage',
    hint: `its accounts are ${ids.join(', ')}`,
  })
}

/** Stores objects and sets the account's `kibanaVersion` from the document. Errors name `what`. */
export function storeObjects(
  state: State,
  account: StoredAccount,
  { type, given, what }: { type: string; given: ExportDocument | Hits; what: string },
): void {
  const document = toDocument(given, account.kibanaVersion)
  const { kibanaVersion } = splitDocument(document, what)
  state.setObjects(account.accountId, type, { kind: 'document', document })
  state.updateAccount(account.accountId, { kibanaVersion })
}
