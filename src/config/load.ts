import type { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { readProxies } from '../http/proxy.ts'
import { readSmallFile } from '../local-files.ts'
import {
  type AccountConfig,
  type Config,
  complete,
  type Environment,
  type FileConfig,
  fileSchema,
} from './config.ts'
import { fileState } from './secrets.ts'
import { fromEnvironment, readShard, readVariables } from './variables.ts'

/** What the command line says of the configuration; it goes over everything else. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly store?: string | undefined
  readonly logLevel?: string | undefined
  /** Such as `0/8`, the first of eight. */
  readonly shard?: string | undefined
}

/** What a verb cannot do without. */
export type ConfigNeed = 'accounts' | 'store'

/**
 * Reads the configuration: flags over environment over file. Throws one `usage` error that names
 * every problem with its path or variable.
 */
export async function loadConfig(
  env: Environment,
  flags: ConfigFlags = {},
  needs: readonly ConfigNeed[] = [],
): Promise<Config> {
  const problems: string[] = []
  const variables = await readVariables(env, problems)
  const path = flags.config ?? variables.CONFIG
  const file = path === undefined ? {} : await readConfigFile(path, problems)
  const layered = layer(file, fromEnvironment(variables, env, problems), fromFlags(flags))
  const checked = await fileSchema.safeParseAsync(layered)
  if (!checked.success) {
    const sourceOf = (place: string) => sourceOfPlace(place, env, flags)
    problems.push(...checked.error.issues.flatMap((issue) => describeIssue(issue, sourceOf)))
  }
  const accounts = checked.data ? resolveAccounts(checked.data, problems) : []
  const management = checked.data && resolveManagement(checked.data, problems)
  const shard = readShard(variables, env, flags, problems)
  const findProxy = readProxies(env, problems)
  if (checked.data) problems.push(...missing(checked.data, needs, env))
  if (problems.length > 0 || !checked.data) throw unusable(path, problems)
  return complete(checked.data, { accounts, management, shard, findProxy })
}

/** Room for 50,000 accounts. */
const MAX_CONFIG_BYTES = 16 * 1024 ** 2

async function readConfigFile(path: string, problems: string[]): Promise<object> {
  // Imported late, like what reads cron expressions: many are told all by the environment.
  const { parse, YAMLParseError } = await import('yaml')
  try {
    const document: unknown = parse(await readSmallFile(path, { maxBytes: MAX_CONFIG_BYTES }))
    if (document !== null && typeof document === 'object' && !Array.isArray(document)) {
      return document
    }
    problems.push(`${path}: expected members such as accounts and store`)
  } catch (error) {
    const state = error instanceof YAMLParseError ? `${path}: ${firstLine(error)}` : undefined
    problems.push(state ?? fileState(path, error))
  }
  return {}
}

function fromFlags(flags: ConfigFlags): object {
  return { store: { url: flags.store }, logLevel: flags.logLevel }
}

/** What a file names is not mixed with what the environment names. */
const wholeLists: readonly string[] = ['accounts', 'notifications']

/** Puts later layers over earlier ones, section by section; a file's lists stay its own. */
function layer(file: object, ...over: object[]): object {
  const result: Record<string, unknown> = { ...file }
  for (const one of over) {
    for (const [key, value] of Object.entries(one)) {
      if (value === undefined || (wholeLists.includes(key) && result[key] !== undefined)) continue
      if (typeof value !== 'object' || Array.isArray(value)) result[key] = value
      else result[key] = mergeSection(result[key], value)
      if (result[key] === undefined) delete result[key]
    }
  }
  return result
}

function mergeSection(below: unknown, above: object): unknown {
  const given = Object.entries(above).filter(([, value]) => value !== undefined)
  if (given.length === 0) return below
  return { ...(typeof below === 'object' ? below : {}), ...Object.fromEntries(given) }
}

function resolveAccounts(file: FileConfig, problems: string[]): AccountConfig[] {
  const names = new Set<string>()
  return (file.accounts ?? []).map((account, place) => {
    if (names.has(account.name))
      problems.push(`accounts.${place}.name: ${account.name} comes twice`)
    names.add(account.name)
    return resolveAccount(account, file, { place: `accounts.${place}`, problems })
  })
}

