import type { Account } from '../../archive/source.ts'
import type { AccountConfig, Config } from '../../config/config.ts'
import { DashkeepError, hintOf } from '../../errors.ts'
import type { PatchOperation } from '../../objects/diff-objects.ts'
import { stringifyLossless } from '../../objects/lossless-json.ts'
import { connectAccount, scanLimitsOf } from '../../open.ts'
import { applyRestore, type SentBatch } from '../../restore/apply.ts'
import { type Overwrite, readOverwrites } from '../../restore/overwrites.ts'
import {
  objectsToSend,
  type PlannedObject,
  planRestore,
  type RestorePlan,
  refuseOtherVersions,
} from '../../restore/plan.ts'
import { type RestoreTarget, readPresent, sameObject } from '../../restore/target.ts'
import { backupAccount } from '../../run/back-up.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { plural } from '../../wording.ts'
import type { Context } from '../context.ts'
import type { Restoring } from '../print/restore-report.ts'
import {
  exitCodeFor,
  type Into,
  printOutcome,
  printPlan,
  toJson,
} from '../print/restore-service-report.ts'
import { watchSource } from '../print/watched-archive.ts'
import { createIdentify, findAccount, ownersOf } from '../select/choose-account.ts'
import { confirm, notConfirmed, type Terminal } from '../terminal.ts'
import type { RestoreOptions } from './restore-options.ts'

/** Shows the plan of a restore to the service, asks, sends the objects and checks the result. */
export async function restoreToService(
  terminal: Terminal,
  options: RestoreOptions,
  given: { context: Context; store: ObjectStore | undefined; restoring: Restoring },
): Promise<number> {
  const { context, restoring } = given
  const { source, selection } = restoring
  const { config, log } = context
  const { signal, env } = terminal
  const chosen = await chooseAccount(terminal, context, { ...options, ...restoring })
  await using service = await connectAccount(chosen, config, { env, log })
  const target = terminal.watched ? watchSource(service, terminal.progress) : service
  const account = await identify(target, chosen, restoring, { ...options, signal })
  const into = { config: chosen, account, address: target.address }
  const reading = readingOf(restoring, config, signal)
  const states = new Map(selection.objects.map(({ id, state }) => [id, state]))
  const keepUnless = options.overwrite ? states : undefined
  terminal.progress.begin('reading the service')
  const present = await readPresent(target, { ...reading, keepUnless })
  if (!options.anyVersion) refuseOtherVersions(source, selection, present)
  const plan = planRestore(selection, present, options)
  const toSend = objectsToSend(plan)
  const overwrites = readOverwrites(source, plan, present)
  if (options.overwrite) terminal.progress.begin('comparing')
  const patches = terminal.json ? await readPatches(overwrites) : undefined
  if (!terminal.json) await printPlan(terminal, { restoring, into, plan, overwrites })
  const question = `Send ${plural(toSend.length, 'object')} to account ${account.accountId}?`
  const mayAsk = toSend.length > 0 && !options.dryRun
  const answer = mayAsk ? await confirm(terminal, question, options) : 'no'
  const agreed = answer === 'yes'
  const [kibanaVersion = ''] = present.kibanaVersions.values()
  if (agreed) await target.checkImports(kibanaVersion, { signal })
  const before = agreed ? await backUpPresent(terminal, into, plan, given) : undefined
  if (agreed) terminal.progress.begin('sending', { unit: 'object', total: toSend.length })
  const applied = agreed
    ? await applyRestore(source, plan, target, {
        ...reading,
        kibanaVersions: present.kibanaVersions,
        maxImportBytes: config.limits.maxImportBytes,
        onBatch: (batch) => {
          logBatch(context, batch)
          terminal.progress.advance(batch.objects)
        },
      })
    : undefined
  const outcome = { restoring, into, plan, patches, agreed, before, applied }
  if (terminal.json) terminal.printJson(toJson(outcome), stringifyLossless)
  else printOutcome(terminal, outcome)
  signal.throwIfAborted()
  if (answer === 'unasked') throw notConfirmed('restore')
  // A dry run also fails when the service accepts no imports.
  if (options.dryRun && toSend.length > 0) await target.checkImports(kibanaVersion, { signal })
  return exitCodeFor(outcome)
}

