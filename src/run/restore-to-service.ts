import { hash } from 'node:crypto'
import { checkOwner } from '../archive/check-owner.ts'
import type { Manifest } from '../archive/manifest.ts'
import type { Account } from '../archive/source.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { DashkeepError, hintOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { splitId } from '../objects/object-id.ts'
import { connectAccount, scanLimitsOf } from '../open.ts'
import { type AppliedRestore, applyRestore, type SentBatch } from '../restore/apply.ts'
import { type Overwrite, readOverwrites } from '../restore/overwrites.ts'
import { createPatternUses, type PatternUses } from '../restore/pattern-uses.ts'
import {
  objectsToSend,
  planRestore,
  type RestorePlan,
  refuseOtherVersions,
} from '../restore/plan.ts'
import type { Restoring } from '../restore/restoring.ts'
import type { RestoreSource } from '../restore/source.ts'
import {
  type PresentState,
  type ReadTargetOptions,
  type RestoreTarget,
  readPresent,
  sameObject,
} from '../restore/target.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { plural } from '../wording.ts'
import { backupAccount } from './back-up.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { findOwner, ownersOf } from './owners.ts'

/** The target of a restore. */
interface Into {
  readonly config: AccountConfig
  readonly account: Account
  readonly address: string
}

/** A target that can be asked whether it accepts imports. */
interface ServiceTarget extends RestoreTarget {
  /** Throws when the service accepts no imports. Sends no object. */
  checkImports(kibanaVersion: string, options: { signal: AbortSignal }): Promise<void>
}

/** What a restore to the service may do. */
export interface ServiceRestoreChoice {
  /** The target when it is not the account of the objects. */
  readonly into?: AccountConfig | undefined
  /** Replaces objects that exist and differ. */
  readonly overwrite?: boolean | undefined
  /** Restores although the service has another kibanaVersion. */
  readonly anyVersion?: boolean | undefined
}

/** Receives the progress of a restore. */
export interface RestoreProgress {
  /** Called before the service is read, before the backup, and before objects are sent. */
  readonly onStep?: ((step: RestoreStep, plan?: RestorePlan) => void) | undefined
  readonly onBatch?: ((batch: SentBatch) => void) | undefined
}

/** What a restore to the service works with. */
export interface ServiceRestoreOptions extends RestoreProgress {
  readonly config: Config
  readonly env: Environment
  readonly log: Logger
  readonly now: () => Date
  readonly signal: AbortSignal
  /** The archive, for the backup of what is overwritten. */
  readonly store: ObjectStore | undefined
  /** Hint about a token of another account. By default it names `--into-account`. */
  readonly otherOwnerHint?: string | undefined
  /** Wraps the service, so that a caller can count what is read. */
  readonly watch?: ((service: ServiceTarget) => ServiceTarget) | undefined
}

/** What a restore to the service is doing. */
export type RestoreStep = 'reading' | 'backing up' | 'sending'

/** What a restore to the service did. */
export interface RestoreResult {
  /** The snapshot of the objects before the restore; undefined when nothing was overwritten. */
  readonly before: string | undefined
  readonly applied: AppliedRestore
}

