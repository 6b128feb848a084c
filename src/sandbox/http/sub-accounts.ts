import { readAccountId } from '../../account-id.ts'
import type { Behaviour, SubAccountSettings } from '../options.ts'
import type { State, StoredAccount } from '../state/state.ts'
import type { Service, ServiceRequest } from './exchange.ts'
import { emptyReply, jsonReply, type Reply, refused, refusedToken } from './reply.ts'
import { invalid, readCreate, readReplace } from './request-bodies.ts'

/** Returns the account that the token belongs to (specification, section 5). */
export function whoami(_service: Service, { account }: ServiceRequest): Reply {
  return jsonReply({ accountId: account.accountId, accountName: account.accountName })
}

/** Creates a sub account (specification, section 1). */
export function createSubAccount(service: Service, request: ServiceRequest): Reply {
  const { options, state, lag } = service
  const main = mainAccount(service, request)
  const { email, accountName, settings } = readCreate(request.body, options.behaviour)
  if (!main.adminEmails.includes(email)) {
    throw refused(
      400,
      'TimeBasedAccount/UNKNOWN_EMAIL',
      'The e-mail is not an admin of the account',
    )
  }
  checkSharing(state, main, settings)
  checkCapacity(state, main, { settings, besides: undefined })
  const { region, kibanaVersion } = main
  const created = state.addAccount({
    accountName,
    owner: main.accountId,
    region,
    kibanaVersion,
    planGb: undefined,
    adminEmails: [],
    settings,
  })
  lag.written(created.accountId, undefined)
  return jsonReply({ accountId: created.accountId, accountToken: created.accountToken })
}

/** Lists the sub accounts (specification, section 2). */
export function listSubAccounts(service: Service, request: ServiceRequest): Reply {
  const { options, state, lag } = service
  const main = mainAccount(service, request)
  const subAccounts = lag.asListed(state.subAccounts(main.accountId))
  const listed = options.behaviour.listOwner ? [main, ...subAccounts] : subAccounts
  return jsonReply(listed.map((account) => listEntry(account, options.behaviour, state)))
}

/** Replaces a sub account's settings (specification, section 3). */
export function replaceSubAccount(service: Service, request: ServiceRequest): Reply {
  const { options, state, lag } = service
  const main = mainAccount(service, request)
  const account = subAccount(service, main, request.id)
  const { accountName, settings } = readReplace(
    request.body,
    options.behaviour,
    account.accountName,
  )
  checkSharing(state, main, settings)
  checkCapacity(state, main, { settings, besides: account.accountId })
  state.updateAccount(account.accountId, { accountName, settings })
  lag.written(account.accountId, account)
  return options.behaviour.replaceStatus === 204 ? emptyReply(204) : jsonReply({})
}

/** Returns one sub account as the list does. Not in the specification. */
export function readSubAccount(service: Service, request: ServiceRequest): Reply {
  const account = subAccount(service, mainAccount(service, request), request.id)
  return jsonReply(listEntry(account, service.options.behaviour, service.state))
}

/** Removes a sub account with its tokens and objects. Not in the specification. */
export function removeSubAccount(service: Service, request: ServiceRequest): Reply {
  const account = subAccount(service, mainAccount(service, request), request.id)
  service.state.removeAccount(account.accountId)
  return emptyReply(204)
}

/** Sub account operations need a main account's token (specification, "Authentication"). */
export function mainAccount({ options }: Service, { account }: ServiceRequest): StoredAccount {
  if (account.owner !== undefined) throw refusedToken(options.behaviour)
  return account
}

/** The main account's sub account of this id. */
export function subAccount({ state }: Service, main: StoredAccount, id: string): StoredAccount {
  const accountId = readAccountId(id)
  const account = accountId === undefined ? undefined : state.account(accountId)
  if (account === undefined || account.owner !== main.accountId) {
    throw refused(404, 'TimeBasedAccount/NOT_FOUND', `There is no sub account ${id}`)
  }
  return account
}

function checkSharing(state: State, main: StoredAccount, settings: SubAccountSettings): void {
  const known = [main, ...state.subAccounts(main.accountId)].map(({ accountId }) => accountId)
  const unknown = settings.sharingObjectsAccounts.find((id) => !known.includes(id))
  if (unknown !== undefined) throw invalid(`sharingObjectsAccounts: there is no account ${unknown}`)
}

/** Throws when the sub accounts together exceed the main account's plan. */
function checkCapacity(
  state: State,
  main: StoredAccount,
  { settings, besides }: { settings: SubAccountSettings; besides: number | undefined },
): void {
  const others = state
    .subAccounts(main.accountId)
    .filter(({ accountId }) => accountId !== besides)
    .reduce((sum, account) => sum + (account.settings.maxDailyGB ?? 0), 0)
  const total = others + (settings.maxDailyGB ?? 0)
  if (main.planGb !== undefined && total > main.planGb) {
    throw refused(
      400,
      'TimeBasedAccount/ILLEGAL_PLAN_REQUEST',
      `The sub accounts would use ${total} GB per day, the plan allows ${main.planGb}`,
    )
  }
}

function listEntry(account: StoredAccount, behaviour: Behaviour, state: State): object {
  const { isFlexible, reservedDailyGB, softLimitGB, snapSearchRetentionDays, ...settings } =
    account.settings
  const shared = settings.sharingObjectsAccounts
  return {
    accountId: account.accountId,
    email: null,
    accountName: account.accountName,
    ...settings,
    sharingObjectsAccounts: behaviour.sharingAsObjects ? named(shared, state) : shared,
    ...(behaviour.extraMembers
      ? {
          isFlexible,
          reservedDailyGB,
          softLimitGB,
          snapSearchRetentionDays,
          isOwner: account.owner === undefined,
        }
      : {}),
  }
}

function named(ids: readonly number[], state: State): object[] {
  return ids.flatMap((accountId) => {
    const account = state.account(accountId)
    return account === undefined ? [] : [{ accountId, accountName: account.accountName }]
  })
}