/** The options of reading the service: only types that are chosen or needed. */
function readingOf({ source, selection }: Restoring, config: Config, signal: AbortSignal) {
  const wanted = new Set(selection.objects.map(({ exportType }) => exportType))
  for (const { type } of selection.missing) wanted.add(type)
  return {
    types: source.exports.map(({ type }) => type).filter((type) => wanted.has(type)),
    stateOf: sameObject,
    limits: scanLimitsOf(config),
    attempts: config.limits.attempts,
    retryBaseMs: config.limits.retryBaseMs,
    signal,
  }
}

async function readPatches(
  overwrites: AsyncIterable<Overwrite>,
): Promise<Map<PlannedObject, readonly PatchOperation[]>> {
  const patches = new Map<PlannedObject, readonly PatchOperation[]>()
  for await (const { planned, diff } of overwrites) patches.set(planned, diff.patch)
  return patches
}

/** Chooses the named account, else the account of the objects, else the only account. */
async function chooseAccount(
  terminal: Terminal,
  context: Context,
  {
    intoAccount,
    source,
    manifest,
  }: Pick<RestoreOptions, 'intoAccount'> & Pick<Restoring, 'source' | 'manifest'>,
): Promise<AccountConfig> {
  const { config } = context
  if (intoAccount !== undefined) {
    return findAccount(config, intoAccount, createIdentify(context, terminal))
  }
  const { configuredAs } = manifest?.account ?? {}
  const own = ownersOf(config, { id: source.account?.id, configuredAs })
  const [first, ...others] = own.length > 0 ? own : config.accounts
  if (first !== undefined && others.length === 0) return first
  throw new DashkeepError('Cannot choose the account to restore into: several are configured', {
    kind: 'usage',
    hint: `name one with --into-account: ${config.accounts.map(({ name }) => name).join(', ')}`,
  })
}

/** Checks the owner of the token. Only `--into-account` restores into another account. */
async function identify(
  target: RestoreTarget,
  { name, accountId }: AccountConfig,
  { source }: Restoring,
  { intoAccount, signal }: RestoreOptions & { signal: AbortSignal },
): Promise<Account> {
  const account = await target.whoami({ signal })
  const expected = (intoAccount === undefined ? source.account?.id : undefined) ?? accountId
  if (expected === undefined || account.accountId === expected) return account
  const found = `the token of ${name} belongs to account ${account.accountId} (${account.accountName})`
  throw new DashkeepError(`Cannot restore into account ${expected}: ${found}`, {
    kind: 'usage',
    hint:
      intoAccount === undefined
        ? `to restore into this account, use --into-account ${JSON.stringify(name)}`
        : 'use a token of the expected account, or correct the expected account id',
  })
}

/** Takes a snapshot of the present objects when the restore overwrites some of them. */
async function backUpPresent(
  terminal: Terminal,
  { config: account }: Into,
  { objects }: RestorePlan,
  { context: { config, log }, store }: { context: Context; store: ObjectStore | undefined },
): Promise<string | undefined> {
  if (store === undefined || !objects.some(({ action }) => action === 'overwrite')) return undefined
  const { env, now, signal } = terminal
  const { taken, error } = await backupAccount(account, config, store, { env, log, now, signal })
  if (taken !== undefined) return taken.manifest.snapshot
  signal.throwIfAborted()
  const hint = hintOf(error)
  throw new DashkeepError(
    `Cannot restore: nothing was sent, because the present objects could not be backed up: ${error.message}`,
    { ...(hint && { hint }), cause: error },
  )
}

function logBatch({ log }: Context, { objects, bytes, answer, error }: SentBatch): void {
  if (error) log.error({ objects, bytes, reason: error.message }, 'import failed')
  else log.info({ objects, bytes, ...answer }, 'imported')
}
