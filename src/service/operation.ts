import { DashkeepError } from '../errors.ts'
import { encodeImport, type ObjectImport } from './import.ts'
import type { NewSubAccount, SubAccountSettings } from './sub-account.ts'

/** One request to the service, and its description for errors. */
export interface Operation {
  readonly name: 'create' | 'list' | 'replace' | 'export' | 'import' | 'whoami'
  /** Completes "Cannot …". */
  readonly action: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** The path below the base address. */
  readonly path: string
  /** Bytes are sent unchanged, other values as JSON; `undefined` sends no body. */
  readonly body?: unknown
}

/** The hint after a create without a usable answer. */
export const uncertainCreateHint =
  'the sub account may have been created: list the sub accounts before you try again'

/** Specification, section 5. The only path that contains a version; it has no prefix. */
export function whoamiOperation(): Operation {
  return {
    name: 'whoami',
    action: 'find the account of the token',
    method: 'GET',
    path: '/v2/whoami',
  }
}

/** Specification, section 4. */
export function exportOperation(prefix: string, type: string): Operation {
  return {
    name: 'export',
    action: `export the saved objects of type ${type}`,
    method: 'POST',
    path: `${prefix}/kibana/export`,
    body: { type },
  }
}

/** Not in the specification. `path` follows the path prefix. */
export function importOperation(
  prefix: string,
  { path, batch }: { path: string; batch: ObjectImport },
): Operation {
  return {
    name: 'import',
    action:
      batch.hits.length === 0
        ? 'restore into the service'
        : `import ${batch.hits.length} saved objects`,
    method: 'POST',
    path: `${prefix}${path}`,
    body: encodeImport(batch),
  }
}

/** Specification, section 2; the slash at the end belongs to it. */
export function listOperation(prefix: string): Operation {
  return {
    name: 'list',
    action: 'list the sub accounts',
    method: 'GET',
    path: `${prefix}/account-management/time-based-accounts/`,
  }
}

/** Specification, section 1. */
export function createOperation(prefix: string, account: NewSubAccount): Operation {
  return {
    name: 'create',
    action: `create the sub account ${account.accountName}`,
    method: 'POST',
    path: `${prefix}/account-management/time-based-accounts`,
    body: account,
  }
}

/** Specification, section 3. */
export function replaceOperation(
  prefix: string,
  accountId: number,
  settings: SubAccountSettings,
): Operation {
  if (!Number.isSafeInteger(accountId)) {
    throw new DashkeepError(
      'Cannot replace the settings of a sub account: its id is not an integer',
      {
        kind: 'usage',
        hint: 'use the accountId that the list of sub accounts shows',
      },
    )
  }
  return {
    name: 'replace',
    action: `replace the settings of sub account ${accountId}`,
    method: 'PUT',
    path: `${prefix}/account-management/time-based-accounts/${accountId}`,
    body: settings,
  }
}
