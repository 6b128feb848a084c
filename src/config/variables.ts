import { readAccountId } from '../account-id.ts'
import { closest } from './closest.ts'
import { type Environment, type SecretSource, soleAccountName } from './config.ts'
import { notificationVariables } from './notifications.ts'
import { expandHome, toAbsolutePath, toStoreUrl } from './paths.ts'
import { fileState, readText } from './secrets.ts'

/** All variables except those of notifications. */
const settingVariables = [
  'BASE_URL',
  'API_TOKEN',
  'ACCOUNT_ID',
  'PATH_PREFIX',
  'IMPORT_PATH',
  'STORE',
  'RECIPIENTS',
  'IDENTITY',
  'SCHEDULE',
  'TIME_ZONE',
  'TYPES',
  'LOG_LEVEL',
  'CONFIG',
  'SHARD',
  'SHARDS',
  'LISTEN',
  'METRICS_TEXTFILE',
  'PUSHGATEWAY',
] as const

type VariableName = (typeof settingVariables)[number] | (typeof notificationVariables)[number][1]

/** Names of the variables that dashkeep reads, without `DASHKEEP_`. Each also works with `_FILE`. */
export const variableNames: readonly VariableName[] = [
  ...settingVariables,
  ...notificationVariables.map(([, name]) => name),
]

/** A variable that is set. */
interface Variable {
  readonly value: string
  /** `DASHKEEP_<NAME>` or `DASHKEEP_<NAME>_FILE`, whichever gave the value. */
  readonly source: string
  /** Where the value is read again if it is a secret. */
  readonly secret: SecretSource
}

/** The variables that are set, and the problems of those that cannot be read. */
export interface Variables {
  readonly given: ReadonlyMap<VariableName, Variable>
  readonly problems: ReadonlyMap<VariableName, string>
}

/** A value for one place of the file, from a variable or a flag. */
export interface Override {
  readonly place: string
  readonly value: unknown
  /** The variable or flag that gave it. */
  readonly source: string
}

/** Reads every `DASHKEEP_<NAME>`, or the file that `DASHKEEP_<NAME>_FILE` names. */
export async function readVariables(env: Environment): Promise<Variables> {
  const given = new Map<VariableName, Variable>()
  const problems = new Map<VariableName, string>()
  for (const name of variableNames) {
    const variable = await readVariable(name, env)
    if (typeof variable === 'string') problems.set(name, variable)
    else if (variable !== undefined) given.set(name, variable)
  }
  return { given, problems }
}

/** Returns a problem as text. A variable that is empty counts as unset. */
async function readVariable(
  name: VariableName,
  env: Environment,
): Promise<Variable | string | undefined> {
  const long = `DASHKEEP_${name}`
  const source = `${long}_FILE`
  const value = env[long]?.trim()
  const path = expandHome(env[source]?.trim() ?? '')
  if (value && path) return `${long} and ${source} are both set: unset one`
  if (value) return { value, source: long, secret: { env: long } }
  if (!path) return value === '' ? emptyProblem(name) : undefined
  try {
    const text = await readText(path)
    if (text === '') return `${source}: ${path} is empty`
    if (/[\r\n]/.test(text) && !severalLines.has(name)) {
      const hint = name === 'CONFIG' ? `; did you mean ${long}?` : ''
      return `${source}: ${path} holds several lines instead of one value${hint}`
    }
    return { value: text, source, secret: { file: toAbsolutePath(path, '.') } }
  } catch (error) {
    return `${source}: ${fileState(path, error)}`
  }
}

/** Variables whose file may hold several lines: lists, and key files of age-keygen. */
const severalLines: ReadonlySet<VariableName> = new Set(['RECIPIENTS', 'TYPES', 'IDENTITY'])

function emptyProblem(name: VariableName): string | undefined {
  if (name !== 'RECIPIENTS') return undefined
  return 'DASHKEEP_RECIPIENTS: set but empty, so that nothing would be encrypted: unset it, or name recipients'
}

