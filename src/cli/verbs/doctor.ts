import { coverageReasons } from '../../accounts/coverage.ts'
import { otherOwnerHint } from '../../archive/check-owner.ts'
import { futureToleranceMs } from '../../archive/future.ts'
import { checkOrigin } from '../../archive/origin.ts'
import { findPrevious } from '../../archive/previous.ts'
import { probeStore, type StoreRight } from '../../archive/probe-store.ts'
import type { SavedObjectSource } from '../../archive/source.ts'
import {
  type AccountConfig,
  type CopyConfig,
  defaultTypes,
  type Limits,
} from '../../config/config.ts'
import { warningsOf } from '../../config/warnings.ts'
import { causeOf, hintOf } from '../../errors.ts'
import { describeProxy } from '../../http/proxy.ts'
import { connectAccount, openArchive, openCopy } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { type Claim, findDuplicates } from '../../run/owners.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatTime, plural } from '../../wording.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { readCoverage } from './accounts-coverage.ts'
import { manage, nameAccount } from './management.ts'

/** The result of one check. */
interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly hint?: string | undefined
  /** The cause of a failure, for the log. */
  readonly cause?: string | undefined
}

/** `dashkeep doctor`: prints a line for each finding; exit code 1 when one would make a backup fail. */
export async function doctor(terminal: Terminal, options: CommonOptions): Promise<number> {
  const context = await createContext(terminal, options, ['accounts', 'store'])
  terminal.progress.begin('checking')
  const findings: Finding[] = []
  for await (const { cause, ...finding } of examine(context, terminal)) {
    findings.push(finding)
    if (cause !== undefined)
      context.log.debug({ cause, check: finding.check }, 'cause of the failure')
    if (!terminal.json) printFinding(terminal, finding)
  }
  terminal.signal.throwIfAborted()
  if (terminal.json) terminal.printJson({ findings })
  const failed = findings.some(({ result }) => result === 'failed')
  return failed ? exitCodes.failed : exitCodes.done
}

async function* examine(context: Context, terminal: Terminal): AsyncGenerator<Finding> {
  const { config } = context
  const schedule = config.schedule && `, ${config.schedule.cron} (${config.schedule.timeZone})`
  const what = `${plural(config.accounts.length, 'account')} with ${config.types.join(', ')}`
  yield { check: 'configuration', result: 'ok', detail: `${what}${schedule ?? ''}` }
  for (const detail of warningsOf(config)) {
    yield { check: 'configuration', result: 'warning', detail }
  }
  for (const type of defaultTypes) {
    if (!config.types.includes(type)) {
      yield {
        check: 'types',
        result: 'warning',
        detail: `objects of type ${type} are not backed up`,
      }
    }
  }
  const claims: Claim[] = []
  for (const account of config.accounts) {
    const owner = yield* examineAccount(account, context, terminal)
    const accountId = account.accountId ?? owner
    if (accountId !== undefined) claims.push({ account, accountId })
  }
  for (const [name, error] of findDuplicates(claims)) yield failure(`account ${name}`, error)
  await using store = await openArchive(config, { env: terminal.env, log: context.log })
  yield* examineStore(store, context, terminal)
  for (const copy of config.copies) yield* examineCopy(copy, context, terminal, store)
  yield* examineOrigins(store, claims, terminal)
  yield* examineManagement(context, terminal, store)
  yield* examineGit(context, terminal)
}

