/**
 * Measures dashkeep against plain baselines: `npm run bench`; `-- --help` lists the options.
 *
 * The cases of a group run in turn, round after round, so that other load on the machine affects them
 * equally. Data comes from a seed. The service and every command are separate processes. With
 * `DASHKEEP_BENCH_S3_ENDPOINT` (and AWS credentials), everything is also measured into a bucket. With
 * `DASHKEEP_TEST_CORPUS`, the size of an archive of real objects is measured too.
 */

import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Case, fillCompileCache, programs } from './cases.ts'
import { type Group, makeGroups, type Sizes } from './groups.ts'
import { measure } from './measure.ts'
import { makeBucketPlace, makeFolderPlace, type Place, type Spot } from './place.ts'
import { type CaseResult, formatGroup, type GroupResult, summarize } from './report.ts'
import { firstAccountId, startService, tokenOf } from './service.ts'
import { formatWeb, measureWeb, type WebResult, type WebSizes } from './web.ts'

const help = `npm run bench -- [--runs 5] [--sizes 1,16,128,1024] [--only stream,job,…] [--json]
npm run bench -- --short      takes seconds instead of half an hour; the figures mean nothing

  --only   groups to measure: stream, job, accounts, archive, start, dates, web
  --json   print all measurements as JSON`

const full: Sizes = {
  streamMb: [1, 16, 128, 1024],
  accounts: 1000,
  scriptAccounts: 20,
  snapshots: 10_000,
}
const short: Sizes = { streamMb: [1], accounts: 20, scriptAccounts: 2, snapshots: 50 }
/** Sizes of the archive that the pages show. A bucket on Ceph takes a quarter of an hour to fill. */
const fullWeb: WebSizes = { accounts: 1000, snapshots: 365, objects: 3000, backgroundMs: 25_000 }
const shortWeb: WebSizes = { accounts: 20, snapshots: 20, objects: 300, backgroundMs: 0 }

/** The pages send no request to the service, but the configuration needs an address. */
const noService = {
  DASHKEEP_BASE_URL: 'http://127.0.0.1:9',
  DASHKEEP_API_TOKEN: tokenOf(firstAccountId),
}

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string' },
    sizes: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

// An interrupted bench removes its temporary folder and bucket before it ends.
const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort(new Error('Interrupted')))

if (options.help) console.log(help)
else {
  await bench().catch((error: unknown) => {
    if (!interruption.signal.aborted) throw error
    process.exitCode = 130
  })
}

