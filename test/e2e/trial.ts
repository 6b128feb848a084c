import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import { stringify } from 'yaml'
import type { Environment } from '../../src/config/config.ts'
import type { AccountSeed, SandboxOptions } from '../../src/sandbox/options.ts'
import { sampleAccount, sampleApiToken } from '../../src/sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { type Finished, jsonLines, runDashkeep } from './run-dashkeep.ts'

/** The sample account, which a trial serves unless told otherwise. */
export const shopId = 100001
export const shopToken = sampleApiToken
export const types = ['search', 'visualization', 'dashboard'] as const

/** A service and an empty folder for the archive, both one's own and gone afterwards. */
export interface Trial extends AsyncDisposable {
  readonly sandbox: Sandbox
  /** A temporary folder for whatever a story needs; the archive is in it. */
  readonly folder: string
  /** Where the archive is. */
  readonly archive: string
  /** One account and the archive, by variables alone; waits between attempts are short. */
  readonly env: Environment
  /** Runs a command line; its environment is `env` with `changes`, `undefined` taking away. */
  run(args: readonly string[], changes?: Environment): Promise<Finished>
  /** The same at another time than now, which the service's clock shows too. */
  runAt(now: Date, args: readonly string[], changes?: Environment): Promise<Finished>
  /** Lets the service's clock show another time from now on. */
  setServiceClock(now: () => Date): void
  /** Writes a file into the folder and returns its path; what is neither text nor bytes becomes YAML. */
  write(name: string, content: string | object): Promise<string>
  /** Every file of the archive by its key, what is unfinished included. */
  files(): Promise<Map<string, Buffer>>
  /** Bytes of a data file, decompressed, of the only snapshot or of the one named. */
  content(type: string, snapshot?: string): Promise<Buffer>
  /** Names of the snapshots, oldest first, as `list --json` gives them. */
  snapshots(): Promise<string[]>
}

/** Limits under which a failure shows within a moment. */
export const shortLimits = { retryBaseMs: 1, attempts: 3 }

export async function startTrial(options: SandboxOptions = {}): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-e2e-'))
  let serviceNow = () => new Date()
  /** Times of the runs under way that have one of their own. */
  const times: Date[] = []
  const sandbox = await startSandbox({ now: () => times.at(-1) ?? serviceNow(), ...options })
  const archive = join(folder, 'archive')
  const write: Trial['write'] = async (name, content) => {
    const path = join(folder, name)
    const isRaw = typeof content === 'string' || Buffer.isBuffer(content)
    await writeFile(path, isRaw ? content : stringify(content))
    return path
  }
  const env = {
    DASHKEEP_BASE_URL: sandbox.url,
    DASHKEEP_API_TOKEN: shopToken,
    DASHKEEP_STORE: pathToFileURL(archive).href,
    DASHKEEP_CONFIG: await write('limits.yaml', { limits: shortLimits }),
  }
  const run: Trial['run'] = (args, changes = {}) =>
    runDashkeep(args, { env: { ...env, ...changes } })
  const runAt: Trial['runAt'] = async (now, args, changes = {}) => {
    times.push(now)
    try {
      return await runDashkeep(args, { env: { ...env, ...changes }, now })
    } finally {
      times.splice(times.indexOf(now), 1)
    }
  }
  return {
    sandbox,
    folder,
    archive,
    env,
    run,
    runAt,
    setServiceClock(now) {
      serviceNow = now
    },
    write,
    files: () => readTree(archive),
    async content(type, snapshot) {
      const ending = `${snapshot ?? ''}/${type}.json.zst`
      const found = [...(await readTree(archive))].filter(([key]) => key.endsWith(ending))
      if (found.length !== 1) throw new Error(`${found.length} files end in ${ending}`)
      return zstdDecompressSync(found[0]?.[1] as Buffer)
    },
    async snapshots() {
      const { stdout } = await run(['list', '--json'])
      return jsonLines(stdout).map(({ snapshot }) => snapshot as string)
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Reads every file below a folder, by its path from there; none when the folder is not there. */
export async function readTree(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = new Map<string, Buffer>()
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files.set(path.slice(folder.length + 1), await readFile(path))
  }
  return files
}

/** The sample account with changes. */
export function shop(changes: Partial<AccountSeed> = {}): AccountSeed {
  return { ...sampleAccount(), ...changes }
}

/** Small accounts with objects of their own and the tokens `token-<id>`. */
export function accountsFrom(ids: readonly number[]): AccountSeed[] {
  return ids.map((accountId) => ({
    accountId,
    accountName: `Account ${accountId}`,
    apiTokens: [`token-${accountId}`],
    objects: { generated: { seed: accountId, count: 3 } },
  }))
}
