import { cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runCli } from '../../src/cli/run.ts'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { unpackHistory } from '../corpus/corpus.ts'
import { accountsFrom, shop, shopId, startTrial, type Trial, types } from '../e2e/trial.ts'

/** The time that the pages show as now. */
export const now = new Date('2026-11-20T09:30:00Z')
/** The dashboard that somebody deleted on 1 August, with a visualization that only it shows. */
export const deleted = ['dashboard:payments', 'visualization:declined-by-reason']
/** Dates of the real history between which a dashboard was rebuilt, and that dashboard. */
export const realDates = ['2020-09-10', '2020-11-23'] as const
export const rebuilt = 'dashboard:Metricbeat-Nats-Dashboard-ecs'

const hourMs = 3600_000
const dayMs = 24 * hourMs
/** On this day a panel of this dashboard was moved, one removed and one resized. */
export const rearranged = 'dashboard:shop-overview'
const rearrangedOn = new Date('2026-11-16T00:00:00Z')
const deletedOn = new Date('2026-08-01T00:00:00Z')

/** The pages of an archive, and the service behind it. */
export interface Site extends AsyncDisposable {
  readonly trial: Trial
  /** The address with the one-time token. */
  readonly address: string
}

/**
 * The pages of `production` over a year, in which a dashboard is deleted; of `staging`, whose newest
 * snapshot is suspect; and of `warehouse`, which is stale and was never proven. A copy lacks the
 * snapshots of two days.
 */
export async function openSite(options: readonly string[] = []): Promise<Site> {
  const trial = await startTrial({
    form: 'deployed',
    accounts: [shop(), ...accountsFrom([accounts.warehouse])],
  })
  return serve(trial, ['--max-age', '26h', '--max-proof-age', '8d', ...options], () =>
    fillYear(trial),
  )
}

/** The pages of a real account at two dates. */
export async function openRealSite(): Promise<Site> {
  const trial = await startTrial()
  return serve(trial, [], async () => {
    const history = join(trial.folder, 'history')
    await mkdir(history)
    await unpackHistory(history)
    for (const date of realDates) {
      for (const type of types) {
        const document = await readFile(join(history, date, `${type}.json`))
        trial.sandbox.setObjects(shopId, type, document)
      }
      const { exitCode, stderr } = await trial.runAt(new Date(date), ['backup', '--accept-fall'])
      if (exitCode !== 0) throw new Error(`backup ended with ${exitCode}: ${stderr}`)
    }
  })
}

