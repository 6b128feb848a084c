import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.ts'

/** A command to measure, or a baseline. */
export interface Case {
  readonly name: string
  /**
   * Shell commands. `DASHKEEP_BASE_URL` and `TOKEN` name the service, `TARGET` names where to store.
   */
  readonly command: string
  /** Commands that run first and are not measured. */
  readonly before?: string
  /** Required programs. The case is skipped without them. */
  readonly needs?: readonly string[]
  /** Number of accounts. The time is divided by it. */
  readonly accounts?: number
  /** Whether the command stores nothing. */
  readonly storesNothing?: boolean
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Environment of every command. */
export const programs = {
  NODE: process.execPath,
  DASHKEEP: script('../dist/main.cjs'),
  WHOLE_JOB: script('whole-job.sh'),
  FILL_COMPILE_CACHE: script('../build/fill-compile-cache.sh'),
  RESTIC_PASSWORD: 'bench',
}

const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')
const [, imageEnv = ''] = /^ENV (.+)$/m.exec(dockerfile) ?? []

/** The environment of the image, whose compile cache lies in the folder `$COMPILE_CACHE`. */
const environment = imageEnv.replace('/app/compile-cache', '"$COMPILE_CACHE"')

/** The command line of the image. */
export function dashkeep(verb: string): string {
  return `${environment} "$NODE" "$DASHKEEP" ${verb}`
}

const containerMiB = 256

/** The same as in a container of 256 MiB: Node takes its share for objects from that. */
export function dashkeepInContainer(verb: string): string {
  return dashkeep(verb).replace(
    /--max-old-space-size-percentage=(\d+)/,
    (_, percentage) => `--max-old-space-size=${(containerMiB * percentage) / 100}`,
  )
}

/** Fills the compile cache as the build of the image does. */
export const fillCompileCache = `${environment} PATH="$(dirname "$NODE"):$PATH" sh "$FILL_COMPILE_CACHE" "$DASHKEEP"`

export const emptyNode: Case = { name: 'empty Node', command: '"$NODE" -e 0', storesNothing: true }

function curlExport(type: string): string {
  return `curl -sSf -H "X-API-TOKEN: $TOKEN" -H 'Content-Type: application/json' -d '{"type":"${type}"}' "$DASHKEEP_BASE_URL/kibana/export"`
}

/** One export from the service to the place. */
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

/** The whole backup of one small account. */
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

/** Many accounts: dashkeep with all and with a tenth, the shell script with a few. */
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

/** Verbs on an archive of many snapshots. */
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

/** Start-up time. */
export function startCases(): Case[] {
  return [
    { name: 'dashkeep --help', command: dashkeep('--help'), storesNothing: true },
    { name: 'dashkeep list', before: dashkeep('backup'), command: dashkeep('list') },
    emptyNode,
  ]
}

/** Every date of a real history in turn, to measure the size of the archive. */
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
