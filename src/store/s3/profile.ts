import { loadSharedConfigFiles } from '@smithy/core/config'
import { StoreError } from '../errors.ts'

/** Environment variables, of which only those of AWS are read. */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>

/** The sections of the shared AWS configuration and credentials files, by name, merged. */
export type SharedFiles = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>

/** Where an S3 server is, as far as something says so. */
export interface ServerPlace {
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
}

/** The profile that the environment names; `default` when it names none. */
export function profileName(env: AwsEnvironment): string {
  return env.AWS_PROFILE || 'default'
}

/** Reads the shared files, anew each time. A file that cannot be read counts as empty. */
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

/** Where the environment says that the shared files are. */
export function sharedPaths(env: AwsEnvironment) {
  const { AWS_SHARED_CREDENTIALS_FILE: filepath, AWS_CONFIG_FILE: configFilepath } = env
  return { ...(filepath && { filepath }), ...(configFilepath && { configFilepath }) }
}

/** Adds what the profile says where the configuration says nothing. */
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

/** The endpoint for S3 in the profile's section of services goes over the one for all services. */
function endpointOf(name: string, files: SharedFiles): string | undefined {
  const profile = files[name]
  if (profile?.services === undefined) return profile?.endpoint_url
  const services = files[`services.${profile.services}`]
  if (services === undefined) {
    throw new StoreError(
      `Cannot use the profile ${name}: there is no section [services ${profile.services}]`,
      { kind: 'usage', hint: 'Correct `services` of the profile in the AWS configuration file' },
    )
  }
  return services['s3.endpoint_url'] ?? profile.endpoint_url
}
