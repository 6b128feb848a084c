import { readAccountId } from '../account-id.ts'
import { parseShard, type Shard } from '../shard.ts'
import type { Environment, SecretSource } from './config.ts'
import type { ConfigFlags } from './load.ts'
import { fileState, readText } from './secrets.ts'

const variableNames = [
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
  'PING_URL',
  'WEBHOOK_URL',
  'SLACK_URL',
] as const

/** What the variables hold, by their names without `DASHKEEP_`. */
export type Variables = Partial<Record<(typeof variableNames)[number], string>>

/** Reads `DASHKEEP_<NAME>` or the file that `DASHKEEP_<NAME>_FILE` names. */
export async function readVariables(env: Environment, problems: string[]): Promise<Variables> {
  const variables: Variables = {}
  for (const short of variableNames) {
    const long = `DASHKEEP_${short}`
    const path = env[`${long}_FILE`]
    if (env[long] && path) problems.push(`${long} and ${long}_FILE are both set: unset one`)
    if (env[long]) variables[short] = env[long]
    else if (path) {
      await readText(path).then(
        (text) => {
          variables[short] = text
        },
        (error) => problems.push(`${long}_FILE: ${fileState(path, error)}`),
      )
    }
  }
  return variables
}

/** The variables in the form of the file. Only the token's source is kept, never the token. */
export function fromEnvironment(
  variables: Variables,
  env: Environment,
  problems: string[],
): object {
  const { BASE_URL, PATH_PREFIX, IMPORT_PATH, ACCOUNT_ID, STORE, SCHEDULE, TIME_ZONE, TYPES } =
    variables
  const { LISTEN, METRICS_TEXTFILE, PUSHGATEWAY } = variables
  const notifications = (['ping', 'webhook', 'slack'] as const).flatMap((kind) => {
    const address = secretVariable(notificationVariables[kind], variables, env)
    return address ? [{ kind, url: address }] : []
  })
  const accountId = readAccountId(ACCOUNT_ID?.trim() ?? '')
  if (ACCOUNT_ID !== undefined && accountId === undefined) {
    problems.push('DASHKEEP_ACCOUNT_ID: expected an integer')
  }
  const token = secretVariable('API_TOKEN', variables, env)
  const account = token && { name: 'default', accountId, token }
  return {
    service: { baseUrl: BASE_URL, pathPrefix: PATH_PREFIX, importPath: IMPORT_PATH },
    ...(account && { accounts: [account] }),
    store: {
      url: STORE,
      endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined,
      region: env.AWS_REGION || undefined,
      caBundle: env.AWS_CA_BUNDLE || undefined,
    },
    encryption: {
      recipients: variables.RECIPIENTS?.split(',').map((word) => word.trim()),
      identity: secretVariable('IDENTITY', variables, env),
    },
    schedule: { cron: SCHEDULE, timeZone: TIME_ZONE },
    worker: { listen: LISTEN === 'false' ? false : LISTEN },
    metrics: { textfile: METRICS_TEXTFILE, pushgateway: PUSHGATEWAY },
    ...(notifications.length > 0 && { notifications }),
    types: TYPES?.split(',').map((word) => word.trim()),
    logLevel: variables.LOG_LEVEL,
  }
}

const notificationVariables = {
  ping: 'PING_URL',
  webhook: 'WEBHOOK_URL',
  slack: 'SLACK_URL',
} as const

/** Where a secret given by a variable, or by its file, is to be read from. */
function secretVariable(
  short: keyof Variables,
  variables: Variables,
  env: Environment,
): SecretSource | undefined {
  const file = env[`DASHKEEP_${short}_FILE`]
  if (file) return { file }
  return variables[short] === undefined ? undefined : { env: `DASHKEEP_${short}` }
}

/**
 * Which part of the accounts is this process's: said outright, or by the number of shards where an
 * Indexed Job of Kubernetes says which of them this is.
 */
export function readShard(
  { SHARD, SHARDS }: Variables,
  env: Environment,
  flags: ConfigFlags,
  problems: string[],
): Shard | undefined {
  const given = flags.shard ?? SHARD
  if (given !== undefined) {
    const shard = parseShard(given)
    const source = flags.shard === undefined ? 'DASHKEEP_SHARD' : '--shard'
    if (!shard) problems.push(`${source}: expected one of several, from 0, such as 0/8 or 7/8`)
    return shard
  }
  if (SHARDS === undefined) return undefined
  const index = env.JOB_COMPLETION_INDEX
  if (!index) problems.push('DASHKEEP_SHARDS: set, but JOB_COMPLETION_INDEX is not')
  const shard = index ? parseShard(`${index}/${SHARDS}`) : undefined
  if (index && !shard) {
    problems.push(`DASHKEEP_SHARDS: ${SHARDS} shards have none with the index ${index}`)
  }
  return shard
}
