import { stringify } from 'yaml'
import type { SecretSource } from '../../config/config.ts'

/** The values of a new configuration. */
export interface InitAnswers {
  readonly baseUrl: string | undefined
  readonly pathPrefix: string | undefined
  /** A number, or the invalid text that was given. */
  readonly accountId: number | string | undefined
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly store: unknown
  readonly token: SecretSource | undefined
  readonly schedule: string | undefined
}

/** Writes a configuration of one account, with comments on what else it may hold. */
export function composeConfig(answers: InitAnswers): string {
  const { baseUrl, pathPrefix, accountId, store, token, schedule } = answers
  return `# Configuration of dashkeep. \`dashkeep config check\` checks it, and \`dashkeep config schema\` prints
# all settings. This file holds no token; each account names the place of its token.

service:
  # Address of the service in the region of the accounts. An account can have its own \`baseUrl\`.
  baseUrl: ${scalar(baseUrl ?? null)}
  # Prefix of the paths of the service. \`dashkeep doctor\` reports when it is needed.
  ${line('pathPrefix', pathPrefix, '/v1')}

accounts:
  - name: default
    # dashkeep refuses a token of another account. \`dashkeep whoami\` prints the id.
    ${line('accountId', accountId, 100001)}
    # The environment variable or file with the API token. Each run reads it again.
    token: ${inline(token ?? null)}

store:
  url: ${scalar(store ?? null)}
  # Region and address of the S3 server, unless AWS_REGION, AWS_ENDPOINT_URL_S3 or the AWS profile set them.
  # region: eu-central-1
  # endpoint: https://s3.example.com

types: [search, visualization, dashboard]

# \`dashkeep prune\` keeps the newest snapshot of each of this many days, weeks and months.
retention:
  daily: 14
  weekly: 8
  monthly: 24

# When \`dashkeep worker\` backs up: minute, hour, day of month, month, day of week.
${section('schedule', { cron: schedule ?? '15 3 * * *', timeZone: 'UTC' }, { isExample: schedule === undefined })}

# Encrypts new files. With recipients (public age keys) instead of a passphrase, backups need no
# secret; only a restore needs the private key.
${section('encryption', { passphrase: { env: 'BACKUP_PASSPHRASE' } }, { isExample: true })}

# Notifications of failures and recoveries. The kinds are webhook, slack and ping.
# notifications: [{ kind: slack, url: { env: SLACK_URL } }]
`
}

/** One setting; without a value it is an example in a comment. */
function line(name: string, value: unknown, example: unknown): string {
  return value === undefined ? `# ${name}: ${scalar(example)}` : `${name}: ${scalar(value)}`
}

/** A section; an example is commented out. */
function section(
  name: string,
  members: Readonly<Record<string, unknown>>,
  { isExample }: { isExample: boolean },
): string {
  const lines = Object.entries(members).map(([member, value]) => `  ${member}: ${inline(value)}`)
  return [`${name}:`, ...lines].map((text) => (isExample ? `# ${text}` : text)).join('\n')
}

/** A value on one line, quoted where YAML requires it. */
function scalar(value: unknown): string {
  return stringify(value, { lineWidth: 0 }).trimEnd()
}

/** A value on one line, with objects as `{ name: value }`. */
function inline(value: unknown): string {
  return stringify(value, { lineWidth: 0, collectionStyle: 'flow' }).trimEnd()
}
