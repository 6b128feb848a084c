import type { State, StoredAccount } from '../state/state.ts'
import type { Service, ServiceRequest } from './exchange.ts'
import { jsonReply, type Reply } from './reply.ts'
import { mainAccount, subAccount } from './sub-accounts.ts'

/** Lists the sub accounts with all details. Not in the specification. */
export function listDetailed(service: Service, request: ServiceRequest): Reply {
  const { state, lag } = service
  const main = mainAccount(service, request)
  const listed = lag.asListed(state.subAccounts(main.accountId))
  return jsonReply(listed.map((account) => detailsOf(account, state)))
}

/** Returns one sub account as `listDetailed` does. Not in the specification. */
export function readDetailed(service: Service, request: ServiceRequest): Reply {
  const account = subAccount(service, mainAccount(service, request), request.id)
  return jsonReply(detailsOf(account, service.state))
}

/** Dates, users and usage are 0 or empty: the sandbox does not store them. */
function detailsOf(account: StoredAccount, state: State): object {
  const { searchable, accessible, sharingObjectsAccounts, ...settings } = account.settings
  const { utilizationSettings, docSizeSetting, snapSearchRetentionDays, softLimitGB } = settings
  return {
    subAccountRelation: {
      ownerAccountId: account.owner,
      subAccountId: account.accountId,
      searchable,
      accessible,
      createdDate: 0,
      lastUpdatedDate: 0,
      lastUpdaterUserId: 0,
      type: 'SUB_ACCOUNT',
    },
    account: viewOf(account),
    sharingObjectsAccounts: sharingObjectsAccounts.flatMap((id) => {
      const sharing = state.account(id)
      return sharing === undefined ? [] : [viewOf(sharing)]
    }),
    utilizationSettings,
    dailyUsagesList: { usage: [] },
    docSizeSetting,
    snapSearchRetentionDays,
    isCapped: false,
    softLimit: softLimitGB,
  }
}

function viewOf({ accountId, accountName, accountToken, settings }: StoredAccount): object {
  const { isFlexible, reservedDailyGB, maxDailyGB, retentionDays, softLimitGB } = settings
  return {
    accountId,
    accountName,
    accountToken,
    active: true,
    esIndexPrefix: `sandbox-${accountId}`,
    isFlexible,
    reservedDailyGB,
    maxDailyGB,
    retentionDays,
    softLimitGB,
  }
}