async function bench(): Promise<void> {
  const runs = Number(options.runs ?? (options.short ? 1 : 5))
  const sizes = options.short ? short : full
  const streamMb = options.sizes?.split(',').map(Number) ?? sizes.streamMb
  const scratch = await mkdtemp(join(tmpdir(), 'dashkeep-bench-'))
  await using places = await makePlaces()
  try {
    await measure(fillCompileCache, { env: environment(scratch) })
    const corpus = options.short ? undefined : process.env.DASHKEEP_TEST_CORPUS
    const groups = await makeGroups(places.list, { sizes: { ...sizes, streamMb }, scratch, corpus })
    const wanted = options.only?.split(',')
    const results: GroupResult[] = []
    if (!options.json) console.log(`${describeMachine()}\n`)
    for (const group of groups.filter(({ kind }) => wanted?.includes(kind) ?? true)) {
      const result = await measureGroup(group, { runs: group.runs ?? runs, scratch })
      results.push(result)
      if (!options.json) console.log(formatGroup(result))
    }
    const pages: WebResult[] = []
    for (const place of (wanted?.includes('web') ?? true) ? places.list : []) {
      console.error(`The web pages, ${place.name}`)
      const webSizes = options.short ? shortWeb : fullWeb
      await using spot = await place.makeSpot()
      const env = { ...environment(scratch), ...noService }
      const result = await measureWeb({ place, spot }, webSizes, env)
      pages.push(result)
      if (!options.json) console.log(formatWeb(result))
    }
    if (options.json) console.log(JSON.stringify({ ...toJson(results), web: pages }, undefined, 2))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function makePlaces(): Promise<{ list: Place[] } & AsyncDisposable> {
  const list = [await makeFolderPlace()]
  const endpoint = process.env.DASHKEEP_BENCH_S3_ENDPOINT
  if (endpoint) list.push(await makeBucketPlace(endpoint))
  else console.error('Left out: S3. Include it with DASHKEEP_BENCH_S3_ENDPOINT and AWS credentials')
  return {
    list,
    async [Symbol.asyncDispose]() {
      for (const place of list) await place[Symbol.asyncDispose]()
    },
  }
}

async function measureGroup(
  group: Group,
  { runs, scratch }: { runs: number; scratch: string },
): Promise<GroupResult> {
  const cores = group.onOneCore ? { command: '0', service: `1-${cpus().length - 1}` } : undefined
  await using service = await startService(group.accounts, { cores: cores?.service })
  await using shared = group.fill ? await group.place.makeSpot() : undefined
  if (shared !== undefined) await group.fill?.(shared)
  const env = {
    ...environment(scratch),
    TOKEN: tokenOf(firstAccountId),
    DASHKEEP_BASE_URL: service.url,
    DASHKEEP_API_TOKEN: tokenOf(firstAccountId),
    DASHKEEP_ACCOUNT_ID: String(firstAccountId),
    ...group.env,
  }
  const cases = await Promise.all(group.cases.map(async (one) => ({ one, ...(await begin(one)) })))
  for (let round = 1; round <= runs; round += 1) {
    console.error(`${group.title}: round ${round} of ${runs}`)
    for (const { one, result } of cases) {
      if (result.missing.length > 0) continue
      await using own = shared === undefined ? await group.place.makeSpot() : undefined
      const spot = (shared ?? own) as Spot
      const options = {
        env: { ...env, ...spot.env },
        cores: cores?.command,
        signal: interruption.signal,
      }
      if (one.before !== undefined) await measure(one.before, options)
      const measured = await measure(one.command, options)
      const storedBytes = one.storesNothing ? 0 : await spot.storedBytes()
      if (storedBytes === 0 && !one.storesNothing) throw new Error(`${one.name} stored nothing`)
      result.runs.push({ ...measured, storedBytes })
    }
  }
  return { title: group.title, cases: cases.map(({ result }) => result) }
}

async function begin({ name, accounts, needs = [] }: Case) {
  const found = await Promise.all(needs.map(isThere))
  const missing = needs.filter((_, place) => !found[place])
  const runs: CaseResult['runs'][number][] = []
  return { result: { name, accounts, missing, runs } }
}

async function isThere(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return true
  }
  return false
}

/** Environment of every command. */
function environment(scratch: string): Record<string, string> {
  return {
    ...inherited(),
    ...programs,
    SCRATCH: scratch,
    COMPILE_CACHE: join(scratch, 'compile-cache'),
    XDG_CACHE_HOME: scratch,
    DASHKEEP_LOG_LEVEL: 'error',
  }
}

/** Environment variables that commands inherit: for programs and credentials. */
function inherited(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    ([name]) => ['PATH', 'HOME', 'TMPDIR'].includes(name) || name.startsWith('AWS_'),
  )
  return Object.fromEntries(given) as Record<string, string>
}

function describeMachine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${memory} GB, ${process.platform} ${release()}, Node ${process.versions.node}`
}

function toJson(groups: readonly GroupResult[]): object {
  return {
    machine: describeMachine(),
    takenAt: new Date().toISOString(),
    groups: groups.map(({ title, cases }) => ({
      title,
      cases: cases.map((result) => ({
        ...result,
        ...summarize(result, cases[0] ?? result),
      })),
    })),
  }
}