/** Checks an account. Returns the id of the account that the token belongs to, if the service returns it. */
async function* examineAccount(
  account: AccountConfig,
  { config, log }: Context,
  { env, signal, now }: Terminal,
): AsyncGenerator<Finding, number | undefined> {
  const check = `account ${account.name}`
  if (isReadable(account.baseUrl)) {
    const detail = `${account.baseUrl} is not encrypted: others on the network can read the token`
    yield { check, result: 'warning', detail, hint: 'use an https:// address' }
  }
  try {
    await using service = await connectAccount(account, config, { env, log, now })
    const { accountId, accountName } = await service.whoami({ signal })
    const owner = `the token belongs to account ${accountId} (${accountName})`
    if (account.accountId !== undefined && account.accountId !== accountId) {
      const detail = `${owner}, expected ${account.accountId}`
      yield { check, result: 'failed', detail, hint: otherOwnerHint }
    } else {
      yield { check, result: 'ok', detail: `${owner}; the region is correct` }
    }
    if (account.accountId === undefined) {
      const detail = 'no expected account id: dashkeep accepts a token of any account'
      yield {
        check,
        result: 'warning',
        detail,
        hint: `set accountId (or DASHKEEP_ACCOUNT_ID) to ${accountId}`,
      }
    }
    const proxy = config.findProxy(new URL(account.baseUrl))
    if (proxy) {
      yield { check: `proxy (${account.name})`, result: 'ok', detail: describeProxy(proxy) }
    }
    yield clockFinding(account, service.clockSkewMs, config.limits)
    yield* examineExports(service, { account, types: config.types, signal })
    if (account.include?.includes('sub-accounts')) {
      const { length } = await service.listSubAccounts({ signal })
      yield { check, result: 'ok', detail: `the token can list the sub accounts (${length})` }
    }
    return accountId
  } catch (error) {
    yield failure(check, error as Error)
    return undefined
  }
}

/** Starts an export of each type and stops after its first bytes. */
async function* examineExports(
  service: SavedObjectSource,
  options: { account: AccountConfig; types: readonly string[]; signal: AbortSignal },
): AsyncGenerator<Finding> {
  const { account, types, signal } = options
  const check = `exports (${account.name})`
  const exported: string[] = []
  for (const type of types) {
    try {
      for await (const _beginning of await service.exportObjects(type, { signal })) break
      exported.push(type)
    } catch (error) {
      yield failure(check, error as Error)
    }
  }
  if (exported.length === 0) return
  yield { check, result: 'ok', detail: `the service exports ${exported.join(', ')}` }
}

