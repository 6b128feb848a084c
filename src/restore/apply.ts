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

/** A request of a restore, and how it went. */
export interface SentBatch {
  readonly objects: number
  readonly bytes: number
  /** What the service said; undefined when the request failed. */
  readonly answer?:
    | { created: number; updated: number; ignored: number; failed: number }
    | undefined
  readonly error?: Error | undefined
}

/**
 * How a planned object ended, as a fresh export shows:
 * - `restored`: it is there as in the source.
 * - `differs`: it is there in another state.
 * - `absent`: it is not there.
 */
export type ObjectOutcome = 'restored' | 'differs' | 'absent'

/** What a restore has done, whether it came to its end or not. */
export interface AppliedRestore {
  readonly batches: readonly SentBatch[]
  /** What the service named as failed: ids or names. */
  readonly failed: readonly string[]
  /** Objects that were never sent, since something stopped the restore. */
  readonly notSent: number
  /** What stopped it. */
  readonly stopped?: Error | undefined
  /** How each object to send ended; undefined when no fresh export could be had. */
  readonly outcomes?: ReadonlyMap<PlannedObject, ObjectOutcome> | undefined
  /** Why there was no fresh export. */
  readonly unchecked?: Error | undefined
  /** What the account holds afterwards; absent like `outcomes`. */
  readonly present?: PresentState | undefined
}

export interface ApplyOptions extends ReadTargetOptions {
  /** The service's versions, under which objects are sent. */
  readonly kibanaVersions: ReadonlyMap<string, string>
  /** Largest request; an object that is larger goes alone. */
  readonly maxImportBytes: number
  readonly onBatch?: ((batch: SentBatch) => void) | undefined
}

/** Writes of a service may take a moment to show: how often it is asked. */
const MAX_CHECKS = 4

/**
 * Sends what the plan says, type by type and in batches, then asks the service for a fresh export,
 * which decides how each object ended. Objects to create go without `override`, so that what has
 * appeared since the plan stays.
 *
 * A request that fails for good stops the restore when it was transient, or the second in a row;
 * so does a source that cannot be read, and the signal. Never throws: what was done until then is
 * what it returns.
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

/** Room for what stands around the hits of a request. */
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
  let objects = 0
  let stopped: Error | undefined

  async function send({ bytes, ...batch }: Batch): Promise<void> {
    const size = { objects: batch.hits.length, bytes }
    const sent = await target.importObjects(batch, { signal }).then(
      ({ created, updated, ignored, failed: refused }): SentBatch => {
        failed.push(...refused)
        const [c, u, i, f] = [created, updated, ignored, refused].map(({ length }) => length)
        return { ...size, answer: { created: c, updated: u, ignored: i, failed: f } } as SentBatch
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
    account: (total: number) => ({ batches, failed, notSent: total - objects, stopped }),
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
