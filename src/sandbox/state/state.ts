import { randomBytes, randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { GeneratedObjects, SubAccountSettings } from '../options.ts'
import { openDatabase } from './database.ts'
import { hitState, type StoredHits } from './stored-hits.ts'

/** A stored account. A main account has no owner. */
export interface StoredAccount {
  readonly accountId: number
  readonly accountName: string
  readonly owner: number | undefined
  readonly region: string
  readonly kibanaVersion: string
  /** Capacity that a main account's sub accounts share; undefined when unlimited. */
  readonly planGb: number | undefined
  readonly adminEmails: readonly string[]
  /** Token for shipping logs, not for the API. */
  readonly accountToken: string
  readonly settings: SubAccountSettings
}

/**
 * The objects of one account and type: a document, parameters to generate them, or the hits in
 * `State.hits`, once objects were imported.
 */
export type StoredObjects =
  | { readonly kind: 'document'; readonly document: Uint8Array }
  | { readonly kind: 'generated'; readonly generated: GeneratedObjects }
  | { readonly kind: 'hits' }

/** The state of the sandbox between requests. */
export interface State {
  account(id: number): StoredAccount | undefined
  accounts(): StoredAccount[]
  /** The sub accounts of a main account, oldest first. */
  subAccounts(owner: number): StoredAccount[]
  /** Adds an account. Generates missing ids and tokens. */
  addAccount(account: NewAccount): StoredAccount
  updateAccount(
    id: number,
    changes: Partial<Pick<StoredAccount, 'accountName' | 'settings' | 'kibanaVersion'>>,
  ): void
  removeAccount(id: number): void
  /** The account that an API token belongs to. */
  accountOfToken(token: string): StoredAccount | undefined
  tokensOf(id: number): string[]
  addToken(id: number, token?: string): string
  objects(id: number, type: string): StoredObjects | undefined
  /** Replaces all objects of the type. Kind `hits` starts empty. */
  setObjects(id: number, type: string, objects: StoredObjects): void
  hits(id: number, type: string): StoredHits
  /** Runs `work` in a transaction: if it throws, none of its changes is kept. */
  atomically(work: () => Promise<void>): Promise<void>
  /** The same for synchronous work. */
  atOnce(work: () => void): void
  close(): void
}

/** An account to add. The sandbox generates the shipping token, and the id if it is missing. */
type NewAccount = Omit<StoredAccount, 'accountId' | 'accountToken'> & {
  readonly accountId?: number
}

/** Default settings, also for members missing in a replace. */
export const defaultSettings: SubAccountSettings = {
  maxDailyGB: 0,
  retentionDays: 1,
  searchable: false,
  accessible: false,
  docSizeSetting: false,
  sharingObjectsAccounts: [],
  utilizationSettings: { frequencyMinutes: null, utilizationEnabled: false },
  isFlexible: false,
  reservedDailyGB: null,
  softLimitGB: null,
  snapSearchRetentionDays: null,
}

/** Opens the state; in memory without a file. */
export function openState(file: string | undefined): State {
  const database = openDatabase(file)
  return {
    ...accountState(database),
    ...tokenState(database),
    ...objectState(database),
    async atomically(work) {
      database.exec('BEGIN')
      try {
        await work()
        database.exec('COMMIT')
      } catch (error) {
        // SQLite rolls back by itself when the disk is full.
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    atOnce(work) {
      database.exec('SAVEPOINT at_once')
      try {
        work()
        database.exec('RELEASE at_once')
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK TO at_once; RELEASE at_once')
        throw error
      }
    },
    close: () => database.close(),
  }
}

type AccountMembers =
  | 'account'
  | 'accounts'
  | 'subAccounts'
  | 'addAccount'
  | 'updateAccount'
  | 'removeAccount'

function accountState(database: DatabaseSync): Pick<State, AccountMembers> {
  const byId = database.prepare('SELECT * FROM accounts WHERE id = ?')
  const all = database.prepare('SELECT * FROM accounts ORDER BY id')
  const owned = database.prepare('SELECT * FROM accounts WHERE owner = ? ORDER BY id')
  const insert = database.prepare(`INSERT INTO accounts
    (id, name, owner, region, kibana_version, plan_gb, admin_emails, account_token, settings)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update = database.prepare(
    'UPDATE accounts SET name = ?, settings = ?, kibana_version = ? WHERE id = ?',
  )
  const remove = database.prepare('DELETE FROM accounts WHERE id = ?')
  const find = (id: number) => {
    const row = byId.get(id)
    return row && toAccount(row)
  }
  const present = (id: number) => find(id) ?? unknownAccount(id)
  return {
    account: find,
    accounts: () => all.all().map(toAccount),
    subAccounts: (owner) => owned.all(owner).map(toAccount),
    addAccount(account) {
      const { lastInsertRowid } = insert.run(
        account.accountId ?? null,
        account.accountName,
        account.owner ?? null,
        account.region,
        account.kibanaVersion,
        account.planGb ?? null,
        JSON.stringify(account.adminEmails),
        randomBytes(24).toString('base64url'),
        JSON.stringify(account.settings),
      )
      return present(Number(lastInsertRowid))
    },
    updateAccount(id, changes) {
      const { accountName, settings, kibanaVersion } = { ...present(id), ...changes }
      update.run(accountName, JSON.stringify(settings), kibanaVersion, id)
    },
    removeAccount: (id) => void remove.run(id),
  }
}

function toAccount(row: Record<string, SQLOutputValue>): StoredAccount {
  return {
    accountId: Number(row.id),
    accountName: String(row.name),
    owner: row.owner === null ? undefined : Number(row.owner),
    region: String(row.region),
    kibanaVersion: String(row.kibana_version),
    planGb: row.plan_gb === null ? undefined : Number(row.plan_gb),
    adminEmails: JSON.parse(String(row.admin_emails)) as string[],
    accountToken: String(row.account_token),
    settings: JSON.parse(String(row.settings)) as SubAccountSettings,
  }
}

function unknownAccount(id: number): never {
  throw new RangeError(`The sandbox has no account ${id}`)
}

function tokenState(
  database: DatabaseSync,
): Pick<State, 'accountOfToken' | 'tokensOf' | 'addToken'> {
  const owner = database.prepare(`SELECT accounts.* FROM tokens
    JOIN accounts ON accounts.id = tokens.account WHERE token = ?`)
  const tokens = database.prepare('SELECT token FROM tokens WHERE account = ? ORDER BY rowid')
  const insert = database.prepare('INSERT INTO tokens (token, account) VALUES (?, ?)')
  return {
    accountOfToken(token) {
      const row = owner.get(token)
      return row && toAccount(row)
    },
    tokensOf: (id) => tokens.all(id).map((row) => String(row.token)),
    addToken(id, token = randomUUID()) {
      insert.run(token, id)
      return token
    },
  }
}

function objectState(database: DatabaseSync): Pick<State, 'objects' | 'setObjects' | 'hits'> {
  const select = database.prepare(
    'SELECT document, generated FROM objects WHERE account = ? AND type = ?',
  )
  const replace = database.prepare(
    'INSERT OR REPLACE INTO objects (account, type, document, generated) VALUES (?, ?, ?, ?)',
  )
  const removeHits = database.prepare('DELETE FROM hits WHERE account = ? AND type = ?')
  return {
    objects(id, type) {
      const row = select.get(id, type)
      if (row === undefined) return undefined
      if (row.document instanceof Uint8Array) return { kind: 'document', document: row.document }
      if (row.generated === null) return { kind: 'hits' }
      const generated = JSON.parse(String(row.generated)) as GeneratedObjects
      return { kind: 'generated', generated }
    },
    setObjects(id, type, objects) {
      const document = objects.kind === 'document' ? objects.document : null
      const generated = objects.kind === 'generated' ? JSON.stringify(objects.generated) : null
      replace.run(id, type, document, generated)
      removeHits.run(id, type)
    },
    hits: hitState(database),
  }
}
