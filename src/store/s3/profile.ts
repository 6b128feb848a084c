import { loadSharedConfigFiles } from '@smithy/core/config'
import { StoreError } from '../errors.ts'

/** Environment variables. Only those of AWS are read. */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>

/** The merged sections of the shared AWS configuration and credentials files, by name. */
export type SharedFiles = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>

/** Endpoint and region of an S3 server, if configured. */
interface ServerPlace {
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
}

/** The name of the AWS profile: `AWS_PROFILE` or `default`. */
export function profileName(env: AwsEnvironment): string {
  return env.AWS_PROFILE || 'default'
}

/** Reads the shared files. An unreadable file counts as empty. */
export async function readSharedFiles(env: AwsEnvironment): Promise<SharedFiles> {
  const { configFile, credentialsFile } = await loadSharedConfigFiles({
    ...sharedPaths(env),
    ignoreCache: true,
  })
  const merged: Record<string, SharedFiles[string]> = {}
  for (const [name, section] of [configFile, credentialsFile].flatMap(Object.entries)) {
    merged[name] = { ...merged[name], ...section }
  }
  return merged
}

/** The paths of the shared files that the environment sets. */
export function sharedPaths(env: AwsEnvironment): { filepath?: string; configFilepath?: string } {
  const { AWS_SHARED_CREDENTIALS_FILE: filepath, AWS_CONFIG_FILE: configFilepath } = env
  return { ...(filepath && { filepath }), ...(configFilepath && { configFilepath }) }
}

/** Adds endpoint and region of the profile where the configuration has none. */
export async function completePlace(place: ServerPlace, env: AwsEnvironment): Promise<ServerPlace> {
  if (place.endpoint !== undefined && place.region !== undefined) return place
  const files = await readSharedFiles(env)
  const name = profileName(env)
  return {
    endpoint: place.endpoint ?? (ignoresEndpoints(env) ? undefined : endpointOf(name, files)),
    region: place.region ?? files[name]?.region,
  }
}

function ignoresEndpoints({ AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: value }: AwsEnvironment): boolean {
  return value?.toLowerCase() === 'true'
}

/** The endpoint of a profile. An endpoint for S3 alone takes precedence over one for all services. */
function endpointOf(name: string, files: SharedFiles): string | undefined {
  const profile = files[name]
  if (profile?.services === undefined) return profile?.endpoint_url
  const services = files[`services.${profile.services}`]
  if (services === undefined) {
    throw new StoreError(
      `Cannot use the profile ${name}: there is no section [services ${profile.services}]`,
      { kind: 'usage', hint: 'correct `services` of the profile in the AWS configuration file' },
    )
  }
  return services['s3.endpoint_url'] ?? profile.endpoint_url
}
