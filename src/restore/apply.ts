// Tested by test/e2e/restore.test.ts

import { setTimeout as sleep } from 'node:timers/promises'
import { DashkeepError } from '../errors.ts'
import { objectsToSend, type PlannedObject, type RestorePlan } from './plan.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'
import {
  type PresentState,
  type ReadTargetOptions,
  type RestoreTarget,
  readPresent,
} from './target.ts'

/** A request of a restore and its result. */
export interface SentBatch {
  readonly objects: number
  readonly bytes: number
  /** The service's answer; undefined when the request failed. */
  readonly answer?:
    | { created: number; updated: number; ignored: number; failed: number }
    | undefined
  readonly error?: Error | undefined
}

/**
 * State of a planned object in a fresh export:
 * - `restored`: the same as in the source.
 * - `differs`: it exists in another state.
 * - `absent`: it does not exist.
 */
type ObjectOutcome = 'restored' | 'differs' | 'absent'

/** Result of a restore, also of one that was stopped. */
export interface AppliedRestore {
  readonly batches: readonly SentBatch[]
  /** Ids or names of objects that failed according to the service. */
  readonly failed: readonly string[]
  /**
   * Ids or names of objects that the service did not change, because it had them already. Also contains
   * objects that a repeated request had created before.
   */
  readonly ignored: readonly string[]
  /** Number of objects that were not sent because the restore was stopped. */
  readonly notSent: number
  /** The error that stopped it. */
  readonly stopped?: Error | undefined
  /** The state of each object afterwards; undefined without a fresh export. */
  readonly outcomes?: ReadonlyMap<PlannedObject, ObjectOutcome> | undefined
  /** Why there was no fresh export. */
  readonly unchecked?: Error | undefined
  /** The account's objects afterwards; undefined without a fresh export. */
  readonly present?: PresentState | undefined
}

interface ApplyOptions extends ReadTargetOptions {
  /** The service's kibanaVersion of each type. Objects are sent with it. */
  readonly kibanaVersions: ReadonlyMap<string, string>
  /** Largest request in bytes. A larger object is sent alone. */
  readonly maxImportBytes: number
  readonly onBatch?: ((batch: SentBatch) => void) | undefined
}

/** Number of checks. A service may take a moment until it shows what was written. */
const MAX_CHECKS = 4

/**
 * Sends the objects of a plan, type by type, in batches. Then checks each object in a fresh export.
 * Objects to create are sent without `override`, so that objects that others created since stay.
 *
 * These stop the restore: a temporary failure after all attempts, a second failed request in a row, a
 * source that cannot be read, and the signal. Never throws. Returns what was done until then.
 */
export async function applyRestore(
  source: RestoreSource,
  plan: RestorePlan,
  target: RestoreTarget,
  options: ApplyOptions,
): Promise<AppliedRestore> {
  const toSend = objectsToSend(plan)
  const sender = createSender(target, options)
  await sendAll(makeBatches(source, toSend, options), sender)
  const sent = sender.account(toSend.length)
  if (options.signal.aborted) return sent
  return { ...sent, ...(await check(target, toSend, sent, options)) }
}

interface Batch {
  readonly kibanaVersion: string
  readonly override: boolean
  readonly hits: Uint8Array[]
  bytes: number
}

/** Bytes of a request in addition to its hits. */
const ENVELOPE_BYTES = 200

async function* makeBatches(
  source: RestoreSource,
  toSend: readonly PlannedObject[],
  { kibanaVersions, maxImportBytes }: ApplyOptions,
): AsyncGenerator<Batch> {
  const actions = new Map(toSend.map(({ entry, action }) => [entry, action]))
  for (const { type, kibanaVersion } of source.exports) {
    const begin = (override: boolean): Batch => {
      const version = kibanaVersions.get(type) ?? kibanaVersion
      return { kibanaVersion: version, override, hits: [], bytes: ENVELOPE_BYTES }
    }
    const open = { create: begin(false), overwrite: begin(true) }
    for await (const { entry, hit } of readChosen(source, type, [...actions.keys()])) {
      const action = actions.get(entry) as 'create' | 'overwrite'
      const full = open[action]
      if (full.hits.length > 0 && full.bytes + hit.length + 1 > maxImportBytes) {
        open[action] = begin(full.override)
        yield full
      }
      open[action].hits.push(hit)
      open[action].bytes += hit.length + 1
    }
    for (const batch of Object.values(open)) if (batch.hits.length > 0) yield batch
  }
}

async function sendAll(batches: AsyncIterable<Batch>, sender: Sender): Promise<void> {
  try {
    for await (const batch of batches) {
      await sender.send(batch)
      if (sender.isStopped()) return
    }
  } catch (error) {
    sender.stop(error as Error)
  }
}

type Sender = ReturnType<typeof createSender>

function createSender(target: RestoreTarget, { signal, onBatch }: ApplyOptions) {
  const batches: SentBatch[] = []
  const failed: string[] = []
  const kept: string[] = []
  let objects = 0
  let stopped: Error | undefined

  async function send({ bytes, ...batch }: Batch): Promise<void> {
    const size = { objects: batch.hits.length, bytes }
    const sent = await target.importObjects(batch, { signal }).then(
      ({ created, updated, ignored, failed: refused }): SentBatch => {
        failed.push(...refused)
        kept.push(...ignored)
        const answer = {
          created: created.length,
          updated: updated.length,
          ignored: ignored.length,
          failed: refused.length,
        }
        return { ...size, answer }
      },
      (error: Error): SentBatch => ({ ...size, error }),
    )
    const { error } = sent
    const again = error !== undefined && batches.at(-1)?.error !== undefined
    const transient = error instanceof DashkeepError && error.transient
    if (error !== undefined && (transient || again || signal.aborted)) stopped = error
    objects += batch.hits.length
    batches.push(sent)
    onBatch?.(sent)
  }

  return {
    send,
    isStopped: () => stopped !== undefined,
    stop(error: Error): void {
      stopped = error
    },
    account(total: number): AppliedRestore {
      return { batches, failed, ignored: kept, notSent: total - objects, stopped }
    },
  }
}

async function check(
  target: RestoreTarget,
  toSend: readonly PlannedObject[],
  { batches, failed, notSent }: Pick<AppliedRestore, 'batches' | 'failed' | 'notSent'>,
  options: ApplyOptions,
): Promise<Pick<AppliedRestore, 'outcomes' | 'present' | 'unchecked'>> {
  const refused = batches.filter(({ error }) => error !== undefined)
  const explained = failed.length + notSent + sum(refused.map(({ objects }) => objects))
  try {
    for (let turn = 1; ; turn += 1) {
      const present = await readPresent(target, options)
      const outcomes = new Map(toSend.map((planned) => [planned, outcomeOf(planned, present)]))
      const open = [...outcomes.values()].filter((outcome) => outcome !== 'restored').length
      if (open <= explained || turn === MAX_CHECKS) return { outcomes, present }
      await sleep(options.retryBaseMs * 2 ** turn, undefined, { signal: options.signal })
    }
  } catch (error) {
    return { unchecked: error as Error }
  }
}

function outcomeOf({ entry }: PlannedObject, { states }: PresentState): ObjectOutcome {
  const state = states.get(entry.id)
  if (state === undefined) return 'absent'
  return state === entry.state ? 'restored' : 'differs'
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
