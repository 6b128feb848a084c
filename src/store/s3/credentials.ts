import type { Logger, RuntimeConfigAwsCredentialIdentityProvider } from '@aws-sdk/types'
import { ProxyError } from '../../http/proxy.ts'
import { startDeadline } from '../deadline.ts'
import {
  type CredentialSource,
  CredentialsError,
  explainCredentials,
  explainSilence,
  noCredentials,
  unknownProfile,
} from './credentials-error.ts'
import {
  type AwsEnvironment,
  profileName,
  readSharedFiles,
  type SharedFiles,
  sharedPaths,
} from './profile.ts'

/** Returns credentials. Called again when they expire, and after a failure. */
type CredentialProvider = RuntimeConfigAwsCredentialIdentityProvider

/**
 * Uses the first configured source of credentials, in the order of the AWS SDK. Reports the error when
 * this source fails or takes longer than `timeoutMs`. (The SDK's own chain would try the next sources and
 * report only the failure of the last one.)
 */
export function createCredentialProvider(
  env: AwsEnvironment,
  { logger, timeoutMs }: { logger: Logger; timeoutMs: number },
): CredentialProvider {
  const providers = createProviders(env, logger)
  let isFirst = true
  return async (properties) => {
    const files = await readSharedFiles(env)
    const source = chooseSource(env, files)
    if (isFirst && ignoresKeys(env, files)) {
      logger.warn('AWS_PROFILE is set, so AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are ignored')
    }
    isFirst = false
    const setting = { source, env, files }
    try {
      const provide = await providers[source.kind](source)
      return await within(timeoutMs, provide(properties), () => explainSilence(setting, timeoutMs))
    } catch (error) {
      // This error has its own explanation.
      if (error instanceof ProxyError) throw error
      throw explainCredentials(error, setting)
    }
  }
}

/** Limits a wait: a hanging command or server ignores the signal of the S3 client. */
async function within<T>(ms: number, answer: Promise<T>, tooLate: () => Error): Promise<T> {
  using deadline = startDeadline(ms, undefined)
  const late = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () => reject(tooLate()))
  })
  return await Promise.race([answer, late])
}

/** Chooses the source. Throws when the settings refer to something that does not exist. */
function chooseSource(env: AwsEnvironment, files: SharedFiles): CredentialSource {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = env
  if (!env.AWS_PROFILE && (id || secret)) {
    if (id && secret) return { kind: 'keys' }
    throw id
      ? halfSet('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')
      : halfSet('AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID')
  }
  const name = profileName(env)
  const profile = files[name]
  if (profile && sourceMembers.some((member) => profile[member])) {
    return { kind: 'profile', profile: name }
  }
  if (env.AWS_PROFILE && profile === undefined) throw unknownProfile(name, files)
  if (env.AWS_WEB_IDENTITY_TOKEN_FILE) {
    if (env.AWS_ROLE_ARN) return { kind: 'token-file' }
    throw halfSet('AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ROLE_ARN')
  }
  if (env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI || env.AWS_CONTAINER_CREDENTIALS_FULL_URI) {
    return { kind: 'container' }
  }
  const { AWS_EC2_METADATA_DISABLED: disabled } = env
  if (!disabled || disabled === 'false') return { kind: 'instance' }
  throw noCredentials(env, files)
}

function halfSet(set: string, unset: string): CredentialsError {
  return new CredentialsError(`${set} is set, but ${unset} is not`, { hint: `set ${unset} too` })
}

function ignoresKeys(env: AwsEnvironment, files: SharedFiles): boolean {
  const { AWS_PROFILE: name, AWS_ACCESS_KEY_ID: id } = env
  return Boolean(name && id) && files[name ?? '']?.credential_source !== 'Environment'
}

/** The settings with which a profile provides credentials. */
const sourceMembers = [
  'aws_access_key_id',
  'aws_secret_access_key',
  'role_arn',
  'web_identity_token_file',
  'credential_process',
  'sso_session',
  'sso_start_url',
  'sso_account_id',
  'sso_region',
  'sso_role_name',
  'login_session',
]

/** The SDK's provider for each kind of source. Each is loaded only when it is needed. */
function createProviders(env: AwsEnvironment, logger: Logger) {
  // Kept between calls: it uses old credentials while new ones are not available.
  let instance: CredentialProvider | undefined
  return {
    keys: async () => keysFrom(env),
    async profile(source: CredentialSource): Promise<CredentialProvider> {
      const { fromIni } = await import('@aws-sdk/credential-provider-ini')
      const files = { ...sharedPaths(env), ignoreCache: true }
      const profile = 'profile' in source ? source.profile : profileName(env)
      return (properties) => {
        // Without this, SSO would not use the request handler of the S3 client.
        const { requestHandler } = properties?.callerClientConfig ?? {}
        const clientConfig = { ...(requestHandler && { requestHandler }) }
        return fromIni({ ...files, profile, logger, clientConfig })(properties)
      }
    },
    async 'token-file'(): Promise<CredentialProvider> {
      const { fromTokenFile } = await import('@aws-sdk/credential-provider-web-identity')
      return fromTokenFile({ ...tokenFileFrom(env), logger })
    },
    async container(): Promise<CredentialProvider> {
      const { fromHttp } = await import('@aws-sdk/credential-provider-http')
      return fromHttp({ ...containerFrom(env), logger })
    },
    async instance(): Promise<CredentialProvider> {
      const { fromInstanceMetadata } = await import('@smithy/credential-provider-imds')
      instance ??= fromInstanceMetadata({ logger })
      return instance
    },
  } satisfies Record<CredentialSource['kind'], unknown>
}

function keysFrom(env: AwsEnvironment): CredentialProvider {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env
  const { AWS_SESSION_TOKEN: sessionToken } = env
  return async () => ({ accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) })
}

function tokenFileFrom(env: AwsEnvironment) {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: webIdentityTokenFile, AWS_ROLE_ARN: roleArn } = env
  const { AWS_ROLE_SESSION_NAME: roleSessionName } = env
  return {
    ...(webIdentityTokenFile && { webIdentityTokenFile }),
    ...(roleArn && { roleArn }),
    ...(roleSessionName && { roleSessionName }),
  }
}

/** A path takes precedence over an address, and a token file over a token. The SDK warns when both are given. */
function containerFrom(env: AwsEnvironment) {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path } = env
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: address } = env
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = env
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token } = env
  return {
    ...(path && { awsContainerCredentialsRelativeUri: path }),
    ...(address && { awsContainerCredentialsFullUri: address }),
    ...(file && { awsContainerAuthorizationTokenFile: file }),
    ...(token && { awsContainerAuthorizationToken: token }),
  }
}
