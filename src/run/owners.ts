import { isSameService } from '../archive/origin.ts'
import type { AccountConfig } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'

/** A configured account, and the account of the service that it stands for. */
export interface Claim {
  readonly account: AccountConfig
  readonly accountId: number
}

/** Other accounts that a message names. */
const MAX_NAMED = 3

/**
 * Finds configured accounts that stand for the same account: a second one adds nothing but a second
 * copy, and the account that it was meant for is not backed up. Returns a `usage` error for each of
 * them, by name. Pure: the owners of the tokens are known already.
 */
export function findRivals(claims: readonly Claim[]): Map<string, DashkeepError> {
  const groups = Map.groupBy(claims, ({ accountId }) => accountId).values()
  const rivals = [...groups].filter(({ length }) => length > 1)
  const errors = rivals.flatMap((group) =>
    group.map((claim): [string, DashkeepError] => [
      claim.account.name,
      describeRivals(
        claim,
        group.filter((other) => other !== claim).map(({ account }) => account),
      ),
    ]),
  )
  return new Map(errors)
}

function describeRivals(
  { account, accountId }: Claim,
  others: readonly AccountConfig[],
): DashkeepError {
  const named = others.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more`] : []
  const names = [...named, ...more].join(', ')
  const elsewhere = others.find(({ baseUrl }) => !isSameService(baseUrl, account.baseUrl))
  if (elsewhere === undefined) {
    return new DashkeepError(
      `Cannot back up ${account.name}: its token belongs to account ${accountId}, as that of ${names}`,
      {
        kind: 'usage',
        hint: 'give each configured account the token and the accountId of its own account, or remove one of them',
      },
    )
  }
  return new DashkeepError(
    `Cannot back up ${account.name}: account ${accountId} of ${account.baseUrl} has the id of ${names} of ${elsewhere.baseUrl}`,
    {
      kind: 'usage',
      hint: 'configure the accounts of each service in a file of its own, with another prefix in store.url',
    },
  )
}
