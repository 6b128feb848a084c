import { DashkeepError } from '../errors.ts'
import type { Manifest } from './manifest.ts'

/** Service and account of a new snapshot. */
interface Origin {
  readonly accountId: number
  /** Address of the service. */
  readonly address: string
  /** The account's name in the configuration; undefined when it is not configured. */
  readonly configuredAs?: string | undefined
  /** Names of other configured accounts that may be the same one: their ids are not known. */
  readonly unsettled?: ReadonlySet<string> | undefined
}

/**
 * Throws a `usage` error when the newest snapshot of the account is from another service, or was taken
 * for another configured account.
 */
export function checkOrigin(
  newest: Manifest | undefined,
  origin: Origin,
  { acceptService }: { acceptService?: boolean | undefined } = {},
): void {
  if (newest === undefined) return
  const { accountId, address, configuredAs } = origin
  const what = `Cannot back up ${configuredAs ?? `account ${accountId}`}`
  if (!acceptService && !isSameService(newest.service, address)) {
    throw new DashkeepError(
      `${what}: the archive holds account ${accountId} of ${newest.service}, and this one is of ${address}`,
      {
        kind: 'usage',
        hint: 'give each service another prefix in store.url; if the service has moved, run `dashkeep backup --accept-service` once',
      },
    )
  }
  const before = newest.account.configuredAs
  if (before === undefined || before === configuredAs || !origin.unsettled?.has(before)) return
  throw new DashkeepError(
    `${what}: its token belongs to account ${accountId}, which is backed up as ${before}`,
    {
      kind: 'usage',
      hint: `give each of the two the token of its own account, and set their accountId; ${accountId} is the id of one of them`,
    },
  )
}

/** Whether two addresses name the same service. Ignores the host's case, default ports and final slashes. */
export function isSameService(left: string, right: string): boolean {
  return normalize(left) === normalize(right)
}

function normalize(address: string): string {
  return (URL.parse(address)?.href ?? address).replace(/\/+$/, '')
}
