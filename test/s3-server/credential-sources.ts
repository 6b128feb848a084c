import { type CredentialWorld, stsError } from './credential-world.ts'

type Variables = Readonly<Record<string, string>>

/** A way in which a source fails, and what people are told. */
export interface SourceFailure {
  readonly when: string
  /** Breaks the source; returns variables that change. */
  readonly spoil: (world: CredentialWorld) => Promise<Variables | undefined>
  readonly state: RegExp
  readonly hint: RegExp
}

/** A source of credentials: how it is set up, and how it fails. */
export interface SourceCase {
  readonly name: string
  /** Sets the source up and returns the variables that name it. */
  readonly setUp: (world: CredentialWorld, keys: Keys) => Promise<Variables>
  readonly failures: readonly SourceFailure[]
}

interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const role = 'arn:aws:iam::123456789012:role/backup'

const keyVariables = ({ accessKeyId, secretAccessKey }: Keys): Variables => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
})

const section = (name: string, members: Variables): string =>
  [`[${name}]`, ...Object.entries(members).map(([key, value]) => `${key} = ${value}`), ''].join(
    '\n',
  )

const keyMembers = ({ accessKeyId, secretAccessKey }: Keys): Variables => ({
  aws_access_key_id: accessKeyId,
  aws_secret_access_key: secretAccessKey,
})

const config = (world: CredentialWorld, ...sections: string[]) =>
  world.write('.aws/config', sections.join('\n'))

/** Writes a profile that `AWS_PROFILE` names. */
async function nightly(
  world: CredentialWorld,
  members: Variables,
  ...more: string[]
): Promise<Variables> {
  await config(world, section('profile nightly', members), ...more)
  return { AWS_PROFILE: 'nightly' }
}

/** Breaks something without changing a variable. */
const only =
  (spoil: (world: CredentialWorld) => unknown): SourceFailure['spoil'] =>
  async (world) => {
    await spoil(world)
    return undefined
  }

const inAnHour = () => new Date(Date.now() + 3_600_000)
const anHourAgo = () => new Date(Date.now() - 3_600_000)
const ssoRole = { sso_account_id: '123456789012', sso_role_name: 'Backup' }
const ssoPlace = { sso_region: 'eu-central-1', sso_start_url: 'https://example.com/start' }

