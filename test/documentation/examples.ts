import { cp, mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { accountsOf, runDashkeep } from '../e2e/run-dashkeep.ts'
import { ownAuthorityFile } from '../http/tls-front.ts'
import { checkout } from './blocks.ts'
import { withoutCluster } from './cluster.ts'
import { kubernetesExamples } from './kubernetes-examples.ts'
import { promotionExamples } from './promotion-examples.ts'
import { isInstalled, runShell } from './shell.ts'
import { deleteDashboard, type World } from './world.ts'

/** What is changed in a block, and where and with what it runs. */
export interface Setting {
  readonly replace?: Readonly<Record<string, string>>
  /** Variables beside those of every shell. */
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  /** Done once `until` is in the output, before Ctrl-C. */
  readonly meanwhile?: () => Promise<void>
}

/** How a block of commands is run, and what comes of it. */
export interface Run {
  /** Programs that not every machine has; with `docker` it takes minutes. */
  readonly needs?: readonly string[]
  readonly set?: (world: World) => Setting | Promise<Setting>
  /** Whether each line is for a shell of its own. */
  readonly eachLine?: boolean
  /** For what runs until it is told to stop: what it says once it works. */
  readonly until?: RegExp
  /** Default: 0. */
  readonly exitCode?: number
  readonly says: readonly RegExp[]
}

/** Compose as a plugin of Docker, or as Debian 12 has it. */
const project = '--project-name dashkeep --file config/compose.yaml'
const compose = isInstalled('docker-compose') ? 'docker-compose' : 'docker compose'

/** A run for each block by how it begins, or the reason why there is none. */
export const examples: Readonly<Record<string, Run | string>> = {
  'dashkeep backup': {
    set: ({ account }) => ({ env: account, replace: { ' --account production': '' } }),
    says: [
      /^ACCOUNT +RESULT +SNAPSHOT +OBJECTS +STORED +CHANGES\n/m,
      /^verified \d+ snapshots with \d+ stored files, .* read: every file matches its manifest$/m,
      /^search:failed-orders {2}Failed orders\n\n.* appeared\n {4}as "Failed orders"$/m,
      /^From snapshot .* of account 100001 \(Shop\), taken .*\nInto account 100001 \(Shop\) at /m,
    ],
  },

  'npm ci --loglevel=error && npm run demo': '.ci/run begins with it',

  'npm run build && npm link': {
    needs: ['docker'],
    set: ({ folder, shell }) => {
      const linked = join(folder, 'linked')
      return {
        folder: checkout,
        env: { npm_config_prefix: linked, PATH: `${checkout}/node_modules/.bin:${shell.PATH}` },
        // Twice, since npm makes the program executable when it links it.
        replace: {
          'npm run build': 'shopt -s expand_aliases; npm run build',
          '# with Node 24 or newer': `&& npm run build && ${linked}/bin/dashkeep --version`,
          '# with an older Node, after the build': '\ndashkeep --version',
        },
      }
    },
    says: [/(^\d+\.\d+\.\d+\n){2}/m],
  },

  'export DASHKEEP_BASE_URL=https://api.example.com': {
    set: ({ account, trial }) => ({
      env: { DASHKEEP_PATH_PREFIX: '/v1' },
      replace: {
        'https://api.example.com': `${account.DASHKEEP_BASE_URL}`,
        '=…': `=${account.DASHKEEP_API_TOKEN}`,
        '/var/backups/dashkeep': trial.archive,
      },
    }),
    says: [/^ok +store delete/m, /^1 of 1 account in file:/m],
  },

  'dashkeep config init --base-url https://api.example.com --store ./backups --token-env DASHKEEP_API_TOKEN':
    {
      set: ({ account }) => ({
        env: { DASHKEEP_API_TOKEN: `${account.DASHKEEP_API_TOKEN}`, DASHKEEP_PATH_PREFIX: '/v1' },
        replace: { 'https://api.example.com': `${account.DASHKEEP_BASE_URL}` },
      }),
      says: [/^wrote dashkeep\.yaml$/m, /^1 of 1 account in file:.*\/backups$/m],
    },

  'export DASHKEEP_STORE=s3://backups/dashkeep': {
    set: ({ account, bucket }) => ({
      env: { ...account, ...bucket },
      replace: {
        's3://backups/dashkeep': `${bucket.DASHKEEP_STORE}`,
        'https://s3.example.com': `${bucket.AWS_ENDPOINT_URL_S3}`,
      },
    }),
    says: [/^1 of 1 account in s3:/m],
  },

  'docker build -t dashkeep .': {
    needs: ['docker'],
    set: ({ account, bucket }) => ({
      folder: checkout,
      env: { ...account, ...bucket, AWS_REGION: 'us-east-1' },
      replace: { 'docker run': 'docker run --network host' },
    }),
    says: [/^verified \d snapshots/m, /^1 of 1 account in s3:/m],
  },

  'docker run --rm --read-only --user "$(id -u):$(id -g)" -v /var/backups/dashkeep:/var/backups/dashkeep':
    {
      needs: ['docker'],
      set: async ({ account, folder }) => ({
        env: account,
        replace: {
          'docker run': 'docker run --network host',
          '/var/backups/dashkeep:': `${await mkdtemp(join(folder, 'backups-'))}:`,
        },
      }),
      says: [/^1 of 1 account in file:\/\/\/var\/backups\/dashkeep/m],
    },

  'docker compose --project-name dashkeep --file config/compose.yaml up --build': {
    needs: ['docker'],
    set: (world) => ({
      folder: checkout,
      replace: { 'docker compose': `trap '${compose} ${project} down' EXIT; ${compose}` },
      meanwhile: () => useComposed(world),
    }),
    until: /"exitCode":0,"msg":"run ended"/,
    exitCode: 0,
    says: [/"msg":"schedule started"/],
  },

  "export DASHKEEP_SCHEDULE='15 3 * * *' DASHKEEP_TIME_ZONE=Europe/Berlin": {
    set: ({ account, receiver }) => ({
      env: { ...account, DASHKEEP_LISTEN: '127.0.0.1:0' },
      replace: { 'https://hc-ping.com/…': `${receiver.url}/ping` },
    }),
    until: /"msg":"schedule started"/,
    exitCode: 130,
    says: [/"msg":"stopped"/],
  },

  'dashkeep status --listen 127.0.0.1:5337 --max-age 26h': {
    set: ({ account }) => ({ env: account, replace: { '127.0.0.1:5337': '127.0.0.1:0' } }),
    until: /"msg":"archive read"/,
    exitCode: 130,
    says: [/"msg":"exporter started"/, /"msg":"stopped"/],
  },

  'dashkeep web --max-age 26h': {
    set: ({ account }) => ({
      env: account,
      replace: { 'dashkeep web': 'dashkeep web --listen 127.0.0.1:0' },
    }),
    until: /Ctrl-C/,
    exitCode: 130,
    says: [/^ {2}http:\/\/127\.0\.0\.1:\d+\/open\?token=/m],
  },

  'dashkeep web --allow-restore': {
    set: ({ account }) => ({
      env: account,
      replace: { 'dashkeep web': 'dashkeep web --listen 127.0.0.1:0' },
    }),
    until: /Ctrl-C/,
    exitCode: 130,
    says: [/^The pages can restore objects, and are served until you press Ctrl-C\.$/m],
  },

  'dashkeep web --listen 0.0.0.0:5338 --behind-proxy https://dashkeep.example.com --user-header X-Forwarded-User':
    {
      set: ({ account }) => ({ env: account, replace: { '0.0.0.0:5338': '127.0.0.1:0' } }),
      until: /Ctrl-C/,
      exitCode: 130,
      says: [/^The pages are served at https:\/\/dashkeep\.example\.com\/ /m],
    },

  'dashkeep status --max-age 26h --ping': {
    set: ({ account, receiver }) => ({
      env: { ...account, DASHKEEP_PING_URL: `${receiver.url}/ping` },
      replace: { 'dashkeep status': 'dashkeep backup && dashkeep status' },
    }),
    says: [/^ *100001 +Shop +good /m],
  },

  'dashkeep sandbox': {
    set: async ({ account, folder }) => {
      for (const name of ['production', 'staging']) {
        await runDashkeep(['restore', '--to', join(folder, name)], { env: account })
      }
      return { folder }
    },
    eachLine: true,
    until: /^Try it in another shell:\n.* dashkeep backup /m,
    exitCode: 130,
    says: [/^ {2}account \d+ \(/m],
  },

  "dashkeep history 'Shop overview'": {
    set: ({ account, daysAgo }) => ({
      env: account,
      // The archive has one account.
      replace: { ' -a production --other-account staging': '', '2026-11-01': daysAgo(3) },
    }),
    says: [
      /disappeared/,
      /^ {2}- dashboard:shop-overview/m,
      /^to +the service/m,
      /^search:failed-orders/m,
      /"title": "Shop overview"/,
    ],
  },

  "dashkeep restore '3 days ago' --object 'Shop overview' --to-service --dry-run": {
    set: ({ account, trial }) => {
      deleteDashboard(trial)
      return { env: account }
    },
    says: [/^create +1 /m, /^restored 1 of 1 object, confirmed by a fresh export/m],
  },

  'dashkeep restore --pretty ./objects --git --all': {
    needs: ['git'],
    set: ({ account }) => ({ env: account }),
    says: [/^\d+ commits?; /m, /^ +Shop: 1 removed$/m],
  },

  'dashkeep copy --to ./second-copy': {
    set: ({ account, folder }) => ({ folder, env: account }),
    says: [/^copied \d+ snapshots? /m, /^verified \d+ snapshots? /m],
  },

  'dashkeep report --since 90d': {
    set: ({ account, folder }) => ({ folder, env: account }),
    says: [/^# Backup report, /m, /^\| Shop \(100001\) \| /m],
  },

  'dashkeep prune --keep-daily 7 --keep-weekly 4 --keep-monthly 12': {
    set: ({ account }) => ({ env: account }),
    says: [/^keep +100001 /m],
  },

  'age-keygen -o key.txt': {
    needs: ['age', 'zstd', 'jq'],
    set: async ({ account, folder }) => {
      const archive = await mkdtemp(join(folder, 'encrypted-'))
      return {
        folder,
        env: { ...account, DASHKEEP_STORE: pathToFileURL(archive).href },
        replace: { '/var/backups/dashkeep/100001/20261120T163100Z-4f2a1c': `${archive}/*/*` },
      }
    },
    says: [/^verified 1 snapshot with 3 stored files, [^\n]* matches its manifest$/m, /"hits": \[/],
  },

  'dashkeep accounts update 100011 --retention-days 14': {
    set: ({ account }) => ({ env: account }),
    // Here nobody can be asked, so nothing changes.
    exitCode: 2,
    says: [/^Sub account 100011 \(Team A\)\n {2}~ retentionDays: 7 → 14\n/m],
  },

  'dashkeep accounts move-capacity --from 100011 --to 100012 --gb 2': {
    set: ({ account }) => ({ env: account }),
    // Here nobody can be asked, so nothing changes.
    exitCode: 2,
    says: [
      /^2 +increase +100012 +Team B +1 +3\nIn total 6 GB per day before and 6 after; never more in between/m,
    ],
  },

  ...kubernetesExamples,
  ...promotionExamples,

  'kubectl --namespace dashkeep create secret generic dashkeep-tokens --from-file=./tokens': {
    needs: ['kubectl'],
    set: withoutCluster,
    says: [/^secret\/dashkeep-tokens$/m, /^secret\/dashkeep-s3$/m, /^kind: CronJob$/m],
  },

  'npm ci': '.ci/run runs each of these commands',

  'npx vitest run test/architecture.test.ts': 'each runs a part of the suite that runs this test',

  'export HTTPS_PROXY=http://user:password@proxy.example.com:3128':
    'it only sets variables; test/e2e/proxy.test.ts and tinyproxy.test.ts use them',

  'docker run --rm -e HTTPS_PROXY -e NO_PROXY -e NODE_EXTRA_CA_CERTS=/etc/ssl/authority.pem': {
    needs: ['docker'],
    set: async ({ account, bucket, folder, tlsPort }) => {
      await cp(ownAuthorityFile, join(folder, 'authority.pem'))
      return {
        folder,
        env: {
          ...account,
          ...bucket,
          DASHKEEP_BASE_URL: `https://localhost:${tlsPort}`,
          // To the archive it is another service.
          DASHKEEP_STORE: `${bucket.DASHKEEP_STORE}/over-tls`,
        },
        replace: {
          '…': [
            '--network host -e DASHKEEP_BASE_URL -e DASHKEEP_PATH_PREFIX -e DASHKEEP_API_TOKEN',
            '-e DASHKEEP_STORE -e AWS_ENDPOINT_URL_S3 -e AWS_ACCESS_KEY_ID -e AWS_SECRET_ACCESS_KEY',
          ].join(' '),
        },
      }
    },
    says: [/^1 of 1 account in s3:/m],
  },

  'aws s3 ls s3://backups/dashkeep/100001/': {
    needs: ['aws', 'zstd', 'jq'],
    set: async (world) => ({
      env: world.bucket,
      replace: {
        ...(await inBucket(world)),
        's3://backups/dashkeep': `${world.bucket.DASHKEEP_STORE}`,
      },
    }),
    says: [/^ +PRE \d{8}T\d{6}Z-[\da-f]{6}\/$/m, /^null$/m, /^Payments$/m],
  },

  'npm run bench': '.ci/run measures less of it: npm run bench -- --short',

  'npm run bench -- --only job,start --runs 7': 'it is a part of npm run bench',

  "aws s3 cp s3://bucket/prefix/100001/20261120T163100Z-4f2a1c/dashboard.json.zst - | zstd -dc | jq '.hits | length'":
    {
      needs: ['aws', 'zstd', 'jq'],
      set: async (world) => ({
        env: world.bucket,
        replace: {
          ...(await inBucket(world)),
          's3://bucket/prefix': `${world.bucket.DASHKEEP_STORE}`,
        },
      }),
      says: [/^\d+$/m],
    },

  'sha256sum dashboard.json.zst': {
    needs: ['zstd'],
    set: ({ snapshotFolder }) => ({ folder: snapshotFolder }),
    says: [/^[\da-f]{64} {2}dashboard\.json\.zst\n[\da-f]{64} {2}-\n$/],
  },

  "sed '$d' manifest.json | sed '$d' | sha256sum": {
    set: ({ snapshotFolder }) => ({ folder: snapshotFolder }),
    says: [/^([\da-f]{64}) {2}-\n {2}"sha256": "\1"\n\}\n$/],
  },
}

/** Takes a snapshot with files of its own into the bucket, and names it and its server to aws. */
async function inBucket({ account, bucket }: World): Promise<Record<string, string>> {
  const { stdout } = await runDashkeep(['backup', '--full', '--json'], {
    env: { ...account, ...bucket },
  })
  const [{ snapshot = '' } = {}] = accountsOf(stdout)
  return {
    // Versions before 2.13 know no variable for it.
    'aws s3': `aws --endpoint-url ${bucket.AWS_ENDPOINT_URL_S3} s3`,
    '20261120T163100Z-4f2a1c': String(snapshot),
  }
}

/** Types what the head of the compose file says can be typed while all of it runs. */
async function useComposed({ shell }: World): Promise<void> {
  const content = await readFile(join(checkout, 'config/compose.yaml'), 'utf8')
  const commands = [...content.matchAll(/^# {3}(.*)$/gm)].map(([, command = '']) => command)
  const script = commands.filter((command) => !/ (up|down) /.test(command)).join('\n')
  const signal = AbortSignal.timeout(60_000)
  const options = { env: shell, folder: checkout, signal }
  const { exitCode, output } = await runShell(script.replaceAll('docker compose', compose), options)
  expect(exitCode, output).toBe(0)
  expect(output).toMatch(/^1 snapshot in s3:\/\/backups\/dashkeep$/m)
  expect(output).toMatch(/^dashkeep_last_run_success\{account="default"\} 1$/m)
  const [address = ''] = /http:\/\/127\.0\.0\.1:5338\/open\S+/.exec(output) ?? []
  const opened = await fetch(address, { redirect: 'manual', signal })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = await fetch(new URL('/refresh', address), { headers: { cookie }, signal })
  expect(await page.text()).toContain('The account has a good backup.')
}