function resolveManagement(file: FileConfig, problems: string[]): AccountConfig | undefined {
  if (file.management === undefined) return undefined
  const account = { ...file.management, name: 'management' }
  return resolveAccount(account, file, { place: 'management', problems })
}

function resolveAccount(
  account: NonNullable<FileConfig['accounts']>[number],
  { service }: FileConfig,
  { place, problems }: { place: string; problems: string[] },
): AccountConfig {
  const baseUrl = account.baseUrl ?? service?.baseUrl ?? ''
  if (!baseUrl) {
    problems.push(
      `${place}.baseUrl: missing, and neither service.baseUrl nor DASHKEEP_BASE_URL is set`,
    )
  }
  return {
    name: account.name,
    baseUrl,
    pathPrefix: account.pathPrefix ?? service?.pathPrefix ?? '',
    accountId: account.accountId,
    token: account.token,
    include: account.include,
  }
}

/** What a verb needs and nobody gave. A `_FILE` that cannot be read is another problem. */
function missing(file: FileConfig, needs: readonly ConfigNeed[], env: Environment): string[] {
  const problems: string[] = []
  if (needs.includes('accounts') && file.accounts === undefined) {
    problems.push('DASHKEEP_API_TOKEN: not set, and no configuration file names accounts')
    if (!file.service?.baseUrl && !env.DASHKEEP_BASE_URL_FILE) {
      problems.push('DASHKEEP_BASE_URL: not set')
    }
  }
  if (needs.includes('store') && file.store?.url === undefined && !env.DASHKEEP_STORE_FILE) {
    problems.push('DASHKEEP_STORE: not set, and neither --store nor store.url is given')
  }
  return problems
}

/** What can stand in for a place in the file. */
const standIns: readonly {
  readonly place: string
  readonly flag?: readonly [keyof ConfigFlags, string]
  readonly variables: readonly string[]
}[] = [
  { place: 'service.baseUrl', variables: ['DASHKEEP_BASE_URL'] },
  { place: 'service.pathPrefix', variables: ['DASHKEEP_PATH_PREFIX'] },
  { place: 'service.importPath', variables: ['DASHKEEP_IMPORT_PATH'] },
  { place: 'store.url', flag: ['store', '--store'], variables: ['DASHKEEP_STORE'] },
  { place: 'store.endpoint', variables: ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'] },
  { place: 'schedule.cron', variables: ['DASHKEEP_SCHEDULE'] },
  { place: 'schedule.timeZone', variables: ['DASHKEEP_TIME_ZONE'] },
  { place: 'worker.listen', variables: ['DASHKEEP_LISTEN'] },
  { place: 'metrics.textfile', variables: ['DASHKEEP_METRICS_TEXTFILE'] },
  { place: 'metrics.pushgateway', variables: ['DASHKEEP_PUSHGATEWAY'] },
  { place: 'types', variables: ['DASHKEEP_TYPES'] },
  { place: 'logLevel', flag: ['logLevel', '--log-level'], variables: ['DASHKEEP_LOG_LEVEL'] },
]

/** The flag or variable that gave what is wrong at this place; the place itself for the file. */
function sourceOfPlace(place: string, env: Environment, flags: ConfigFlags): string {
  const found = standIns.find((one) => place === one.place || place.startsWith(`${one.place}.`))
  if (found === undefined) return place
  if (found.flag !== undefined && flags[found.flag[0]] !== undefined) return found.flag[1]
  return found.variables.find((name) => env[name] || env[`${name}_FILE`]) ?? place
}

function describeIssue(issue: z.core.$ZodIssue, sourceOf: (place: string) => string): string[] {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const place = path === '' ? '' : `${path}.`
    return issue.keys.map((key) => `${place}${key}: unknown key`)
  }
  return [`${sourceOf(path) || 'the document'}: ${issue.message.replace(/^Invalid input: /, '')}`]
}

function unusable(path: string | undefined, problems: readonly string[]): DashkeepError {
  const from = path === undefined ? '' : ` ${path}`
  return new DashkeepError(`Cannot use the configuration${from}`, {
    kind: 'usage',
    problems,
    hint: '`dashkeep config schema` prints what a file may hold; the README lists the variables',
  })
}

function firstLine(error: Error): string {
  return error.message.split('\n')[0]?.replace(/:$/, '') ?? ''
}