async function serve(
  trial: Trial,
  options: readonly string[],
  fill: () => Promise<void>,
): Promise<Site> {
  await using stack = new AsyncDisposableStack()
  stack.use(trial)
  await fill()
  trial.setServiceClock(() => now)
  const { address } = stack.use(await servePages(trial, options))
  const kept = stack.move()
  return { trial, address, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Starts `dashkeep web` with a clock that stands still. Disposing ends it as Ctrl-C does. */
export async function servePages(
  { env }: Pick<Trial, 'env'>,
  options: readonly string[],
): Promise<{ readonly address: string } & AsyncDisposable> {
  const end = new AbortController()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const io = { env, stdout, stderr, signal: end.signal, now: () => now }
  const finished = runCli(['web', '--listen', '127.0.0.1:0', '--json', ...options], io)
  const failed = finished.then((code) => {
    throw new Error(`web ended with ${code}: ${stderr.read()}`)
  })
  const said = await Promise.race([stdout.find(() => true), failed])
  return {
    address: (JSON.parse(String(said)) as { address: string }).address,
    async [Symbol.asyncDispose]() {
      end.abort()
      await finished
    },
  }
}

const accounts = { production: shopId, staging: 100002, warehouse: 100007 }
type Account = keyof typeof accounts
type SampleHit = ReturnType<typeof sampleObjects>['search'][number]

async function fillYear(trial: Trial): Promise<void> {
  const { sandbox, env } = trial
  const tokens = Object.values(accounts).map((id) => [`TOKEN_${id}`, sandbox.tokens(id)[0]])
  const configured = {
    service: { baseUrl: sandbox.url, pathPrefix: sandbox.pathPrefix },
    accounts: Object.entries(accounts).map(([name, accountId]) => ({
      name,
      accountId,
      token: { env: `TOKEN_${accountId}` },
    })),
    store: { url: env.DASHKEEP_STORE },
  }
  Object.assign(env, Object.fromEntries(tokens), {
    DASHKEEP_CONFIG: await trial.write('dashkeep.yaml', configured),
    DASHKEEP_BASE_URL: undefined,
    DASHKEEP_API_TOKEN: undefined,
  })
  for (const daysAgo of daysOfYear()) {
    const time = new Date(now.getTime() - daysAgo * dayMs - 2 * hourMs)
    changeObjects(trial, time)
    if (daysAgo === 1)
      await cp(fileURLToPath(env.DASHKEEP_STORE ?? ''), join(trial.folder, 'offsite'), {
        recursive: true,
      })
    await backUp(trial, time, namesOn(daysAgo), daysAgo === 0 ? 3 : 0)
  }
  await run(trial, new Date(now.getTime() - 5 * dayMs), ['verify', '--record', '-a', 'production'])
  const drill = ['restore', '--drill', '--record', '-a', 'staging']
  await run(trial, new Date(now.getTime() - 4 * dayMs), drill)
  // Configured last, so that it lacks the snapshots of two days.
  const url = pathToFileURL(join(trial.folder, 'offsite')).href
  await trial.write('dashkeep.yaml', { ...configured, copies: [{ name: 'offsite', url }] })
}

/** Days before now with a backup: one a week, and each of the last seven weeks. */
function daysOfYear(): number[] {
  const weekly = Array.from({ length: 45 }, (_, week) => 7 * (week + 7)).toReversed()
  return [...weekly, ...Array.from({ length: 49 }, (_, day) => 48 - day)]
}

/** The backup of `warehouse` has not run for three days; the others exist for two weeks. */
function namesOn(daysAgo: number): Account[] {
  if (daysAgo > 14) return ['production']
  return daysAgo < 3 ? ['production', 'staging'] : ['production', 'staging', 'warehouse']
}

/** Sets what the service holds at a time. */
function changeObjects({ sandbox }: Trial, time: Date): void {
  for (const [type, hits] of Object.entries(sampleObjects())) {
    const present = hits.filter(({ _id }) => time < deletedOn || !deleted.includes(_id))
    const changed = time < rearrangedOn ? present : present.map(rearrange)
    sandbox.setObjects(
      shopId,
      type,
      changed.map((hit) => retitle(hit, time)),
    )
  }
  if (time > new Date(now.getTime() - dayMs)) sandbox.setObjects(accounts.staging, 'search', [])
}

/** Gives a search another description a few times a month. */
function retitle(hit: SampleHit, time: Date): SampleHit {
  const part = Math.floor(time.getUTCDate() / 8)
  const isChanged = hit._id === 'search:failed-orders'
  return isChanged ? withMember(hit, { description: `Failed orders, part ${part}` }) : hit
}

/** Swaps panels, makes one wider, and puts another in the place of the last. */
function rearrange(hit: SampleHit): SampleHit {
  if (hit._id === 'visualization:turnover') return withMember(hit, { description: 'Without VAT' })
  if (hit._id !== rearranged) return hit
  const { panelsJSON } = hit._source.dashboard as { panelsJSON: string }
  const [turnover, orders, times] = JSON.parse(panelsJSON) as object[]
  const panels = [
    turnover,
    { ...times, col: 7, row: 1 },
    { ...orders, col: 1, row: 5, size_x: 12 },
    { ...orders, panelIndex: 9, id: 'slowest-pages', col: 1, row: 9 },
  ]
  return withMember(hit, { panelsJSON: JSON.stringify(panels) })
}

function withMember(hit: SampleHit, members: object): SampleHit {
  const { type } = hit._source
  return {
    ...hit,
    _source: { ...hit._source, [type]: { ...(hit._source[type] as object), ...members } },
  }
}

async function backUp(
  trial: Trial,
  time: Date,
  names: readonly Account[],
  expected: number,
): Promise<void> {
  const options = names.flatMap((name) => ['--account', name])
  await run(trial, time, ['backup', ...options], expected)
}

async function run(trial: Trial, time: Date, args: readonly string[], expected = 0): Promise<void> {
  const { exitCode, stderr } = await trial.runAt(time, args)
  if (exitCode !== expected) throw new Error(`${args[0]} ended with ${exitCode}: ${stderr}`)
}
