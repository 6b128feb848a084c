import type { Manifest } from '../../src/archive/manifest.ts'
import type { RetentionPolicy } from '../../src/archive/retention.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import type { TakeOptions } from '../../src/archive/take-options.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { type Answers, exportBody, scriptSource } from '../archive/scripted-source.ts'
import { type GoodSnapshots, readGood } from './invariant.ts'

export const types = ['search', 'dashboard']

export function day(number: number, second = 0): Date {
  return new Date(Date.UTC(2026, 10, number, 3, 15, second))
}

/** What the account holds: everything stays the same but one search. */
export function answersWith(title: string): Answers {
  return {
    search: exportBody('search', { a: title, b: 'Slow requests' }),
    dashboard: exportBody('dashboard', { shop: 'Shop', stock: 'Stock' }),
  }
}

/** What the account holds on the last day of {@link writeHistory}. */
export const unchanged = answersWith('Warnings')
/** What it has not held before. */
export const changed = answersWith('Failures')

/** A run over what the account holds. Uncompressed unless told otherwise, which is fastest. */
export async function take(
  store: ObjectStore,
  answers: Answers,
  options: Partial<TakeOptions> & { takenAt: Date },
): Promise<{ name: string; manifest: Manifest }> {
  const { manifest } = await takeSnapshot(scriptSource(answers), store, {
    types,
    compression: 'none',
    retryBaseMs: 1,
    ...options,
  })
  return { name: `${manifest.account.id}/${manifest.snapshot}`, manifest }
}

/** Four days in the archive: a first snapshot, a changed one, and after each one that shares its files. */
export async function writeHistory(store: ObjectStore): Promise<GoodSnapshots> {
  const days = [answersWith('Errors'), answersWith('Errors'), unchanged, unchanged]
  for (const [at, answers] of days.entries()) await take(store, answers, { takenAt: day(at + 1) })
  return readGood(store)
}

/** Keeps the newest snapshot of the history and the one whose files it shares, not the older half. */
export const keepNewest: RetentionPolicy = { last: 1 }