/** Twelve sources and more, in the order in which the SDK looks for them. */
export const credentialSources: readonly SourceCase[] = [
  {
    name: 'keys in variables',
    setUp: async (_, keys) => keyVariables(keys),
    failures: [
      {
        when: 'one of them is missing',
        spoil: async () => ({ AWS_SECRET_ACCESS_KEY: '' }),
        state: /AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not$/m,
        hint: /set AWS_SECRET_ACCESS_KEY too/,
      },
    ],
  },
  {
    name: 'keys of a session in variables',
    setUp: async (_, keys) => ({ ...keyVariables(keys), AWS_SESSION_TOKEN: 'session-token' }),
    failures: [
      {
        when: 'the server does not know them',
        spoil: async () => ({ AWS_ACCESS_KEY_ID: 'somebody' }),
        state: /the server does not know the access key$/m,
        hint: /AWS_ACCESS_KEY_ID/,
      },
    ],
  },
  {
    name: 'the default profile of the credentials file',
    async setUp(world, keys) {
      await world.write('.aws/credentials', section('default', keyMembers(keys)))
      return {}
    },
    failures: [
      {
        when: 'it has half a pair of keys',
        spoil: only((world) =>
          world.write('.aws/credentials', section('default', { aws_access_key_id: 'x' })),
        ),
        state: /the AWS profile default has no complete source of credentials$/m,
        hint: /give it one of: both keys/,
      },
    ],
  },
  {
    name: 'a profile of the configuration file',
    setUp: (world, keys) => nightly(world, keyMembers(keys)),
    failures: [
      {
        when: 'its name is misspelt',
        spoil: async () => ({ AWS_PROFILE: 'nihgtly' }),
        state: /the AWS profile nihgtly does not exist$/m,
        hint: /correct AWS_PROFILE.*; the known profiles are nightly$/m,
      },
      {
        when: 'it has no source at all',
        spoil: only((world) => nightly(world, { region: 'eu-central-1' })),
        state: /no credentials were found, and the AWS profile nightly has none$/m,
        hint: /write keys to .*\/credentials, set AWS_ACCESS_KEY_ID/,
      },
    ],
  },
  {
    name: 'a role by the keys of another profile',
    setUp: (world, keys) =>
      nightly(
        world,
        { role_arn: role, source_profile: 'base', region: 'eu-central-1' },
        section('profile base', keyMembers(keys)),
      ),
    failures: [
      {
        when: 'STS refuses the role',
        spoil: only((world) =>
          world.refuse(/^AssumeRole$/, 403, stsError('AccessDenied', `not on resource: ${role}`)),
        ),
        state: /STS refuses the role arn:aws:iam::123456789012:role\/backup \(AccessDenied\)$/m,
        hint: /sts:AssumeRole.*trust policy/,
      },
      {
        when: 'STS does not know the keys',
        spoil: only((world) => world.refuse(/^AssumeRole$/, 403, stsError('InvalidClientTokenId'))),
        state: /STS refuses the role arn:.*\/backup \(InvalidClientTokenId\)$/m,
        hint: /correct the access key of the profile that source_profile/,
      },
      {
        when: 'there is no such profile',
        spoil: only((world) => nightly(world, { role_arn: role, source_profile: 'bsae' })),
        state: /the AWS profile bsae does not exist$/m,
        hint: /correct source_profile.*the known profiles are nightly$/m,
      },
      {
        when: 'the profiles name each other',
        spoil: only((world) =>
          nightly(
            world,
            { role_arn: role, source_profile: 'base' },
            section('profile base', { role_arn: role, source_profile: 'nightly' }),
          ),
        ),
        state: /the AWS profile nightly refers to itself by source_profile$/m,
        hint: /correct source_profile/,
      },
      {
        when: 'the profile names another kind of source',
        spoil: only((world) => nightly(world, { role_arn: role, credential_source: 'Elsewhere' })),
        state: /the AWS profile nightly has the unknown credential_source Elsewhere$/m,
        hint: /Environment, EcsContainer or Ec2InstanceMetadata/,
      },
      {
        when: 'the role wants a second factor',
        spoil: only((world) =>
          nightly(
            world,
            { role_arn: role, source_profile: 'base', mfa_serial: 'arn:aws:iam::1:mfa/me' },
            section('profile base', { aws_access_key_id: 'a', aws_secret_access_key: 'b' }),
          ),
        ),
        state: /the AWS profile nightly requires multi-factor authentication$/m,
        hint: /a role without mfa_serial/,
      },
    ],
  },
  {
    name: 'a role by keys in variables',
    async setUp(world, keys) {
      const members = { role_arn: role, credential_source: 'Environment', region: 'eu-central-1' }
      return { ...(await nightly(world, members)), ...keyVariables(keys) }
    },
    failures: [
      {
        when: 'the variables are empty',
        spoil: async () => ({ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }),
        state: /the AWS profile nightly uses the keys of the environment, which has none$/m,
        hint: /set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/,
      },
    ],
  },
  {
    name: 'a web identity token that variables name',
    setUp: async (world) => ({
      AWS_WEB_IDENTITY_TOKEN_FILE: await world.write('token', 'a.web.token'),
      AWS_ROLE_ARN: role,
      AWS_REGION: 'eu-central-1',
    }),
    failures: [
      {
        when: 'its file is missing',
        spoil: async () => ({ AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token' }),
        state: /the web identity token file \/nowhere\/token cannot be read \(ENOENT\)$/m,
        hint: /check AWS_WEB_IDENTITY_TOKEN_FILE, and that the token is mounted/,
      },
      {
        when: 'its file is a folder',
        spoil: async ({ home }) => ({ AWS_WEB_IDENTITY_TOKEN_FILE: home }),
        state: /the web identity token file \/.* cannot be read \(EISDIR\)$/m,
        hint: /check AWS_WEB_IDENTITY_TOKEN_FILE/,
      },
      {
        when: 'no role is named',
        spoil: async () => ({ AWS_ROLE_ARN: '' }),
        state: /AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not$/m,
        hint: /set AWS_ROLE_ARN too/,
      },
      {
        when: 'STS does not trust who issued it',
        spoil: only((world) =>
          world.refuse(/^AssumeRoleWith/, 400, stsError('InvalidIdentityToken')),
        ),
        state: /STS refuses the role arn:.*\/backup \(InvalidIdentityToken(Exception)?\)$/m,
        hint: /trust policy of the role: identity provider/,
      },
      {
        when: 'it has expired',
        spoil: only((world) =>
          world.refuse(/^AssumeRoleWith/, 400, stsError('ExpiredTokenException')),
        ),
        state: /STS refuses the role arn:.*\/backup \(ExpiredTokenException\)$/m,
        hint: /a new token/,
      },
      {
        when: 'nothing listens where STS should be',
        spoil: async () => ({ AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:9' }),
        state: /STS cannot be reached \(role arn:.*\/backup, ECONNREFUSED\)$/m,
        hint: /AWS_ENDPOINT_URL_STS/,
      },
    ],
  },
  {
    name: 'a web identity token that a profile names',
    async setUp(world) {
      const file = await world.write('token', 'a.web.token')
      return nightly(world, { role_arn: role, web_identity_token_file: file })
    },
    failures: [
      {
        when: 'its file is missing',
        spoil: only((world) =>
          nightly(world, { role_arn: role, web_identity_token_file: '/nowhere/token' }),
        ),
        state: /the web identity token file \/nowhere\/token cannot be read \(ENOENT\)$/m,
        hint: /check web_identity_token_file in the AWS profile/,
      },
    ],
  },
  {
    name: 'the output of a command',
    async setUp(world, { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey }) {
      const text = JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey })
      return nightly(world, { credential_process: `cat ${await world.write('output', text)}` })
    },
    failures: [
      {
        when: 'the command fails',
        spoil: only((world) =>
          nightly(world, { credential_process: 'cat /nowhere/secret-in-the-command' }),
        ),
        state: /the credential_process of the AWS profile nightly failed$/m,
        hint: /run its command by hand/,
      },
      {
        when: 'it prints something else',
        spoil: only((world) => nightly(world, { credential_process: 'echo secret-output' })),
        state: /the credential_process of the AWS profile nightly does not print JSON$/m,
        hint: /JSON with "Version": 1/,
      },
    ],
  },
  {
    name: 'a session of SSO',
    async setUp(world) {
      await world.writeSso('work', inAnHour())
      const session = section('sso-session work', ssoPlace)
      return nightly(world, { sso_session: 'work', ...ssoRole }, session)
    },
    failures: [
      {
        when: 'the profile names another session',
        spoil: only((world) => nightly(world, { sso_session: 'wrok', ...ssoRole })),
        state: /the AWS profile nightly uses the SSO session wrok, which does not exist$/m,
        hint: /correct sso_session/,
      },
      {
        when: 'it has expired',
        spoil: only((world) => world.writeSso('work', anHourAgo())),
        state: /the SSO session of the AWS profile nightly has expired or does not exist$/m,
        hint: /aws sso login --profile nightly/,
      },
      {
        when: 'the role is refused',
        spoil: only((world) =>
          world.refuse(/^\/federation/, 403, '{"__type":"ForbiddenException","message":"No"}'),
        ),
        state: /SSO refuses the role Backup in account 123456789012$/m,
        hint: /sso_role_name/,
      },
    ],
  },
  {
    name: 'SSO in its older form',
    async setUp(world) {
      await world.writeSso(ssoPlace.sso_start_url, inAnHour())
      return nightly(world, { ...ssoPlace, ...ssoRole })
    },
    failures: [
      {
        when: 'nobody has logged in',
        spoil: only((world) =>
          world.write(
            '.aws/config',
            section('profile nightly', {
              ...ssoRole,
              ...ssoPlace,
              sso_start_url: 'https://example.com/other',
            }),
          ),
        ),
        state: /the SSO session of the AWS profile nightly has expired or does not exist$/m,
        hint: /aws sso login --profile nightly/,
      },
    ],
  },
  {
    name: 'the endpoint of a container',
    setUp: async (world) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: world.containerUrl,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: await world.write('pod-token', 'pod'),
    }),
    failures: [
      {
        when: 'it refuses',
        spoil: only((world) => world.refuse(/^\/container/, 403, '{}')),
        state:
          /credentials endpoint of the container \(AWS_CONTAINER_CREDENTIALS_FULL_URI\) answers with status 403$/m,
        hint: /role of the task or pod/,
      },
      {
        when: 'its address is not allowed',
        spoil: async () => ({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://192.0.2.1/keys' }),
        state: /AWS_CONTAINER_CREDENTIALS_FULL_URI contains an address that is not allowed$/m,
        hint: /use an https/,
      },
    ],
  },
  {
    name: 'the role of a machine',
    setUp: async () => ({ AWS_EC2_METADATA_DISABLED: 'false' }),
    failures: [
      {
        when: 'it has none',
        spoil: only((world) => world.refuse(/security-credentials/, 404, '')),
        state: /the metadata service of this machine answers with status 404$/m,
        hint: /attach a role to the machine/,
      },
      {
        when: 'there is no metadata service',
        spoil: async () => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:9' }),
        state: /no credentials were found$/m,
        hint: /or attach a role$/m,
      },
    ],
  },
]
