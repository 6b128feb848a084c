import type { AwsEnvironment, SharedFiles } from './profile.ts'

/**
 * The configured source gave no credentials. The message is the state in "Cannot …: <state>" and
 * contains no secret.
 */
export class CredentialsError extends Error {
  readonly hint: string
  /** Whether a later attempt may succeed. */
  readonly transient: boolean

  constructor(message: string, { hint, transient = false }: { hint: string; transient?: boolean }) {
    super(message)
    this.name = 'CredentialsError'
    this.hint = hint
    this.transient = transient
  }
}

/** The source of the credentials. */
export type CredentialSource =
  | { readonly kind: 'keys' | 'token-file' | 'container' | 'instance' }
  | { readonly kind: 'profile'; readonly profile: string }

/** The configuration of a source that failed. */
interface Setting {
  readonly source: CredentialSource
  readonly env: AwsEnvironment
  readonly files: SharedFiles
}

/** The known facts about a failure. */
interface Failure {
  readonly setting: Setting
  /** An error code of Node, or the name of the error in a server's answer. */
  readonly code: string
  readonly message: string
  readonly status: number | undefined
  /** The file that could not be read. */
  readonly path: string | undefined
  /** Whether the error is the answer of an AWS service. */
  readonly isAnswer: boolean
}

/**
 * Explains why a source gave no credentials. The SDK has no codes for most causes, so the text of its
 * message chooses the explanation. The message itself is never shown: it can contain a command line.
 */
export function explainCredentials(error: unknown, setting: Setting): CredentialsError {
  if (error instanceof CredentialsError) return error
  const failure = readFailure(error, setting)
  const [, explain] = rules.find(([fits]) => fits(failure)) ?? []
  return explain?.(failure) ?? unexplained(failure)
}

/** Recognises and explains one kind of failure. */
type Rule = readonly [
  fits: (failure: Failure) => boolean,
  explain: (failure: Failure) => CredentialsError,
]

const networkCode = /\b(E[A-Z]{3,}[A-Z_]*|TimeoutError)\b/

const rules: readonly Rule[] = [
  [({ path, code }) => path !== undefined || code === 'EISDIR', explainFile],
  [({ message }) => /cycle attempting to resolve/.test(message), explainCycle],
  [({ message }) => /Unsupported credential source/.test(message), explainKind],
  [({ message }) => /credential_process|^Command failed/.test(message), explainProcess],
  [({ message }) => /multi-factor/.test(message), explainFactor],
  [({ message }) => /environment variable credentials/.test(message), explainKeys],
  [({ message }) => /SSO|ForbiddenException|UnauthorizedException/i.test(message), explainSso],
  [isOfContainer, explainContainer],
  [({ message }) => /instance metadata|EC2 Metadata/i.test(message), explainInstance],
  [({ isAnswer }) => isAnswer, explainRefusal],
  [({ code }) => networkCode.test(code), explainNoAnswer],
  [({ message }) => message.startsWith('Could not resolve credentials'), explainIncomplete],
]

