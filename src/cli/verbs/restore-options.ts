import type { CommonOptions } from '../options.ts'

/** Options of `restore`, as the command line gives them. */
export interface RestoreOptions extends CommonOptions {
  readonly snapshot?: string
  readonly account?: string
  readonly from?: string
  readonly object?: readonly string[]
  readonly withoutReferences?: boolean
  readonly to?: string
  readonly pretty?: string
  readonly git?: boolean
  readonly all?: boolean
  readonly push?: boolean
  readonly ndjson?: string
  readonly toService?: boolean
  readonly intoAccount?: string
  readonly toAccounts?: readonly string[]
  readonly map?: string
  readonly drill?: boolean
  readonly record?: boolean
  readonly overwrite?: boolean
  readonly anyVersion?: boolean
  readonly allowSuspect?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}
