import type { LostIds, SortedIndex } from '../export/content-digest.ts'
import type { Sizes } from '../export/sizes.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { compareWithPrevious, type TypeChanges } from './changes.ts'
import type { NamedObject } from './compare.ts'
import {
  type Baseline,
  findBaselines,
  findOtherType,
  findSuspicions,
  type GuardRules,
  remember,
} from './guard.ts'
import type { Manifest, ManifestExport } from './manifest.ts'
import type { ReadOptions } from './read-objects.ts'

/** Missing objects that are listed for one type. The count has no limit. */
const MAX_NAMED = 10

/** Objects of one type that the last good snapshot has and a suspect one lacks. */
export interface MissingObjects {
  readonly type: string
  readonly count: number
  /** The first ten. */
  readonly objects: readonly NamedObject[]
}

/** Whether a snapshot can be trusted. */
export interface Verdict {
  /** Why it is suspect; empty for a good one. */
  readonly reasons: readonly string[]
  /** Missing objects by type, if the last good snapshot can be read. */
  readonly missing: readonly MissingObjects[]
  /** Problems of the last good snapshot. */
  readonly warnings: readonly string[]
  /** The `memory` of its manifest. */
  readonly memory: Manifest['memory']
}

/** Earlier snapshots with which a new one is compared. */
interface Comparison {
  readonly lastGood: Manifest | undefined
  /** Why there is no last good snapshot, although there should be one. */
  readonly doubt: string | undefined
  /** Changes since the last good snapshot, if they are already known. */
  readonly changes: readonly TypeChanges[] | undefined
}

/** An export to judge, with an index of its objects and their sizes. */
interface NewExport {
  readonly entry: ManifestExport
  readonly content: { readonly index: SortedIndex; readonly sizes: Sizes }
}

/**
 * Compares the exports of a new snapshot with the last good snapshot. Normally reads only its
 * manifest. Reads its files when the manifest is an older one, and to name the missing objects.
 */
export async function judgeExports(
  store: ObjectStore,
  exports: readonly NewExport[],
  comparison: Comparison,
  options: ReadOptions & GuardRules & { acceptFall?: boolean | undefined },
): Promise<Verdict> {
  const { lastGood, doubt } = comparison
  const { acceptFall } = options
  const baselines = findBaselines(lastGood)
  const reasons: string[] = []
  const missing: MissingObjects[] = []
  const warnings: string[] = []
  for (const one of acceptFall ? [] : exports) {
    const baseline = baselines.get(one.entry.type)
    const search = once(() => findMissing(store, one, comparison, options))
    const lost = await countLost(one, baseline, search)
    const large = countLarge(one, baseline)
    const found = findSuspicions({ entry: one.entry, baseline, lost, large }, options)
    if (found.length === 0) continue
    reasons.push(...found)
    const { missing: objects, warning } = await search()
    if (objects !== undefined && objects.count > 0) missing.push(objects)
    if (warning !== undefined) warnings.push(warning)
  }
  const entries = exports.map(({ entry }) => entry)
  reasons.push(...entries.flatMap(findOtherType))
  if (doubt !== undefined && !acceptFall) reasons.push(doubt)
  return { reasons, missing, warnings, memory: remember(entries, baselines, options) }
}

/** Number of objects that are at least half as large as the median of the baseline. */
function countLarge({ content }: NewExport, baseline: Baseline | undefined): number | undefined {
  const median = baseline?.entry?.medianBytes
  return median === undefined ? undefined : content.sizes.countFrom(median / 2)
}

/** Finds the missing objects of one type, and what prevents it. */
type Search = () => Promise<{ missing?: MissingObjects | undefined; warning?: string | undefined }>

/** Returns a function that calls `act` once, at its first call, and keeps the result. */
function once<T>(act: () => T): () => T {
  let result: { value: T } | undefined
  return () => {
    result ??= { value: act() }
    return result.value
  }
}

/** Counts the lost ids of the manifest's sample. An older manifest has none: reads its file. */
async function countLost(
  { entry, content }: NewExport,
  baseline: Baseline | undefined,
  search: Search,
): Promise<LostIds | undefined> {
  if (baseline === undefined) return undefined
  const { idSample } = baseline.measure
  if (idSample !== undefined) return content.index.countLost(idSample)
  if (baseline.entry === undefined || baseline.entry.contentDigest === entry.contentDigest) {
    return undefined
  }
  const { missing } = await search()
  return missing && { lost: missing.count, sampled: baseline.measure.objects, isWhole: true }
}

/** Returns nothing when the last good snapshot is encrypted and there is no key. */
async function findMissing(
  store: ObjectStore,
  { entry, content }: NewExport,
  { lastGood, changes }: Comparison,
  options: ReadOptions,
): ReturnType<Search> {
  const { type } = entry
  const before = lastGood?.exports.find((other) => other.type === type)
  if (lastGood === undefined || before === undefined) return {}
  const known = changes?.find((change) => change.type === type)
  if (known !== undefined) return { missing: missingOf(known) }
  // The search for changes has already reported the problem.
  if (changes !== undefined) return {}
  const previous = { manifest: lastGood, entry: before }
  const { finder, defect } = await compareWithPrevious(store, previous, content.index, options)
  return {
    missing: finder && missingOf(finder.finish()),
    warning: defect && `the last good snapshot is damaged: ${defect}`,
  }
}

function missingOf({ type, counts, removed }: TypeChanges): MissingObjects {
  return { type, count: counts.removed, objects: removed.slice(0, MAX_NAMED) }
}