/** The place of each variable in the file, and how its value is converted. */
const overrides: readonly {
  readonly name: VariableName
  readonly place: string
  readonly toValue?: (variable: Variable) => unknown
}[] = [
  { name: 'BASE_URL', place: 'service.baseUrl' },
  { name: 'PATH_PREFIX', place: 'service.pathPrefix' },
  { name: 'IMPORT_PATH', place: 'service.importPath' },
  { name: 'STORE', place: 'store.url', toValue: ({ value }) => toStoreUrl(value, '.') },
  { name: 'RECIPIENTS', place: 'encryption.recipients', toValue: toList },
  { name: 'IDENTITY', place: 'encryption.identity', toValue: ({ secret }) => secret },
  { name: 'SCHEDULE', place: 'schedule.cron' },
  { name: 'TIME_ZONE', place: 'schedule.timeZone' },
  { name: 'TYPES', place: 'types', toValue: toList },
  { name: 'LOG_LEVEL', place: 'logLevel' },
  {
    name: 'LISTEN',
    place: 'worker.listen',
    toValue: ({ value }) => (value === 'false' ? false : value),
  },
  {
    name: 'METRICS_TEXTFILE',
    place: 'metrics.textfile',
    toValue: ({ value }) => expandHome(value),
  },
  { name: 'PUSHGATEWAY', place: 'metrics.pushgateway' },
]

/** Variables of the AWS tools with their places. The first variable of a place takes precedence. */
const awsVariables = [
  ['AWS_ENDPOINT_URL_S3', 'store.endpoint'],
  ['AWS_ENDPOINT_URL', 'store.endpoint'],
  ['AWS_REGION', 'store.region'],
  ['AWS_CA_BUNDLE', 'store.caBundle'],
] as const

/** The variables that each set one setting, in the form of the file. */
export function overridesOf({ given }: Variables, env: Environment): Override[] {
  const own = overrides.flatMap(({ name, place, toValue }) => {
    const variable = given.get(name)
    if (variable === undefined) return []
    return [{ place, value: toValue?.(variable) ?? variable.value, source: variable.source }]
  })
  const aws = awsVariables.flatMap(([source, place]) =>
    env[source] ? [{ place, value: expandHome(env[source]), source }] : [],
  )
  return [
    ...own,
    ...aws.filter(({ place }, at) => aws.findIndex((one) => one.place === place) === at),
  ]
}

function toList({ value }: Variable): string[] {
  return value.split(/[,\r\n]+/).map((word) => word.trim())
}

/** The account that the variables describe, in the form of the file. */
export function accountOf({ given }: Variables): object | undefined {
  const token = given.get('API_TOKEN')?.secret
  return token && { name: soleAccountName, accountId: accountIdOf({ given }), token }
}

/** The id that `DASHKEEP_ACCOUNT_ID` gives; undefined when it is not set or not an id. */
export function accountIdOf({ given }: Pick<Variables, 'given'>): number | undefined {
  return readAccountId(given.get('ACCOUNT_ID')?.value ?? '')
}

/** The notifications that the variables describe, in the form of the file. */
export function notificationsOf({
  given,
}: Variables): { kind: string; url: SecretSource; source: string }[] {
  return notificationVariables.flatMap(([kind, name]) => {
    const variable = given.get(name)
    return variable ? [{ kind, url: variable.secret, source: variable.source }] : []
  })
}

/**
 * Finds unknown `DASHKEEP_*` variables, so that none is silently ignored. `named` are the variables
 * that the file names as sources of secrets.
 */
export function findUnknownVariables(env: Environment, named: readonly string[]): string[] {
  const known = variableNames.flatMap((name) => [`DASHKEEP_${name}`, `DASHKEEP_${name}_FILE`])
  const mine = new Set([...known, ...named])
  const services = serviceNames(env)
  const isForeign = (variable: string) =>
    testVariable.test(variable) || services.some((name) => isOfService(variable, name))
  return Object.keys(env)
    .filter((one) => one.startsWith('DASHKEEP_') && env[one] !== undefined)
    .filter((one) => !mine.has(one) && !isForeign(one))
    .map((one) => {
      const meant = closest(one, known) ?? known.find((name) => name.includes(one.slice(8)))
      return `${one}: unknown variable${meant ? `; did you mean ${meant}?` : ''}`
    })
}

/** Variables of the tests and benchmarks of dashkeep. */
const testVariable = /^DASHKEEP_(TEST|BENCH)_/

/** Names of Kubernetes Services whose variables Kubernetes sets in every pod of the namespace. */
function serviceNames(env: Environment): string[] {
  return Object.keys(env).flatMap((variable) => {
    const [, name] = /^(DASHKEEP(?:_\w+)?)_SERVICE_HOST$/.exec(variable) ?? []
    return name !== undefined && env[`${name}_SERVICE_PORT`] !== undefined ? [name] : []
  })
}

/** Whether Kubernetes sets the variable for the Service of this name. */
function isOfService(variable: string, name: string): boolean {
  if (!variable.startsWith(`${name}_`)) return false
  const rest = variable.slice(name.length + 1)
  return /^(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/.test(
    rest,
  )
}
