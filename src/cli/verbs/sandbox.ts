import { once } from 'node:events'
import { basename } from 'node:path'
import { DashkeepError } from '../../errors.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { parseFault } from '../../sandbox/http/fault-text.ts'
import type { AccountSeed, SandboxOptions } from '../../sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts'
import type { Terminal } from '../terminal.ts'

/** Options of the verb, as the command line gives them. */
interface SandboxVerbOptions {
  readonly host: string
  readonly port?: number
  readonly objects?: readonly string[]
  readonly adminEmail?: readonly string[]
  readonly generate?: string
  readonly seed?: number
  readonly hitBytes?: string
  readonly shuffle?: boolean
  readonly gzip?: boolean
  readonly form: string
  readonly pathPrefix?: string
  readonly region?: string
  readonly database?: string
  readonly fault?: readonly string[]
  readonly json?: boolean
}

/** The first account id of `--objects` and `--generate`. */
const FIRST_ACCOUNT_ID = 200001

/** The default admins of these accounts. */
const defaultAdmins = ['admin@example.com']

/** `dashkeep sandbox`: runs the remote service until interrupted; exit code 0. */
export async function sandbox(terminal: Terminal, options: SandboxVerbOptions): Promise<number> {
  await using running = await startSandbox(toSandboxOptions(options))
  if (terminal.json) terminal.printJson({ url: running.url, accounts: describeAccounts(running) })
  else printStart(terminal, running)
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
  return exitCodes.done
}

function toSandboxOptions(options: SandboxVerbOptions): SandboxOptions {
  const { form, objects, generate, adminEmail, fault = [], shuffle, seed = 1, ...rest } = options
  if (form !== 'specified' && form !== 'deployed') {
    throw usage(`the form ${form} is neither specified nor deployed`)
  }
  if (objects !== undefined && generate !== undefined) {
    throw usage('--objects and --generate exclude each other')
  }
  const accounts = objects?.map(accountFromFolder) ?? accountFromSeed(options, seed)
  if (adminEmail !== undefined && accounts === undefined) {
    throw usage('--admin-email needs --objects or --generate')
  }
  const adminEmails = adminEmail ?? defaultAdmins
  const { host, port, gzip, pathPrefix, region, database } = rest
  return {
    form,
    host,
    ...defined({ port, gzip, pathPrefix, region, database }),
    ...(accounts && { accounts: accounts.map((account) => ({ ...account, adminEmails })) }),
    ...(shuffle && { shuffle: seed }),
    faults: fault.map(parseFault),
  }
}

function defined<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

function accountFromFolder(folder: string, index: number): AccountSeed {
  return {
    accountId: FIRST_ACCOUNT_ID + index,
    accountName: basename(folder),
    apiTokens: [`sandbox-token-${FIRST_ACCOUNT_ID + index}`],
    objects: { folder },
  }
}

function accountFromSeed(
  { generate, hitBytes }: SandboxVerbOptions,
  seed: number,
): AccountSeed[] | undefined {
  if (generate === undefined) return undefined
  const generated = {
    seed,
    bytes: parseSize(generate),
    ...(hitBytes !== undefined && { hitBytes: parseSize(hitBytes) }),
  }
  const accountId = FIRST_ACCOUNT_ID
  const apiTokens = [`sandbox-token-${accountId}`]
  return [{ accountId, accountName: 'Generated', apiTokens, objects: { generated } }]
}

/** Reads `500000`, `64MB` or `1GiB` as bytes. */
function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+)\s*([kMG]i?B|B)?$/.exec(text) ?? []
  if (digits === undefined)
    throw usage(`the size ${text} is not a number of bytes such as 500000, 64MB or 1GiB`)
  const power = { k: 1, M: 2, G: 3 }[unit[0] ?? ''] ?? 0
  return Number(digits) * (unit.includes('i') ? 1024 : 1000) ** power
}

function usage(state: string): DashkeepError {
  return new DashkeepError(`Cannot start the sandbox: ${state}`, {
    kind: 'usage',
    hint: '`dashkeep sandbox --help` explains the options',
  })
}

function describeAccounts(running: Sandbox) {
  return running.accounts().map(({ accountId, accountName, adminEmails }) => ({
    accountId,
    accountName,
    adminEmails,
    tokens: running.tokens(accountId),
  }))
}

function printStart(terminal: Terminal, running: Sandbox): void {
  const { colors } = terminal
  terminal.print(`The service runs at ${colors.bold(running.url)} until you press Ctrl-C`)
  for (const { accountId, accountName, adminEmails, tokens } of describeAccounts(running)) {
    const admins = adminEmails.length > 0 ? `, admin ${adminEmails.join(', ')}` : ''
    terminal.print(`  account ${accountId} (${accountName}), token ${tokens[0] ?? 'none'}${admins}`)
  }
  const first = describeAccounts(running).find(({ tokens }) => tokens.length > 0)
  if (first === undefined) return
  const prefix = running.pathPrefix ? ` DASHKEEP_PATH_PREFIX=${running.pathPrefix}` : ''
  terminal.print()
  terminal.print('Try it in another shell:')
  terminal.print(
    `  DASHKEEP_BASE_URL=${running.url}${prefix} DASHKEEP_API_TOKEN=${first.tokens[0]} dashkeep backup --store file:///tmp/dashkeep`,
  )
}
