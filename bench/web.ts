import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { dashkeep, dashkeepInContainer } from './cases.ts'
import { addObjects, fillAccounts } from './many-snapshots.ts'
import { measure } from './measure.ts'
import type { Place, Spot } from './place.ts'
import { firstAccountId } from './service.ts'

/** Size of the archive that the pages show. */
export interface WebSizes {
  readonly accounts: number
  readonly snapshots: number
  /** Objects of the table. */
  readonly objects: number
  /** How long the server may read the sizes of the accounts before the tables are opened. */
  readonly backgroundMs: number
}

/** Figures of the pages over one archive. */
export interface WebResult {
  readonly title: string
  readonly rows: readonly { readonly name: string; readonly ms: readonly number[] }[]
  readonly peakBytes: number | undefined
}

/** What the pages show. */
interface Filled {
  readonly sizes: WebSizes
  readonly place: Place
  readonly spot: Spot
  /** The newest snapshot of the account with many objects. */
  readonly large: string
  /** Older snapshots with as many objects. */
  readonly others: readonly string[]
}

/** A page as the browser gets it. */
interface Answer {
  readonly text: string
  readonly ms: number
}

const AGAIN = 15
const READERS = 10
/** Older snapshots that are opened, one after the other. */
const OTHERS = 5
/** How long a user looks at the page of an account before the next click. */
const LOOK_MS = 1000
const dayMs = 24 * 3600_000

/** Fills the spot, serves it with `dashkeep web`, and measures its pages from outside. */
export async function measureWeb(
  { place, spot }: { place: Place; spot: Spot },
  sizes: WebSizes,
  env: Readonly<Record<string, string | undefined>>,
): Promise<WebResult> {
  const newest = new Date(Date.now() - 3600_000)
  await fillAccounts(spot, { ...sizes, newest })
  const accountId = firstAccountId - 1
  const { objects } = sizes
  const large = await addObjects(spot, { accountId, objects, takenAt: newest })
  await addObjects(spot, { accountId, objects: 1, takenAt: new Date(newest.getTime() - dayMs) })
  const others: string[] = []
  for (let day = 2; day < 2 + OTHERS; day += 1) {
    const takenAt = new Date(newest.getTime() - day * dayMs)
    others.push(await addObjects(spot, { accountId, objects, takenAt }))
  }
  return await measurePages({ ...env, ...spot.env }, { sizes, place, spot, large, others })
}

async function measurePages(
  env: Readonly<Record<string, string | undefined>>,
  { sizes, place, spot, large, others }: Filled,
): Promise<WebResult> {
  const rows: { name: string; ms: readonly number[] }[] = []
  const add = (name: string, ...ms: number[]) => void rows.push({ name, ms })
  const account = firstAccountId + Math.floor(sizes.accounts / 2)
  const owner = firstAccountId - 1
  const snapshots = `/accounts/${owner}/snapshots`
  const table = `${snapshots}/${large}`
  const what = `table of ${sizes.objects} objects`
  const begun = performance.now()
  await using server = await startServer(env)
  add('from the command to the first page', (await server.get('/')) && performance.now() - begun)
  while (!(await server.get('/')).text.includes('Read again')) await wait(100)
  add(`the state of ${sizes.accounts} accounts is known`, performance.now() - begun)
  const repeat = async (name: string, path: string) => {
    add(`${name}, first`, (await server.get(path)).ms)
    const again = []
    for (let round = 0; round < AGAIN; round += 1) again.push((await server.get(path)).ms)
    add(`${name}, again`, ...again)
  }
  await repeat('Accounts', '/')
  await repeat(`Account of ${sizes.snapshots} snapshots`, `/accounts/${account}`)
  await wait(sizes.backgroundMs)
  await server.get(`/accounts/${owner}`)
  await wait(LOOK_MS)
  await repeat(`${what}, from the page of its account`, table)
  const older: number[] = []
  for (const other of others) older.push((await server.get(`${snapshots}/${other}`)).ms)
  add(`${what}, of ${OTHERS} older snapshots, first`, ...older)
  await repeat('table, sorted and searched', `${table}?q=orders&sort=-title`)
  await repeat('Object', `${table}/object?id=search:orders`)
  await repeat('Versions', `/accounts/${account}/history?id=search:orders`)
  const verb = dashkeep(`history search:orders --account ${account} --json`)
  add('dashkeep history', (await measure(verb, { env })).seconds * 1000)
  add(`each page while ${READERS} readers click`, ...(await clickAll(server, sizes)))
  const peakBytes = await server.peakBytes()
  add(`${what}, as the first page of all`, await firstOfAll(env, table))
  add(`${what}: its file alone`, ...(await readAlone(spot, `${owner}/${large}/search.json`)))
  return {
    title: `${sizes.accounts} accounts of ${sizes.snapshots} snapshots, ${place.name}`,
    rows,
    peakBytes,
  }
}

