import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.ts'

/** A command to measure, or one to measure it against. */
export interface Case {
  readonly name: string
  /**
   * Commands of the shell. They find the service in `DASHKEEP_BASE_URL` and `TOKEN`, and in `TARGET` where
   * to store.
   */
  readonly command: string
  /** What must have been done before, unmeasured. */
  readonly before?: string
  /** Programs without which it is skipped. */
  readonly needs?: readonly string[]
  /** Accounts it does; its time is divided by them. */
  readonly accounts?: number
  /** Nothing need lie in the place afterwards. */
  readonly storesNothing?: boolean
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** What every command finds in its environment, to be found again on any machine. */
export const programs = {
  NODE: process.execPath,
  DASHKEEP: script('../dist/main.js'),
  WHOLE_JOB: script('whole-job.sh'),
  RESTIC_PASSWORD: 'bench',
}

const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')
const [, imageEnv = ''] = /^ENV (.+)$/m.exec(dockerfile) ?? []

/** As the image runs it. */
export function dashkeep(verb: string): string {
  return `${imageEnv} "$NODE" "$DASHKEEP" ${verb}`
}

export const emptyNode: Case = { name: 'empty Node', command: '"$NODE" -e 0', storesNothing: true }

function curlExport(type: string): string {
  return `curl -sSf -H "X-API-TOKEN: $TOKEN" -H 'Content-Type: application/json' -d '{"type":"${type}"}' "$DASHKEEP_BASE_URL/kibana/export"`
}

/** One export from the service into the place. */
export function streamCases(place: Place): Case[] {
  const [put, uploader] =
    place.name === 'S3'
      ? (['| aws s3 cp --quiet - "$TARGET/search"', ['aws']] as const)
      : (['> "$TARGET/search"', []] as const)
  const then = place.name === 'S3' ? ' | aws s3 cp -' : ''
  const receive = curlExport('search')
  return [
    { name: 'dashkeep backup', command: dashkeep('backup') },
    {
      name: `curl | zstd -3${then}`,
      command: `${receive} | zstd -q -3 ${put}`,
      needs: ['curl', 'zstd', ...uploader],
    },
    {
      name: `curl | gzip -6${then}`,
      command: `${receive} | gzip -6 ${put}`,
      needs: ['curl', 'gzip', ...uploader],
    },
    { name: `curl${then}`, command: `${receive} ${put}`, needs: ['curl', ...uploader] },
    {
      name: 'curl | restic',
      before: 'restic -q init',
      command: `${receive} | restic -q backup --stdin --stdin-filename search.json`,
      needs: ['curl', 'restic'],
    },
  ]
}

/** Everything that is done for one small account. */
export function jobCases(place: Place): Case[] {
  const types = ['search', 'visualization', 'dashboard']
  const exports = types.map((type) => `${curlExport(type)} > "$SCRATCH/${type}.json"`)
  return [
    { name: 'dashkeep backup, the first', command: dashkeep('backup') },
    {
      name: 'dashkeep backup, nothing changed',
      before: dashkeep('backup'),
      command: dashkeep('backup'),
    },
    wholeJob(place, 'shell script'),
    {
      name: 'curl and restic',
      before: 'restic -q init',
      command: `${exports.join(' && ')} && cd "$SCRATCH" && restic -q backup ${types.map((type) => `${type}.json`).join(' ')}`,
      needs: ['curl', 'restic'],
    },
    emptyNode,
  ]
}

function wholeJob(place: Place, name: string): Case {
  const uploader = place.name === 'S3' ? ['aws'] : []
  return { name, command: 'bash "$WHOLE_JOB"', needs: ['curl', 'zstd', ...uploader] }
}

/** Many accounts: dashkeep with all and with a tenth of them, the shell script with a few. */
export function accountsCases(place: Place, accounts: number, scriptAccounts: number): Case[] {
  const tenth = Math.ceil(accounts / 10)
  const { command, ...rest } = wholeJob(place, `shell script, ${scriptAccounts} accounts in turn`)
  return [
    { name: `dashkeep backup, ${accounts} accounts`, command: dashkeep('backup'), accounts },
    {
      name: `dashkeep backup, ${tenth} accounts`,
      command: dashkeep(`backup --account $(printf 'account-%s ' $(seq ${tenth}))`),
      accounts: tenth,
    },
    {
      ...rest,
      command: `for number in $(seq ${scriptAccounts}); do name=TOKEN_$number; TOKEN=\${!name} ${command} || exit; done`,
      accounts: scriptAccounts,
    },
  ]
}

/** Verbs over an archive of many snapshots. */
export function archiveCases(): Case[] {
  const verbs = [
    'list',
    'status',
    'prune --keep-daily 7 --keep-monthly 12',
    'history search:orders',
  ]
  return [
    ...verbs.map((verb) => ({ name: `dashkeep ${verb}`, command: dashkeep(`${verb} --json`) })),
    emptyNode,
  ]
}

/** How long it takes before anything is done. */
export function startCases(): Case[] {
  return [
    { name: 'dashkeep --help', command: dashkeep('--help'), storesNothing: true },
    { name: 'dashkeep list', before: dashkeep('backup'), command: dashkeep('list') },
    emptyNode,
  ]
}

/** Every date of a real history, one after the other: what lies in the archive at the end. */
export function datesCases(): Case[] {
  const eachDate = (command: string) =>
    `dates=$(mktemp -d -p "$SCRATCH") && tar --zstd -xf "$HISTORY" -C "$dates" && for date in "$dates"/*; do ${command} || exit; done && rm -r "$dates"`
  const put =
    'for type in search visualization dashboard; do curl -sSf -X PUT --data-binary "@$date/$type.json" "$DASHKEEP_BASE_URL/_sandbox/accounts/$DASHKEEP_ACCOUNT_ID/objects/$type" || exit; done'
  return [
    {
      name: 'dashkeep backup of each date',
      command: eachDate(`${put}; ${dashkeep('backup --accept-fall')}`),
      needs: ['curl', 'tar', 'zstd'],
    },
    {
      name: 'restic backup of each date',
      before: 'restic -q init',
      command: eachDate('(cd "$date" && restic -q backup .)'),
      needs: ['restic', 'tar', 'zstd'],
    },
  ]
}
