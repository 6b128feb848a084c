import type { AccountSeed, SandboxOptions } from '../../src/sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'

/** API token of the main account of `shop`. */
export const mainToken = 'main-token'

/** API token of its sub account. */
export const subToken = 'sub-token'

export const mainId = 10
export const subId = 11
export const otherSubId = 12

/** A main account of 20 GB with two sub accounts, one of which has an API token. */
export function shop(changes: Partial<AccountSeed> = {}): AccountSeed {
  return {
    accountId: mainId,
    accountName: 'Main',
    apiTokens: [mainToken],
    planGb: 20,
    adminEmails: ['admin@shop.example'],
    subAccounts: [
      {
        accountId: subId,
        accountName: 'Sub',
        apiTokens: [subToken],
        settings: { maxDailyGB: 8, retentionDays: 5 },
      },
      {
        accountId: otherSubId,
        accountName: 'Other',
        settings: { maxDailyGB: 2, retentionDays: 3 },
      },
    ],
    ...changes,
  }
}

/** A sandbox with the account of `shop`. */
export function startShop(
  options: SandboxOptions = {},
  changes: Partial<AccountSeed> = {},
): Promise<Sandbox> {
  return startSandbox({ accounts: [shop(changes)], ...options })
}

export interface CallOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Sends a request as clients of the service do; a text is sent as it is. */
export function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  { token = mainToken, body, headers = {} }: CallOptions = {},
): Promise<Response> {
  return fetch(sandbox.url + path, {
    method,
    redirect: 'manual',
    headers: { 'x-api-token': token, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

export function exportType(
  sandbox: Sandbox,
  type: string,
  options: CallOptions = {},
): Promise<Response> {
  return call(sandbox, 'POST', `${sandbox.pathPrefix}/kibana/export`, {
    body: { type },
    ...options,
  })
}

/** The body of an export that must succeed. */
export async function exportedText(sandbox: Sandbox, type: string): Promise<string> {
  const response = await exportType(sandbox, type)
  if (response.status !== 200) {
    throw new Error(`export answered ${response.status}: ${await response.text()}`)
  }
  return Buffer.from(await response.arrayBuffer()).toString('latin1')
}

export function subAccountsPath(sandbox: Sandbox): string {
  return `${sandbox.pathPrefix}/account-management/time-based-accounts`
}

/** The sub accounts as the list returns them. */
export async function listed(sandbox: Sandbox): Promise<Record<string, unknown>[]> {
  const response = await call(sandbox, 'GET', `${subAccountsPath(sandbox)}/`)
  return (await response.json()) as Record<string, unknown>[]
}

/** Ids of the hits of an export document, in their order. */
export function hitIds(document: string): string[] {
  return (JSON.parse(document) as { hits: { _id: string }[] }).hits.map(({ _id }) => _id)
}
