import { DashkeepError } from '../errors.ts'
import { readProxies } from '../http/proxy.ts'
import { complete, completeStores } from './complete.ts'
import { type AccountConfig, archiveName, type Config, type Environment } from './config.ts'
import { describeIssues, expectation } from './issues.ts'
import { addLists, findIgnoredAddresses, findSources } from './lists.ts'
import { expandHome, toStoreUrl } from './paths.ts'
import { readConfigFile } from './read-file.ts'
import { readShard } from './read-shard.ts'
import { findConflicts } from './rules.ts'
import { type FileConfig, fileSchema } from './schema.ts'
import { isSection, listAt, type Section, valueAt, withValue } from './section.ts'
import { findOverlap } from './store-addresses.ts'
import {
  findUnknownVariables,
  type Override,
  overridesOf,
  readVariables,
  type Variables,
} from './variables.ts'

/** The configuration options of the command line. They override everything else. */
interface ConfigFlags {
  readonly config?: string | undefined
  readonly store?: string | undefined
  readonly logLevel?: string | undefined
  /** Such as `0/8`, the first of eight. */
  readonly shard?: string | undefined
}

/** Parts of the configuration that a verb needs. */
export type ConfigNeed = 'accounts' | 'store'

/**
 * Reads the configuration: flags over environment over file. Throws one `usage` error that names
 * every problem with its path or variable. A file that cannot be read is reported alone.
 */
export async function loadConfig(
  env: Environment,
  flags: ConfigFlags = {},
  needs: readonly ConfigNeed[] = [],
): Promise<Config> {
  const variables = await readVariables(env)
  const given = flags.config ?? variables.given.get('CONFIG')?.value
  const path = given && expandHome(given)
  const file = path === undefined ? withoutFile(variables) : await readConfigFile(path)
  const problems = [...variables.problems.values()]
  problems.push(...findIgnoredAddresses(file, variables))
  const { document: listed, sources } = addLists(file, variables, problems)
  const ofVariables = overridesOf(variables, env)
  const configured = layer(listed, sources, ofVariables)
  const ofFlags = overridesOfFlags(flags, configured.document)
  const { document, sourceOf } = layer(listed, sources, [...ofVariables, ...ofFlags])
  problems.push(...findUnknownVariables(env, findSources(document)))
  const checked = await findProblems(document, sourceOf)
  const inFile = flags.store
    ? await findProblems(configured.document, configured.sourceOf)
    : checked
  problems.push(...new Set([...checked.problems, ...inFile.problems]))
  const shard = readShard(variables, env, { flag: flags.shard, problems })
  const findProxy = readProxies(env, problems)
  problems.push(...findMissing(document, needs, variables))
  if (problems.length > 0 || !checked.data || !inFile.data) throw unusable(path, problems)
  const stores = completeStores(inFile.data)
  return complete(checked.data, { ...resolveAccounts(checked.data), stores, shard, findProxy })
}

/** Validates a document. `sourceOf` returns the source of the value at a place, for its problem. */
export async function findProblems(
  document: Section,
  sourceOf: (place: string) => string,
): Promise<{ data: FileConfig | undefined; problems: string[] }> {
  const { data, error } = await fileSchema.safeParseAsync(document, {
    error: expectation,
    reportInput: true,
  })
  const issues = describeIssues(error?.issues ?? [], sourceOf)
  return { data, problems: [...issues, ...findConflicts(document, sourceOf)] }
}

/** Returns an empty document. Throws when a file is configured and its name cannot be read. */
function withoutFile({ problems }: Variables): Section {
  const problem = problems.get('CONFIG')
  if (problem !== undefined) throw unusable(undefined, [problem])
  return {}
}

/**
 * Reads `--store`: an address, or the name of a configured store. Another store than the archive
 * replaces the `store` section, and has neither copies nor commits.
 */
function overridesOfFlags({ store, logLevel }: ConfigFlags, configured: Section): Override[] {
  const level = { place: 'logLevel', value: logLevel, source: '--log-level' }
  return [...overridesOfStore(store, configured), ...(logLevel === undefined ? [] : [level])]
}

function overridesOfStore(store: string | undefined, configured: Section): Override[] {
  if (store === undefined) return []
  const source = '--store'
  const url = toStoreUrl(store, '.') as string
  const isMeant = (section: unknown, name: unknown): section is Section => {
    const address = valueAt(section, 'url')
    if (!isSection(section) || typeof address !== 'string') return false
    return name === store || findOverlap({ url: address }, { url }) === 'same'
  }
  if (isMeant(configured.store, archiveName)) return []
  const copy = listAt(configured, 'copies').find((one) => isMeant(one, valueAt(one, 'name')))
  const { name, newerOnly, deadline, ...section } = isSection(copy) ? copy : {}
  return [
    copy ? { place: 'store', value: section, source } : { place: 'store.url', value: url, source },
    { place: 'copies', value: [], source },
    { place: 'git', value: undefined, source },
  ]
}

/** Replaces values of the file by variables and flags, and records the source of each value. */
function layer(
  file: Section,
  listSources: ReadonlyMap<string, string>,
  overrides: readonly Override[],
): { document: Section; sourceOf: (place: string) => string } {
  const sources = new Map(listSources)
  let document = file
  for (const { place, value, source } of overrides) {
    const changed = withValue(document, place, value)
    if (changed !== document) sources.set(place, source)
    document = changed
  }
  const sourceOf = (place: string) => {
    const found = [...sources.keys()].find((one) => place === one || place.startsWith(`${one}.`))
    return (found && sources.get(found)) ?? place
  }
  return { document, sourceOf }
}

/** The missing settings that a verb needs. A variable that cannot be read is not among them. */
function findMissing(
  document: Section,
  needs: readonly ConfigNeed[],
  { problems }: Variables,
): string[] {
  const missing: string[] = []
  if (needs.includes('accounts') && document.accounts === undefined && !problems.has('API_TOKEN')) {
    missing.push('DASHKEEP_API_TOKEN: not set, and no configuration file names accounts')
    if (valueAt(document, 'service.baseUrl') === undefined && !problems.has('BASE_URL')) {
      missing.push('DASHKEEP_BASE_URL: not set')
    }
  }
  const hasStore = !('store' in document) || valueAt(document, 'store.url') === undefined
  if (needs.includes('store') && hasStore && !problems.has('STORE')) {
    missing.push('DASHKEEP_STORE: not set, and neither --store nor store.url is given')
  }
  return missing
}

function resolveAccounts({
  accounts = [],
  management,
  service,
}: FileConfig): Pick<Config, 'accounts' | 'management'> {
  const resolve = (account: NonNullable<FileConfig['accounts']>[number]): AccountConfig => ({
    name: account.name,
    // `rules.ts` has reported every account without an address.
    baseUrl: account.baseUrl ?? service?.baseUrl ?? '',
    pathPrefix: account.pathPrefix ?? service?.pathPrefix ?? '',
    accountId: account.accountId,
    token: account.token,
    include: account.include,
  })
  return {
    accounts: accounts.map(resolve),
    management: management && resolve({ ...management, name: 'management' }),
  }
}

function unusable(path: string | undefined, problems: readonly string[]): DashkeepError {
  const from = path === undefined ? '' : ` ${path}`
  return new DashkeepError(`Cannot use the configuration${from}`, {
    kind: 'usage',
    problems,
    hint: '`dashkeep config schema` prints what a file may hold; docs/configuration.md lists the variables',
  })
}