function readFailure(error: unknown, setting: Setting): Failure {
  const { name, code, message, path, $fault, $metadata, statusCode } = asRecord(error)
  const { httpStatusCode } = asRecord($metadata)
  const status = [httpStatusCode, statusCode].find((value) => typeof value === 'number')
  return {
    setting,
    code: typeof code === 'string' ? code : String(name ?? ''),
    message: typeof message === 'string' ? message : '',
    status,
    path: typeof path === 'string' ? path : undefined,
    isAnswer: $fault !== undefined,
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function explainFile({ path, code, setting }: Failure): CredentialsError {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file } = setting.env
  const isOfContainer = path === undefined ? setting.source.kind === 'container' : path === file
  const what = isOfContainer ? 'authorization token' : 'web identity token'
  const webIdentityMember =
    setting.source.kind === 'profile'
      ? 'web_identity_token_file in the AWS profile'
      : 'AWS_WEB_IDENTITY_TOKEN_FILE'
  const member = isOfContainer ? 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE' : webIdentityMember
  // The error of a folder does not name it.
  const named = path ?? (isOfContainer ? file : tokenFileOf(setting)) ?? ''
  return new CredentialsError(`the ${what} file ${named} cannot be read (${code})`, {
    hint: `check ${member}, and that the token is mounted and readable by this user`,
  })
}

function tokenFileOf({ source, env, files }: Setting): string | undefined {
  if (source.kind !== 'profile') return env.AWS_WEB_IDENTITY_TOKEN_FILE
  return files[source.profile]?.web_identity_token_file
}

function explainCycle({ setting }: Failure): CredentialsError {
  return new CredentialsError(`${nameOf(setting)} refers to itself by source_profile`, {
    hint: 'correct source_profile: the last profile must contain keys or another source',
  })
}

function explainKind({ setting }: Failure): CredentialsError {
  const { source, files } = setting
  const kind = source.kind === 'profile' ? files[source.profile]?.credential_source : undefined
  const named = kind === undefined ? '' : ` ${kind}`
  return new CredentialsError(`${nameOf(setting)} has the unknown credential_source${named}`, {
    hint: 'use Environment, EcsContainer or Ec2InstanceMetadata',
  })
}

/** Explains a source that gave no credentials in time. */
export function explainSilence(setting: Setting, timeoutMs: number): CredentialsError {
  const { subject, hint } = describeSource(setting)
  const state = `${subject} gave no credentials within ${timeoutMs / 1000} s`
  return new CredentialsError(state, { hint, transient: true })
}

/** Describes a source that does not answer, with a hint. */
function describeSource(setting: Setting): { subject: string; hint: string } {
  const { source, env, files } = setting
  const profile = source.kind === 'profile' ? files[source.profile] : undefined
  if (source.kind === 'container') {
    return { subject: containerEndpoint(env), hint: 'check the credentials agent of the container' }
  }
  if (profile?.credential_process) {
    const subject = `the credential_process of ${nameOf(setting)}`
    return { subject, hint: 'run its command by hand, as the same user, and check that it ends' }
  }
  if (source.kind === 'token-file' || profile?.role_arn) {
    const subject = `STS (for the role ${roleOf('', setting).arn})`
    return { subject, hint: 'check the network, AWS_REGION and AWS_ENDPOINT_URL_STS' }
  }
  return { subject: nameOf(setting), hint: 'check the network and the settings of the profile' }
}

function explainProcess({ message, setting }: Failure): CredentialsError {
  const state =
    [
      [/invalid JSON/, 'does not print JSON'],
      [/Version 1/, 'does not print "Version": 1'],
      [/expired/, 'prints credentials that have expired'],
      [/invalid credentials/, 'prints no AccessKeyId or no SecretAccessKey'],
    ].find(([pattern]) => (pattern as RegExp).test(message))?.[1] ?? 'failed'
  return new CredentialsError(`the credential_process of ${nameOf(setting)} ${state}`, {
    hint: 'run its command by hand, as the same user: it must print JSON with "Version": 1, AccessKeyId and SecretAccessKey',
  })
}

function explainFactor({ setting }: Failure): CredentialsError {
  return new CredentialsError(`${nameOf(setting)} requires multi-factor authentication`, {
    hint: 'use a role without mfa_serial: a backup cannot enter a code',
  })
}

function explainKeys({ setting }: Failure): CredentialsError {
  const state = `${nameOf(setting)} uses the keys of the environment, which has none`
  return new CredentialsError(state, { hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' })
}

function explainSso({ message, setting }: Failure): CredentialsError {
  const profile = setting.source.kind === 'profile' ? setting.source.profile : 'default'
  const session = setting.files[profile]?.sso_session
  if (session !== undefined && setting.files[`sso-session.${session}`] === undefined) {
    const state = `the AWS profile ${profile} uses the SSO session ${session}, which does not exist`
    return new CredentialsError(state, {
      hint: `correct sso_session, or run \`aws configure sso --profile ${profile}\``,
    })
  }
  if (message.includes('ForbiddenException')) {
    const { sso_role_name: role, sso_account_id: account } = setting.files[profile] ?? {}
    return new CredentialsError(`SSO refuses the role ${role} in account ${account}`, {
      hint: `check sso_role_name and sso_account_id of the AWS profile ${profile}`,
    })
  }
  if (/invalid SSO credentials|missing required|could not be found/.test(message)) {
    return new CredentialsError(`the SSO settings of the AWS profile ${profile} are incomplete`, {
      hint: `run \`aws configure sso --profile ${profile}\``,
    })
  }
  return new CredentialsError(
    `the SSO session of the AWS profile ${profile} has expired or does not exist`,
    { hint: `run \`aws sso login --profile ${profile}\`` },
  )
}

function isOfContainer({ setting, message }: Failure): boolean {
  return (
    setting.source.kind === 'container' ||
    /Server responded with status|HTTP credential provider|URL not accepted/.test(message)
  )
}

function explainContainer({ message, setting }: Failure): CredentialsError {
  const variable = containerVariable(setting.env)
  const subject = containerEndpoint(setting.env)
  const [, status] = /responded with status: (\d+)/.exec(message) ?? []
  if (status !== undefined) {
    return new CredentialsError(`${subject} answers with status ${status}`, {
      hint: 'check the role of the task or pod, and the authorization token',
      transient: Number(status) >= 500 || status === '429',
    })
  }
  if (/URL not accepted|Invalid URL/.test(message)) {
    return new CredentialsError(`${variable} contains an address that is not allowed`, {
      hint: 'use an https:// address, or the address of this machine or of the container agent',
    })
  }
  const [code] = networkCode.exec(message) ?? []
  const state = code ? `cannot be reached (${code})` : 'returns no credentials'
  return new CredentialsError(`${subject} ${state}`, {
    hint: `check ${variable}, and that its agent is running`,
    transient: code !== undefined,
  })
}

function containerVariable({
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path,
}: AwsEnvironment): string {
  return path ? 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI' : 'AWS_CONTAINER_CREDENTIALS_FULL_URI'
}

function containerEndpoint(env: AwsEnvironment): string {
  return `the credentials endpoint of the container (${containerVariable(env)})`
}

function explainInstance({ status, setting }: Failure): CredentialsError {
  if (status === undefined) return noCredentials(setting.env, setting.files)
  const state = `the metadata service of this machine answers with status ${status}`
  return new CredentialsError(state, {
    hint:
      status === 404
        ? 'attach a role to the machine'
        : 'check the settings of the metadata service',
    transient: status >= 500 || status === 429,
  })
}

function explainRefusal({ code, message, status, setting }: Failure): CredentialsError {
  const role = roleOf(message, setting)
  const isWeb = role.isWeb || /IdentityToken|IDP/.test(code)
  const transient = status === 429 || (status !== undefined && status >= 500)
  const state = transient ? 'cannot provide' : 'refuses'
  return new CredentialsError(`STS ${state} the role ${role.arn} (${code})`, {
    hint: transient ? 'try again later' : refusalHint(code, isWeb),
    transient,
  })
}

function refusalHint(code: string, isWeb: boolean): string {
  if (/^(InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClient)/.test(code)) {
    return 'correct the access key of the profile that source_profile or credential_source names'
  }
  if (isWeb && /Expired/.test(code)) return 'write a new token to the token file'
  if (isWeb) {
    return 'check the trust policy of the role: identity provider, subject and audience of the token'
  }
  return 'allow sts:AssumeRole on the role for these credentials, and allow them in its trust policy'
}

function explainNoAnswer({ code, message, setting }: Failure): CredentialsError {
  const { arn } = roleOf(message, setting)
  return new CredentialsError(`STS cannot be reached (role ${arn}, ${code})`, {
    hint: 'check the network, AWS_REGION and AWS_ENDPOINT_URL_STS',
    transient: true,
  })
}

function explainIncomplete({ message, setting }: Failure): CredentialsError {
  const [, name = nameOf(setting)] = /profile: \[(.*?)\]/.exec(message) ?? []
  const isKnown = setting.files[name] !== undefined
  if (!isKnown) return unknownProfile(name, setting.files, 'source_profile')
  return new CredentialsError(`the AWS profile ${name} has no complete source of credentials`, {
    hint: 'give it one of: both keys; role_arn with source_profile, credential_source or web_identity_token_file; credential_process; SSO settings',
  })
}

function unexplained({ code: name, message, setting }: Failure): CredentialsError {
  const code = networkCode.exec(message)?.[1] ?? name
  return new CredentialsError(`${nameOf(setting)} gave no credentials (${code})`, {
    hint: 'run `aws sts get-caller-identity` as the same user',
  })
}

/** The requested role: from the message of STS, otherwise from the settings. */
function roleOf(message: string, { source, env, files }: Setting): { arn: string; isWeb: boolean } {
  const [, named] = /on resource: (arn:\S+)/.exec(message) ?? []
  if (source.kind !== 'profile') return { arn: named ?? env.AWS_ROLE_ARN ?? '', isWeb: true }
  const profile = files[source.profile]
  const isWeb = profile?.web_identity_token_file !== undefined
  return { arn: named ?? profile?.role_arn ?? '', isWeb }
}

function nameOf({ source }: Setting): string {
  return source.kind === 'profile' ? `the AWS profile ${source.profile}` : `the ${source.kind}`
}

/** Maximum number of profiles in a hint. */
const maxNamed = 10

/** The error of a missing profile. `namedBy` is the variable or setting that refers to it. */
export function unknownProfile(
  name: string,
  files: SharedFiles,
  namedBy = 'AWS_PROFILE',
): CredentialsError {
  const names = Object.keys(files).filter((one) => !/^(services|sso-session)\./.test(one))
  const known = names.length === 0 ? 'none' : names.slice(0, maxNamed).join(', ')
  return new CredentialsError(`the AWS profile ${name} does not exist`, {
    hint: `correct ${namedBy}, AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE; the known profiles are ${known}`,
  })
}

/** The error when no source of credentials is configured. */
export function noCredentials(env: AwsEnvironment, files: SharedFiles): CredentialsError {
  const profile = env.AWS_PROFILE
  const found = profile && files[profile] ? `, and the AWS profile ${profile} has none` : ''
  const { AWS_SHARED_CREDENTIALS_FILE: file } = env
  const keys = file ? `write keys to ${file}, set` : 'set'
  return new CredentialsError(`no credentials were found${found}`, {
    hint: `${keys} AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or attach a role`,
  })
}