/** The plan of a restore, which can be carried out. Disposing closes the connection. */
export interface PreparedRestore extends AsyncDisposable {
  readonly restoring: Restoring
  readonly into: Into
  readonly present: PresentState
  readonly plan: RestorePlan
  /** Objects of the account that use the index patterns of a promotion. */
  readonly patternUses: PatternUses
  /** What overwriting changes. */
  overwrites(): AsyncIterable<Overwrite>
  /** Reads the hits of objects of the service, by id, as far as they exist and memory allows. */
  readHits(ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /** Throws when the service accepts no imports. Sends no object. */
  checkImports(): Promise<void>
  /**
   * Backs up the present objects if some are overwritten, compares these with the plan once more, sends
   * the objects of the plan, and checks the result with a fresh export. Throws when nothing was sent.
   */
  apply(): Promise<RestoreResult>
}

/**
 * Exports the present objects of the account and plans what a restore does. Sends nothing. Throws a
 * `usage` error for a token of another account and for another kibanaVersion.
 */
export async function prepareRestore(
  restoring: Restoring,
  choice: ServiceRestoreChoice,
  options: ServiceRestoreOptions,
): Promise<PreparedRestore> {
  const { config, env, log } = options
  const chosen = choice.into ?? chooseTarget(restoring, config)
  await using unfinished = new AsyncDisposableStack()
  const service = unfinished.use(await connectAccount(chosen, config, { env, log }))
  const target = options.watch?.(service) ?? service
  const prepared = await prepare(restoring, { chosen, target }, choice, options)
  unfinished.move()
  return { ...prepared, [Symbol.asyncDispose]: () => service.close() }
}

async function prepare(
  restoring: Restoring,
  { chosen, target }: { chosen: AccountConfig; target: ServiceTarget },
  choice: ServiceRestoreChoice,
  options: ServiceRestoreOptions,
): Promise<Omit<PreparedRestore, keyof AsyncDisposable>> {
  const { source, selection } = restoring
  const { config, signal, otherOwnerHint } = options
  const asked = { ...choice, signal, otherOwnerHint }
  const account = await identify(target, chosen, restoring, asked)
  const into = { config: chosen, account, address: target.address }
  const reading = readingOf(restoring, config, signal)
  const states = new Map(selection.objects.map(({ id, state }) => [id, state]))
  options.onStep?.('reading')
  const keepUnless = choice.overwrite ? states : undefined
  const patternUses = createPatternUses(restoring)
  const present = await readPresent(target, { ...reading, keepUnless, onObject: patternUses.see })
  if (!choice.anyVersion) refuseOtherVersions(source, selection, present)
  const plan = planRestore(selection, present, choice)
  const [kibanaVersion = ''] = present.kibanaVersions.values()
  const checkImports = () => target.checkImports(kibanaVersion, { signal })
  const prepared = { restoring, present, plan }
  return {
    ...prepared,
    into,
    patternUses,
    overwrites: () => readOverwrites(source, plan, present),
    readHits: (ids) => readHits(target, ids, { ...reading, types: typesOf(source) }),
    checkImports,
    async apply() {
      await checkImports()
      const before = await backUpPresent(into, plan, options)
      await refuseEdited(prepared, target, { ...reading, before })
      options.onStep?.('sending', plan)
      const { kibanaVersions } = present
      const { maxImportBytes } = config.limits
      const onBatch = (batch: SentBatch) => {
        logBatch(options.log, batch)
        options.onBatch?.(batch)
      }
      const sending = { ...reading, kibanaVersions, maxImportBytes, onBatch }
      return {
        before: before?.snapshot,
        applied: await applyRestore(source, plan, target, sending),
      }
    },
  }
}

/** The options of reading the service: only types that are chosen or needed. */
function readingOf({ source, selection }: Restoring, config: Config, signal: AbortSignal) {
  const wanted = new Set(selection.objects.map(({ exportType }) => exportType))
  for (const { type } of selection.missing) wanted.add(type)
  return {
    types: typesOf(source).filter((type) => wanted.has(type)),
    stateOf: sameObject,
    limits: scanLimitsOf(config),
    attempts: config.limits.attempts,
    retryBaseMs: config.limits.retryBaseMs,
    signal,
  }
}

function typesOf({ exports }: RestoreSource): string[] {
  return exports.map(({ type }) => type)
}

async function readHits(
  target: RestoreTarget,
  ids: readonly string[],
  { types, ...reading }: ReadTargetOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const wanted = types.filter((type) => ids.some((id) => splitId(id)?.type === type))
  // No object is in this state, so every hit is kept.
  const keepUnless = new Map(ids.map((id) => [id, '']))
  const { hits } = await readPresent(target, { ...reading, types: wanted, keepUnless })
  return hits
}

/** Chooses the account of the objects, else the only account. */
function chooseTarget({ source, manifest }: Restoring, config: Config): AccountConfig {
  const { configuredAs } = manifest?.account ?? {}
  const own = ownersOf(config, { id: source.account?.id, configuredAs })
  const [first, ...others] = own.length > 0 ? own : config.accounts
  if (first !== undefined && others.length === 0) return first
  throw new DashkeepError('Cannot choose the account to restore into: several are configured', {
    kind: 'usage',
    hint: `name one with --into-account: ${config.accounts.map(({ name }) => name).join(', ')}`,
  })
}

/**
 * Returns why nothing can be restored into the account of a snapshot, as far as the configuration shows.
 * Undefined when a restore may be possible.
 */
export function findRefusal(config: Config, account: Manifest['account']): string | undefined {
  if (findOwner(config, account) !== undefined) return undefined
  return `the configuration has no token of account ${account.id}`
}

/**
 * A digest of everything that a plan shows of the service and of what it does. An equal digest of a
 * later plan means that it is the same plan.
 */
export function digestOf({ restoring, into, plan, present }: PreparedRestore): string {
  const objects = plan.objects.map(({ entry: { id, state }, action }) => [
    id,
    state,
    action,
    action === 'overwrite' ? present.states.get(id) : '',
  ])
  const { account, address } = into
  const { label } = restoring.source
  const target = [label, account.accountId, address, ...present.kibanaVersions]
  return hash('sha256', JSON.stringify([target, objects, plan.missing]))
}

/** Checks the owner of the token. Only a named target may be another account. */
async function identify(
  target: RestoreTarget,
  { name, accountId }: AccountConfig,
  { source, promoted }: Restoring,
  {
    into,
    signal,
    otherOwnerHint,
  }: ServiceRestoreChoice & Pick<ServiceRestoreOptions, 'signal' | 'otherOwnerHint'>,
): Promise<Account> {
  const account = await target.whoami({ signal })
  const expected = (into === undefined ? source.account?.id : undefined) ?? accountId
  const other = `to restore into this account, use --into-account ${JSON.stringify(name)}`
  const hint = into === undefined ? (otherOwnerHint ?? other) : undefined
  checkOwner(account, expected, { action: 'restore into', hint })
  if (promoted !== undefined && account.accountId === source.account?.id) {
    throw sameAccount(name, account.accountId)
  }
  return account
}

/** The error for a promotion into the account that the objects come from. */
export function sameAccount(name: string, accountId: number): DashkeepError {
  return new DashkeepError(
    `Cannot promote into ${name}: account ${accountId} is the account that the objects come from`,
    { kind: 'usage', hint: 'name another account' },
  )
}

/**
 * Takes a snapshot of the present objects when the restore overwrites some of them. Includes their types
 * also if the configuration does not.
 */
async function backUpPresent(
  { config: account }: Into,
  plan: RestorePlan,
  { config, env, log, now, signal, store, onStep }: ServiceRestoreOptions,
): Promise<Manifest | undefined> {
  const overwritten = typesToOverwrite(plan)
  if (store === undefined || overwritten.length === 0) return undefined
  onStep?.('backing up')
  const own: readonly string[] = account.include ?? []
  const wanted = new Set([...config.types, ...overwritten.filter((type) => !own.includes(type))])
  const complete = { ...config, types: [...wanted] }
  const { taken, error } = await backupAccount(account, complete, store, { env, log, now, signal })
  if (taken !== undefined) return taken.manifest
  signal.throwIfAborted()
  const hint = hintOf(error)
  throw new DashkeepError(
    `Cannot restore: nothing was sent, because the present objects could not be backed up: ${error.message}`,
    { ...(hint && { hint }), cause: error },
  )
}

function typesToOverwrite({ objects }: RestorePlan): string[] {
  const overwritten = objects.filter(({ action }) => action === 'overwrite')
  return [...new Set(overwritten.map(({ entry }) => entry.exportType))]
}

/**
 * Exports the types of the objects to overwrite again. Throws when one of these objects is not in the
 * state that the plan shows: somebody has edited it, and the backup may not contain the edit. Throws also
 * when the backup has fewer objects of a type, because the service did not export all of them.
 */
async function refuseEdited(
  { restoring, plan, present }: Pick<PreparedRestore, 'restoring' | 'plan' | 'present'>,
  target: RestoreTarget,
  { before, ...reading }: ReadTargetOptions & { before: Manifest | undefined },
): Promise<void> {
  const edited: string[] = []
  for (const type of typesToOverwrite(plan)) {
    const { states } = await readPresent(target, { ...reading, types: [type] })
    const backup = before?.exports.find((entry) => entry.type === type)
    if (backup !== undefined && backup.objects < states.size) {
      throw new DashkeepError(
        `Cannot restore: nothing was sent, because snapshot ${before?.snapshot} has ${backup.objects} of ${states.size} present objects of type ${type}`,
        { hint: 'objects were added meanwhile, or the service did not export all; plan again' },
      )
    }
    for (const { entry, action } of plan.objects) {
      if (action !== 'overwrite' || entry.exportType !== type) continue
      if (states.get(entry.id) !== present.states.get(entry.id)) edited.push(entry.id)
    }
  }
  const [first, ...others] = edited
  if (first === undefined) return
  const more = others.length > 0 ? ` and ${plural(others.length, 'other object')}` : ''
  throw new DashkeepError(
    `Cannot restore: ${first}${more} changed in the service after the plan was made`,
    { hint: `nothing was sent; plan again from ${restoring.source.label}` },
  )
}

function logBatch(log: Logger, { objects, bytes, answer, error }: SentBatch): void {
  if (error) log.error({ objects, bytes, reason: error.message }, 'import failed')
  else log.info({ objects, bytes, ...answer }, 'imported')
}

/**
 * Returns 0 when the service reports no failure and a fresh export has every object as it was sent.
 * Returns the exit code of the error when no object is known to be restored, otherwise 3.
 */
export function exitCodeOfRestore(plan: RestorePlan, applied: AppliedRestore | undefined): number {
  if (applied === undefined) return exitCodes.done
  const { outcomes, failed, unchecked, batches } = applied
  const restored = [...(outcomes?.values() ?? [])].filter((ended) => ended === 'restored').length
  if (failed.length === 0 && restored === objectsToSend(plan).length) return exitCodes.done
  const answered = batches.some(({ answer }) => answer !== undefined)
  if (restored > 0 || (outcomes === undefined && answered)) return exitCodes.partly
  const [error = unchecked] = errorsOfRestore(applied)
  return error === undefined ? exitCodes.failed : exitCodeOf(error)
}

/** The errors of requests, each once. */
export function errorsOfRestore({ batches, stopped }: AppliedRestore): Error[] {
  const errors = [...batches.flatMap(({ error }) => error ?? []), ...(stopped ? [stopped] : [])]
  return [...new Map(errors.map((error) => [error.message, error])).values()]
}
