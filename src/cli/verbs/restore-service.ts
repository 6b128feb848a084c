import type { MapFile } from '../../config/map-file.ts'
import type { PatchOperation } from '../../objects/diff-objects.ts'
import { stringifyLossless } from '../../objects/lossless-json.ts'
import type { Overwrite } from '../../restore/overwrites.ts'
import { objectsToSend, type PlannedObject, type RestorePlan } from '../../restore/plan.ts'
import { promote } from '../../restore/promote.ts'
import type { ChosenRestoring } from '../../restore/restoring.ts'
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
export interface GivenRestore {
  readonly context: Context
  readonly store: ObjectStore | undefined
  readonly chosen: ChosenRestoring
  /** The map of a promotion. */
  readonly map: MapFile | undefined
}

/** Shows the plan of a restore to the service, asks, sends the objects and checks the result. */
export async function restoreToService(
  terminal: Terminal,
  options: RestoreOptions,
  given: GivenRestore,
): Promise<number> {
  const { context, store, chosen, map } = given
  const { signal } = terminal
  const { intoAccount } = options
  const into =
    intoAccount === undefined
      ? undefined
      : await findAccount(context.config, intoAccount, createIdentify(context, terminal))
  const isPromotion = map !== undefined && into !== undefined
  const restoring = isPromotion ? await promote(chosen, map(into.name)) : chosen
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
  if (terminal.json) terminal.printJson(toJson(outcome), stringifyLossless)
  else printOutcome(terminal, outcome)
  signal.throwIfAborted()
  if (answer === 'unasked') throw notConfirmed('restore')
  // A dry run also fails when the service accepts no imports.
  if (options.dryRun && objectsToSend(plan).length > 0) await prepared.checkImports()
  return exitCodeOfRestore(plan, applied)
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
