import { DashkeepError } from '../errors.ts'
import type { Fault } from './http/faults.ts'

/**
 * Where the service leaves the specification. Every member is a switch of its own; `specified`
 * and `deployed` below are the two sets that belong together.
 */
export interface Behaviour {
  /** Stands before every path but whoami's, which is always `/v2/whoami`. */
  readonly pathPrefix: string
  /** Status of a replace that was done: 200 with `{}`, or 204 with no body. */
  readonly replaceStatus: 200 | 204
  /** Status under which a refused token is answered; the body says 403 either way. */
  readonly refusalStatus: 200 | 403
  /** The list also holds the main account itself. */
  readonly listOwner: boolean
  /** The list also returns `isFlexible`, `reservedDailyGB`, `softLimitGB`, `isOwner` and so on. */
  readonly extraMembers: boolean
  /** The list returns `{accountId, accountName}` in `sharingObjectsAccounts` instead of ids. */
  readonly sharingAsObjects: boolean
  /** Number of lists that still show an account as it was before a create or a replace. */
  readonly staleLists: number
  /** Takes booleans as strings, and `maxDailyGB` as a fraction or null. */
  readonly lenientBodies: boolean
  /** Serves import, sub accounts in detail, and GET and DELETE of a sub account by id. */
  readonly extraOperations: boolean
}

const specified: Behaviour = {
  pathPrefix: '',
  replaceStatus: 200,
  refusalStatus: 403,
  listOwner: false,
  extraMembers: false,
  sharingAsObjects: false,
  staleLists: 0,
  lenientBodies: false,
  extraOperations: false,
}

const deployed: Behaviour = {
  pathPrefix: '/v1',
  replaceStatus: 204,
  refusalStatus: 200,
  listOwner: true,
  extraMembers: true,
  sharingAsObjects: true,
  staleLists: 2,
  lenientBodies: true,
  extraOperations: true,
}

/** How exports are written. */
export interface ExportOptions {
  /** Types that can be exported; any other is answered with 400. */
  readonly types: readonly string[]
  /** Seed for another order of hits, `_index` and `_score` with each export; objects stay as they are. */
  readonly shuffle: number | undefined
  /** Compresses exports for clients that accept gzip. */
  readonly gzip: boolean
  /** Sends `Content-Length` instead of chunks, unless the export is compressed. */
  readonly contentLength: boolean
  /** Writes `kibanaVersion` after `hits`. */
  readonly kibanaVersionLast: boolean
}

/** Saved objects to begin with: export documents from a folder or from memory, or generated ones. */
export type ObjectsSource =
  /** A folder that holds `<type>.json`; a type without a file has no objects. */
  | { readonly folder: string }
  /** Per type an export document, or its hits. */
  | { readonly documents: Readonly<Record<string, ExportDocument | Hits>> }
  | { readonly generated: GeneratedObjects }

/** The bytes of a whole export document. */
export type ExportDocument = Uint8Array | string

/** Hits as JSON text, which is kept as it is, or as objects. */
export type Hits = readonly (string | object)[]

/** Objects made from a seed: the same seed and sizes give the same bytes, for ever. */
export interface GeneratedObjects {
  readonly seed: number
  /** Number of objects of each type, or per type; a type that is left out has none. */
  readonly count?: number | Readonly<Record<string, number>>
  /** Least size of each type's export in bytes, or per type. Used in place of `count`. */
  readonly bytes?: number | Readonly<Record<string, number>>
  /** Least size of one hit in bytes. */
  readonly hitBytes?: number
  readonly form?: HitForm
}

/**
 * - `specified`: `_type: "doc"`, `_id: "<type>:<id>"`, the object in a member named after its type.
 * - `newer`: the same with `references`, `updated_at`, `migrationVersion` and `id` in `_source`.
 * - `oldest`: `_type` is the type, `_id` is bare, `_source` is the object, with who made it.
 */
export type HitForm = 'specified' | 'newer' | 'oldest'

interface AnyAccountSeed {
  readonly accountId: number
  readonly accountName: string
  readonly apiTokens?: readonly string[]
  /** Defaults to the sandbox's region, or to the main account's. */
  readonly region?: string
  readonly kibanaVersion?: string
  readonly objects?: ObjectsSource
}

