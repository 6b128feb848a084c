import type { ApplyOptions } from './apply.ts'
import { applyRestore } from './apply.ts'
import { readCatalogue } from './catalogue.ts'
import { chooseObjects } from './choose.ts'
import { planRestore } from './plan.ts'
import type { RestoreSource } from './source.ts'
import { type RestoreTarget, readPresent, sameBytes } from './target.ts'

/** What restoring everything into an empty account has shown. */
export interface DrillResult {
  readonly objects: number
  /** Objects that came back byte for byte. */
  readonly restored: number
  /** Ids of those that did not, and of those that nobody sent. */
  readonly differing: readonly string[]
  /** What stopped the restore before its end. */
  readonly error?: Error | undefined
}

/**
 * Restores a whole source into an account that is empty, exports it again and compares the bytes of
 * each object. Throws when the source cannot be read, or the service not at all.
 */
export async function drillRestore(
  source: RestoreSource,
  target: RestoreTarget,
  options: Pick<
    ApplyOptions,
    'limits' | 'attempts' | 'retryBaseMs' | 'maxImportBytes' | 'signal' | 'onBatch'
  >,
): Promise<DrillResult> {
  const types = source.exports.map(({ type }) => type)
  const reading = { ...options, types, stateOf: sameBytes }
  const selection = chooseObjects(source, await readCatalogue(source, sameBytes), {})
  const before = await readPresent(target, reading)
  const plan = planRestore(selection, before)
  const { kibanaVersions } = before
  const applied = await applyRestore(source, plan, target, { ...reading, kibanaVersions })
  options.signal.throwIfAborted()
  const outcomes = [...(applied.outcomes ?? [])]
  const sent = new Set(plan.objects.map(({ entry }) => entry.id))
  const strange = [...(applied.present?.states.keys() ?? [])].filter((id) => !sent.has(id))
  const lost = outcomes.filter(([, outcome]) => outcome !== 'restored')
  return {
    objects: plan.objects.length,
    restored: outcomes.length - lost.length,
    differing: [...lost.map(([{ entry }]) => entry.id), ...strange],
    error:
      applied.stopped ?? applied.unchecked ?? applied.batches.find(({ error }) => error)?.error,
  }
}