/** Whether a token sent to the address leaves this machine unencrypted. */
function isReadable(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

/** Judges the clock: from `maxClockSkewMs` on a backup fails, and below it snapshots can seem early or late. */
function clockFinding(
  account: AccountConfig,
  skewMs: number | undefined,
  { maxClockSkewMs }: Limits,
): Finding {
  const check = `clock (${account.name})`
  if (skewMs === undefined) {
    return { check, result: 'warning', detail: 'the service does not send its time' }
  }
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const detail = `differs from the service's clock by ${seconds} s`
  const refused = Math.abs(skewMs) > maxClockSkewMs
  if (!refused && Math.abs(skewMs) <= futureToleranceMs) return { check, result: 'ok', detail }
  const hint = "set this machine's clock, for example with NTP; snapshots are named by it"
  const consequence = refused ? ', so backups fail' : ''
  return {
    check,
    result: refused ? 'failed' : 'warning',
    detail: `this machine's clock ${detail}${consequence}`,
    hint,
  }
}

async function* examineStore(
  store: ObjectStore,
  { config: { store: { lock } = { url: '' }, retention } }: Context,
  { signal, now }: Terminal,
): AsyncGenerator<Finding> {
  const prunes = retention !== undefined
  for await (const found of probeStore(store, { signal, now: now(), lockMs: lock?.durationMs })) {
    yield describeRight(found, { name: 'store', store, mode: lock?.mode, prunes })
    if (found.right === 'write' && found.error !== undefined) return
  }
  if (signal.aborted) return
  for await (const { subject, hinders, ...found } of store.examine?.({ signal }) ?? []) {
    const result = hinders === 'prune' && prunes ? 'failed' : found.result
    yield { check: `store ${subject}`, ...found, result }
  }
}

/** Checks a copy: the rights that copying needs, and that it is another store than the archive. */
async function* examineCopy(
  copy: CopyConfig,
  { config, log }: Context,
  { env, signal, now }: Terminal,
  archive: ObjectStore,
): AsyncGenerator<Finding> {
  const name = `copy ${copy.name}`
  const { lock } = copy
  try {
    await using store = await openCopy(copy, config, { env, log })
    const options = { signal, now: now(), lockMs: lock?.durationMs, archive }
    for await (const found of probeStore(store, options)) {
      yield describeRight(found, { name, store, mode: lock?.mode, prunes: false })
    }
  } catch (error) {
    yield failure(name, error as Error)
  }
}

/** Describes the check of a store right. Rights that only prune needs are optional unless retention is configured. */
function describeRight(
  { right, error, lockedUntil, left }: StoreRight,
  {
    name,
    store,
    mode,
    prunes,
  }: { name: string; store: ObjectStore; mode: string | undefined; prunes: boolean },
): Finding {
  const check = `${name} ${right}`
  const time = lockedUntil && formatTime(lockedUntil)
  if (left !== undefined && lockedUntil !== undefined) {
    const detail = `the test object ${store.url}/${left} is still there: it is locked until ${time}`
    return { check, result: 'warning', detail, hint: 'remove it after that time' }
  }
  if (error !== undefined) {
    const result = ['retention', 'delete'].includes(right) && !prunes ? 'warning' : 'failed'
    const consequence = left === undefined ? '' : ', so the test object is still there'
    return { ...failure(check, error), result, detail: `${error.message}${consequence}` }
  }
  if (right === 'lock') {
    const detail = `a test object was locked in ${mode} mode until ${time}, and the server confirms the lock`
    return { check, result: 'ok', detail }
  }
  const isKept = right === 'delete' && time !== undefined
  const kept = isKept ? `; the lock keeps the test object as an old version until ${time}` : ''
  return { check, result: 'ok', detail: `${store.url}${kept}` }
}

/** Checks whether the archive holds snapshots of another service under the id of an account. */
async function* examineOrigins(
  store: ObjectStore,
  claims: readonly Claim[],
  { now, signal }: Terminal,
): AsyncGenerator<Finding> {
  for (const { account, accountId } of claims) {
    try {
      const { newest } = await findPrevious(store, accountId, now(), { signal })
      checkOrigin(newest?.manifest, {
        accountId,
        address: account.baseUrl,
        configuredAs: account.name,
      })
    } catch (error) {
      yield failure(`account ${account.name}`, error as Error)
    }
  }
}

/** Checks whether the main account can be managed, and whether its sub accounts have any backup. */
async function* examineManagement(
  context: Context,
  terminal: Terminal,
  store: ObjectStore,
): AsyncGenerator<Finding> {
  const account = context.config.management
  if (account === undefined) return
  try {
    await using managing = await manage(terminal, context, account)
    const maxAgeMs = Number.POSITIVE_INFINITY
    const { accounts } = await readCoverage(terminal, managing, { store, maxAgeMs })
    const main = `the token belongs to main account ${nameAccount(managing.service.main)}`
    yield {
      check: 'management',
      result: 'ok',
      detail: `${main}, which has ${plural(accounts.length, 'sub account')}`,
    }
    for (const sub of accounts) {
      if (sub.state === 'covered') continue
      const detail = `${nameAccount(sub)}: ${coverageReasons[sub.state]}`
      const hint = '`dashkeep accounts coverage` lists all sub accounts'
      yield { check: 'coverage', result: 'warning', detail, hint }
    }
  } catch (error) {
    yield failure('management', error as Error)
  }
}

/** Checks whether runs can be committed to git. A backup is good without it. */
async function* examineGit(
  { config }: Context,
  { env, signal }: Terminal,
): AsyncGenerator<Finding> {
  if (config.git === undefined) return
  const { folder, push } = config.git
  const { refuseGitFolder } = await import('../../run/commit-backups.ts')
  const { examineGitFolder } = await import('../../restore/git/examine-folder.ts')
  try {
    await refuseGitFolder(folder, config)
    const root = await examineGitFolder(folder, { env, signal, push })
    const where = root ? `in the git repository ${root}` : 'which the next run creates'
    yield { check: 'git', result: 'ok', detail: `runs are committed to ${folder}, ${where}` }
  } catch (error) {
    yield { ...failure('git', error as Error), result: 'warning' }
  }
}

function failure(check: string, error: Error): Finding {
  const cause = causeOf(error)
  return { check, result: 'failed', detail: error.message, hint: hintOf(error), cause }
}

function printFinding(terminal: Terminal, { check, result, detail, hint }: Finding): void {
  const { colors } = terminal
  const paint = { ok: colors.green, warning: colors.yellow, failed: colors.red }[result]
  terminal.print(`${paint(result.padEnd(8))}${check}: ${detail}`)
  if (hint !== undefined) terminal.print(`${' '.repeat(8)}hint: ${hint}`)
}
