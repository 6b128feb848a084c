import { DashkeepError } from '../errors.ts'
import type { Fault } from './http/faults.ts'

/**
 * How the service differs from the specification. Each member can be set on its own; `specified` and
 * `deployed` below are the two usual sets.
 */
export interface Behaviour {
  /** Prefix of every path except `/v2/whoami`. */
  readonly pathPrefix: string
  /** Status of a successful replace: 200 with `{}`, or 204 without a body. */
  readonly replaceStatus: 200 | 204
  /** Status of the answer to a refused token. The body says 403 in both cases. */
  readonly refusalStatus: 200 | 403
  /** The list includes the main account. */
  readonly listOwner: boolean
  /** The list also returns `isFlexible`, `reservedDailyGB`, `softLimitGB`, `isOwner` and so on. */
  readonly extraMembers: boolean
  /** The list returns `{accountId, accountName}` in `sharingObjectsAccounts` instead of ids. */
  readonly sharingAsObjects: boolean
  /** Number of lists after a create or a replace that still show the previous state. */
  readonly staleLists: number
  /** Accepts booleans as strings, and `maxDailyGB` as a fraction or null. */
  readonly lenientBodies: boolean
  /** Serves import, detailed sub accounts, and GET and DELETE of one sub account. */
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
  /** Types that can be exported. Others are answered with status 400. */
  readonly types: readonly string[]
  /** Seed that changes the order of hits, `_index` and `_score` in each export, but not the objects. */
  readonly shuffle: number | undefined
  /** Compresses exports for clients that accept gzip. */
  readonly gzip: boolean
  /** Sends `Content-Length` instead of chunks, unless the export is compressed. */
  readonly contentLength: boolean
  /** Writes `kibanaVersion` after `hits`. */
  readonly kibanaVersionLast: boolean
}

/** Initial saved objects: export documents from a folder or from memory, or generated objects. */
export type ObjectsSource =
  /** A folder with `<type>.json` files. A type without a file has no objects. */
  | { readonly folder: string }
  /** By type, an export document or its hits. */
  | { readonly documents: Readonly<Record<string, ExportDocument | Hits>> }
  | { readonly generated: GeneratedObjects }

/** The bytes of a whole export document. */
export type ExportDocument = Uint8Array | string

/** Hits as objects, or as JSON text that is kept unchanged. */
export type Hits = readonly (string | object)[]

/** Objects generated from a seed. The same seed and sizes always give the same bytes. */
export interface GeneratedObjects {
  readonly seed: number
  /** Number of objects of every type, or by type. A missing type has none. */
  readonly count?: number | Readonly<Record<string, number>>
  /** Minimum size in bytes of every type's export, or by type. Replaces `count`. */
  readonly bytes?: number | Readonly<Record<string, number>>
  /** Minimum size of one hit in bytes. */
  readonly hitBytes?: number
  readonly form?: HitForm
}

/**
 * - `specified`: `_type: "doc"`, `_id: "<type>:<id>"`, the object in a member named after its type.
 * - `newer`: the same with `references`, `updated_at`, `migrationVersion` and `id` in `_source`.
 * - `oldest`: `_type` is the type, `_id` is bare, `_source` is the object and its author.
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

/** An initial main account. */
export interface AccountSeed extends AnyAccountSeed {
  /** Capacity the sub accounts share, in GB per day. Unlimited by default. */
  readonly planGb?: number
  /** E-mail addresses of the account's admins. A create must name one of them. */
  readonly adminEmails?: readonly string[]
  readonly subAccounts?: readonly SubAccountSeed[]
}

/** An initial sub account. */
export interface SubAccountSeed extends AnyAccountSeed {
  readonly settings?: Partial<SubAccountSettings>
}

/** Settings of a sub account. A replace sets missing members to their defaults. */
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

/** Options of `startSandbox`. All are optional. */
export interface SandboxOptions extends Partial<Behaviour>, Partial<ExportOptions> {
  /** Default behaviour: `specified` (default) or `deployed`. */
  readonly form?: 'specified' | 'deployed'
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** Port to listen on; a free one by default. */
  readonly port?: number
  /** Region of this server; `us-east-1` by default. */
  readonly region?: string
  /**
   * SQLite file of the accounts and objects; in memory by default. An empty string means a temporary
   * file that no other process can open, for objects that do not fit into memory.
   */
  readonly database?: string
  /** Initial accounts. An account that exists in the database is not changed. */
  readonly accounts?: readonly AccountSeed[]
  /** Concurrent requests per account before status 429; 100 by default. */
  readonly maxConcurrent?: number
  /** Initial faults. */
  readonly faults?: readonly Fault[]
  /** Called with each internal error, such as a full disk. The client gets status 500. */
  readonly onError?: (error: Error) => void
  /** The clock for the `Date` header; the machine's by default. */
  readonly now?: () => Date
}

/** Options with all defaults. */
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

/** Fills in the defaults. Throws a `usage` error for an invalid path prefix. */
export function resolveOptions(options: SandboxOptions): ResolvedOptions {
  const pathPrefix = options.pathPrefix ?? formOf(options).pathPrefix
  if (pathPrefix !== '' && !/^(\/[\w.-]+)+$/.test(pathPrefix)) {
    throw new DashkeepError(
      `Cannot start the sandbox: the path prefix '${pathPrefix}' is not a path`,
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
