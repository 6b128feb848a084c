import type { AccountConfig } from '../../config/config.ts'
import type { MapFile } from '../../config/map-file.ts'
import type { PatchOperation } from '../../objects/diff-objects.ts'
import { type JsonDocument, stringifyLossless } from '../../objects/lossless-json.ts'
import type { AppliedRestore } from '../../restore/apply.ts'
import type { Overwrite } from '../../restore/overwrites.ts'
import { objectsToSend, type PlannedObject, type RestorePlan } from '../../restore/plan.ts'
import { promote } from '../../restore/promote.ts'
import type { ChosenRestoring, Restoring } from '../../restore/restoring.ts'
import {
  exitCodeOfRestore,
  type PreparedRestore,
  prepareRestore,
  type RestoreStep,
  type ServiceRestoreOptions,
} from '../../run/restore-to-service.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { plural } from '../../wording.ts'
import type { Context } from '../context.ts'
import { printOutcome, printPlan, toJson } from '../print/restore-service-report.ts'
import { watchSource } from '../print/watched-archive.ts'
import { createIdentify, findAccount } from '../select/choose-account.ts'
import { type Answer, confirm, notConfirmed, type Terminal } from '../terminal.ts'
import type { RestoreOptions } from './restore-options.ts'

/** What is restored to the service. */
interface GivenRestore {
  readonly context: Context
  readonly store: ObjectStore | undefined
  readonly chosen: Restoring
}

/** What is promoted to the service. */
export interface GivenPromotion extends GivenRestore {
  readonly chosen: ChosenRestoring
  readonly map: MapFile
}

/** Shows the plan of a restore to the service, asks, sends the objects and checks the result. */
export async function restoreToService(
  terminal: Terminal,
  options: RestoreOptions,
  given: GivenRestore | GivenPromotion,
): Promise<number> {
  const { context } = given
  const { intoAccount } = options
  const into =
    intoAccount === undefined
      ? undefined
      : await findAccount(context.config, intoAccount, createIdentify(context, terminal))
  const isPromotion = 'map' in given && into !== undefined
  const restoring = isPromotion ? await promote(given.chosen, given.map(into.name)) : given.chosen
  const { document, isUnasked, error, exitCode } = await restoreInto(terminal, options, {
    ...given,
    restoring,
    into,
  })
  if (document !== undefined) terminal.printJson(document, stringifyLossless)
  terminal.signal.throwIfAborted()
  if (isUnasked) throw notConfirmed('restore')
  if (error !== undefined) throw error
  return exitCode
}

/** How a restore into one account ended. */
export interface RestoredInto {
  readonly plan: RestorePlan
  /** What was sent; undefined when nothing was. */
  readonly applied: AppliedRestore | undefined
  /** The plan and the result; only with `--json`. */
  readonly document: JsonDocument | undefined
  /** Whether there was no terminal to ask on. */
  readonly isUnasked: boolean
  /** Why a dry run failed although there is a plan: the service accepts no imports. */
  readonly error: Error | undefined
  readonly exitCode: number
}

/** Restores into one account, and prints the plan and the result, except with `--json`. */
export async function restoreInto(
  terminal: Terminal,
  options: RestoreOptions,
  {
    context,
    store,
    restoring,
    into,
  }: Pick<GivenRestore, 'context' | 'store'> & {
    readonly restoring: Restoring
    readonly into: AccountConfig | undefined
  },
): Promise<RestoredInto> {
  const using = optionsOf(terminal, context, store)
  await using prepared = await prepareRestore(restoring, { ...options, into }, using)
  const { plan } = prepared
  if (options.overwrite) terminal.progress.begin('comparing')
  const patches = terminal.json ? await readPatches(prepared.overwrites()) : undefined
  if (!terminal.json) await printPlan(terminal, prepared)
  const answer = await ask(terminal, options, prepared)
  const agreed = answer === 'yes'
  const { before, applied } = agreed ? await prepared.apply() : {}
  const outcome = { prepared, patches, agreed, before, applied }
  if (!terminal.json) printOutcome(terminal, outcome)
  return {
    plan,
    applied,
    document: terminal.json ? toJson(outcome) : undefined,
    isUnasked: answer === 'unasked',
    error: await findRefusedImports(terminal, options, prepared),
    exitCode: exitCodeOfRestore(plan, applied),
  }
}

/** A dry run also fails when the service accepts no imports. */
async function findRefusedImports(
  { signal }: Terminal,
  { dryRun }: RestoreOptions,
  { plan, checkImports }: PreparedRestore,
): Promise<Error | undefined> {
  if (!dryRun || objectsToSend(plan).length === 0 || signal.aborted) return undefined
  return checkImports().then(
    () => undefined,
    (error: Error) => error,
  )
}

function optionsOf(
  { env, now, signal, watched, progress }: Terminal,
  { config, log }: Context,
  store: ObjectStore | undefined,
): ServiceRestoreOptions {
  return {
    ...{ config, env, log, now, signal, store },
    watch: watched ? (service) => watchSource(service, progress) : undefined,
    onStep(step: RestoreStep, plan?: RestorePlan) {
      if (step === 'reading') progress.begin('reading the service')
      if (plan === undefined) return
      progress.begin('sending', { unit: 'object', total: objectsToSend(plan).length })
    },
    onBatch: ({ objects }) => progress.advance(objects),
  }
}

function ask(
  terminal: Terminal,
  options: RestoreOptions,
  { plan, into }: PreparedRestore,
): Promise<Answer> | Answer {
  const toSend = objectsToSend(plan)
  if (toSend.length === 0 || options.dryRun) return 'no'
  const question = `Send ${plural(toSend.length, 'object')} to account ${into.account.accountId}?`
  return confirm(terminal, question, options)
}

async function readPatches(
  overwrites: AsyncIterable<Overwrite>,
): Promise<Map<PlannedObject, readonly PatchOperation[]>> {
  const patches = new Map<PlannedObject, readonly PatchOperation[]>()
  for await (const { planned, diff } of overwrites) patches.set(planned, diff.patch)
  return patches
}