/** Milliseconds until a server that has just started answers its first request. */
async function firstOfAll(
  env: Readonly<Record<string, string | undefined>>,
  path: string,
): Promise<number> {
  await using server = await startServer(env)
  return (await server.get(path)).ms
}

/** Milliseconds to read a file with one request and nothing else. */
async function readAlone(spot: Spot, key: string): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < AGAIN; round += 1) {
    const begun = performance.now()
    await spot.get(key)
    times.push(performance.now() - begun)
  }
  return times
}

/** Requests a snapshot and the versions of an object of each account. Each reader has its own accounts. */
async function clickAll(
  server: { get(path: string): Promise<Answer> },
  { accounts }: WebSizes,
): Promise<number[]> {
  const times: number[] = []
  const get = async (path: string) => {
    const { ms, text } = await server.get(path)
    times.push(ms)
    return text
  }
  const read = async (_: unknown, reader: number) => {
    for (let turn = 0; turn < 10; turn += 1) {
      const path = `/accounts/${firstAccountId + ((reader * 97 + turn * 13) % accounts)}`
      await get('/')
      const [, snapshot] = /snapshots\/([^"]+)"/.exec(await get(path)) ?? []
      await get(`${path}/snapshots/${snapshot}`)
      await get(`${path}/snapshots/${snapshot}/object?id=search:orders`)
      await get(`${path}/history?id=search:orders`)
    }
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return times
}

/** Starts `dashkeep web` and opens it as a browser does. */
async function startServer(env: Readonly<Record<string, string | undefined>>) {
  const command = `exec env ${dashkeepInContainer('web --json --listen 127.0.0.1:0 --max-age 26h')}`
  const child = spawn('bash', ['-c', command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const [line] = await once(createInterface(child.stdout), 'line')
  const { address } = JSON.parse(line) as { address: string }
  const opened = await fetch(address, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  return {
    async get(path: string): Promise<Answer> {
      const begun = performance.now()
      const answer = await fetch(new URL(path, address), { headers: { cookie } })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`Cannot measure ${path}: status ${answer.status}\n${text}`)
      return { text, ms: performance.now() - begun }
    },
    /** From the kernel; undefined where it has no count. */
    async peakBytes(): Promise<number | undefined> {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
      const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
      return peak === undefined ? undefined : Number(peak) * 1024
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await closed
    },
  }
}

/** The figures as a table in Markdown. */
export function formatWeb({ title, rows, peakBytes }: WebResult): string {
  const cells = rows.map(({ name, ms }) => {
    const sorted = ms.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
    return `| ${name} | ${format(median)} | ${ms.length > 1 ? format(Math.max(...ms)) : ''} |`
  })
  const memory = peakBytes === undefined ? 'unknown' : `${Math.round(peakBytes / 1024 ** 2)} MB`
  return `**${title}**\n\n| | time | slowest |\n| --- | ---: | ---: |\n${cells.join('\n')}\n\nMemory: ${memory} at the peak.\n`
}

function format(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms)} ms`
}
