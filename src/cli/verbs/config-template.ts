import { stringify } from 'yaml'
import type { SecretSource } from '../../config/config.ts'

/** What a new configuration is made of. */
export interface InitAnswers {
  readonly baseUrl: string | undefined
  readonly pathPrefix: string | undefined
  /** A number, or what was said in its place. */
  readonly accountId: number | string | undefined
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly store: unknown
  readonly token: SecretSource | undefined
  readonly schedule: string | undefined
}

/** Writes a configuration of one account, with comments on what else it may hold. */
export function composeConfig(answers: InitAnswers): string {
  const { baseUrl, pathPrefix, accountId, store, token, schedule } = answers
  return `# Configuration of dashkeep. \`dashkeep config check\` checks it, \`dashkeep config schema\` prints
# everything that it may hold. No token stands here: an account says where its token is.

service:
  # Address of the service in the region of the accounts; an account may have a \`baseUrl\` of its own.
  baseUrl: ${scalar(baseUrl ?? null)}
  # Stands before the paths; \`dashkeep doctor\` says when it is needed.
  ${line('pathPrefix', pathPrefix, '/v1')}

accounts:
  - name: default
    # A token of any other account is refused. \`dashkeep whoami\` says the id.
    ${line('accountId', accountId, 100001)}
    # The variable or file that holds the API token, read anew for each run.
    token: ${inline(token ?? null)}

store:
  url: ${scalar(store ?? null)}
  # Where the S3 server is, unless AWS_REGION, AWS_ENDPOINT_URL_S3 or the AWS profile say it.
  # region: eu-central-1
  # endpoint: https://s3.example.com

types: [search, visualization, dashboard]

# What \`dashkeep prune\` keeps: the newest snapshot of so many days, weeks and months.
retention:
  daily: 14
  weekly: 8
  monthly: 24

# When \`dashkeep worker\` backs up: minute, hour, day of month, month, day of week.
${section('schedule', { cron: schedule ?? '15 3 * * *', timeZone: 'UTC' }, schedule !== undefined)}

# Encrypts new files. With recipients, public age keys, in place of a passphrase, a backup needs
# no secret, and only whoever restores needs the private key.
${section('encryption', { passphrase: { env: 'BACKUP_PASSPHRASE' } }, false)}

# Whom to tell of failures and recoveries. The kinds are webhook, slack and ping.
# notifications: [{ kind: slack, url: { env: SLACK_URL } }]
`
}

/** One member; commented out with an example when nothing was said. */
function line(name: string, value: unknown, example: unknown): string {
  return value === undefined ? `# ${name}: ${scalar(example)}` : `${name}: ${scalar(value)}`
}

/** A section; commented out when it is an example. */
function section(
  name: string,
  members: Readonly<Record<string, unknown>>,
  isMeant: boolean,
): string {
  const lines = Object.entries(members).map(([member, value]) => `  ${member}: ${inline(value)}`)
  return [`${name}:`, ...lines].map((text) => (isMeant ? text : `# ${text}`)).join('\n')
}

/** A value in one line, quoted where YAML needs that. */
function scalar(value: unknown): string {
  return stringify(value, { lineWidth: 0 }).trimEnd()
}

/** A value in one line, objects as `{ name: value }`. */
function inline(value: unknown): string {
  return stringify(value, { lineWidth: 0, collectionStyle: 'flow' }).trimEnd()
}