/** A main account to begin with. */
export interface AccountSeed extends AnyAccountSeed {
  /** Capacity the sub accounts share, in GB per day. Unlimited by default. */
  readonly planGb?: number
  /** E-mail addresses of the account's admins, one of which a create must name. */
  readonly adminEmails?: readonly string[]
  readonly subAccounts?: readonly SubAccountSeed[]
}

/** A sub account to begin with. */
export interface SubAccountSeed extends AnyAccountSeed {
  readonly settings?: Partial<SubAccountSettings>
}

/** What a replace sets; defaults stand in for what it leaves out. */
export interface SubAccountSettings {
  readonly maxDailyGB: number | null
  readonly retentionDays: number
  readonly searchable: boolean
  readonly accessible: boolean
  readonly docSizeSetting: boolean
  readonly sharingObjectsAccounts: readonly number[]
  readonly utilizationSettings: {
    readonly frequencyMinutes: number | null
    readonly utilizationEnabled: boolean
  }
  readonly isFlexible: boolean
  readonly reservedDailyGB: number | null
  readonly softLimitGB: number | null
  readonly snapSearchRetentionDays: number | null
}

/** Options of `startSandbox`; every one may be left out. */
export interface SandboxOptions extends Partial<Behaviour>, Partial<ExportOptions> {
  /** The set of behaviours to start from: `specified` (default) or `deployed`. */
  readonly form?: 'specified' | 'deployed'
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** Port to listen on; a free one by default. */
  readonly port?: number
  /** Region this server serves; `us-east-1` by default. */
  readonly region?: string
  /**
   * SQLite file that keeps accounts and objects; in memory by default. An empty text stands for a
   * temporary file that nobody else can open, for objects that do not fit into memory.
   */
  readonly database?: string
  /** Accounts to begin with; one that the database already holds is left as it is. */
  readonly accounts?: readonly AccountSeed[]
  /** Requests one account may have under way at once before 429; 100 by default. */
  readonly maxConcurrent?: number
  /** Faults to begin with. */
  readonly faults?: readonly Fault[]
  /** Gets each error of the sandbox itself, such as a full disk. The client gets status 500. */
  readonly onError?: (error: Error) => void
  /** The clock of the `Date` header; this machine's by default. */
  readonly now?: () => Date
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly host: string
  readonly port: number
  readonly region: string
  readonly maxConcurrent: number
  readonly onError: (error: Error) => void
  readonly now: () => Date
  readonly behaviour: Behaviour
  readonly exports: ExportOptions
}

/** Fills in the defaults. Throws a `usage` error for what cannot be meant. */
export function resolveOptions(options: SandboxOptions): ResolvedOptions {
  const pathPrefix = options.pathPrefix ?? formOf(options).pathPrefix
  if (pathPrefix !== '' && !/^(\/[\w.-]+)+$/.test(pathPrefix)) {
    throw new DashkeepError(
      `Cannot start the sandbox: the path prefix '${pathPrefix}' is no path`,
      {
        kind: 'usage',
        hint: "use something like '/v1', without a slash at the end, or '' for none",
      },
    )
  }
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    region: options.region ?? 'us-east-1',
    maxConcurrent: options.maxConcurrent ?? 100,
    onError: options.onError ?? (() => {}),
    now: options.now ?? (() => new Date()),
    behaviour: resolveBehaviour(options),
    exports: {
      types: options.types ?? ['search', 'visualization', 'dashboard'],
      shuffle: options.shuffle,
      gzip: options.gzip ?? false,
      contentLength: options.contentLength ?? false,
      kibanaVersionLast: options.kibanaVersionLast ?? false,
    },
  }
}

function resolveBehaviour(options: SandboxOptions): Behaviour {
  const form = formOf(options)
  return {
    pathPrefix: options.pathPrefix ?? form.pathPrefix,
    replaceStatus: options.replaceStatus ?? form.replaceStatus,
    refusalStatus: options.refusalStatus ?? form.refusalStatus,
    listOwner: options.listOwner ?? form.listOwner,
    extraMembers: options.extraMembers ?? form.extraMembers,
    sharingAsObjects: options.sharingAsObjects ?? form.sharingAsObjects,
    staleLists: options.staleLists ?? form.staleLists,
    lenientBodies: options.lenientBodies ?? form.lenientBodies,
    extraOperations: options.extraOperations ?? form.extraOperations,
  }
}

function formOf(options: SandboxOptions): Behaviour {
  return options.form === 'deployed' ? deployed : specified
}
