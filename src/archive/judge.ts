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

/** Missing objects named for one type; the count is always whole. */
const MAX_NAMED = 10

/** Objects of one type that the last good snapshot holds and a suspect one does not. */
export interface MissingObjects {
  readonly type: string
  readonly count: number
  /** The first ten. */
  readonly objects: readonly NamedObject[]
}

/** Whether a snapshot can be trusted. */
export interface Verdict {
  /** Why it should be looked at; none for a good one. */
  readonly reasons: readonly string[]
  /** By type, as far as the last good snapshot can be read. */
  readonly missing: readonly MissingObjects[]
  /** What was found wrong with the last good snapshot. */
  readonly warnings: readonly string[]
  /** What its manifest carries forward. */
  readonly memory: Manifest['memory']
}

/** What a new snapshot is judged against. */
export interface Yardstick {
  readonly lastGood: Manifest | undefined
  /** Why there is no last good snapshot, although there should be one. */
  readonly doubt: string | undefined
  /** What changed since the last good snapshot, when that is known already. */
  readonly changes: readonly TypeChanges[] | undefined
}

/** An export that is judged, with the objects that it holds. */
interface NewExport {
  readonly entry: ManifestExport
  readonly content: { readonly index: SortedIndex; readonly sizes: Sizes }
}

/**
 * Holds the exports of a new snapshot against the last good one. The manifest of that says enough,
 * as a rule; its files are read when it is an older one, and to name what is missing.
 */
export async function judgeExports(
  store: ObjectStore,
  exports: readonly NewExport[],
  yardstick: Yardstick,
  options: ReadOptions & GuardRules & { acceptFall?: boolean | undefined },
): Promise<Verdict> {
  const { lastGood, doubt } = yardstick
  const { acceptFall } = options
  const baselines = findBaselines(lastGood)
  const reasons: string[] = []
  const missing: MissingObjects[] = []
  const warnings: string[] = []
  for (const one of acceptFall ? [] : exports) {
    const baseline = baselines.get(one.entry.type)
    const search = once(() => findMissing(store, one, yardstick, options))
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

/** Objects that are at least half as large as the median of the baseline. */
function countLarge({ content }: NewExport, baseline: Baseline | undefined): number | undefined {
  const median = baseline?.entry?.medianBytes
  return median === undefined ? undefined : content.sizes.countFrom(median / 2)
}

type Search = () => Promise<{ missing?: MissingObjects | undefined; warning?: string | undefined }>

function once<T>(act: () => T): () => T {
  let result: { value: T } | undefined
  return () => {
    result ??= { value: act() }
    return result.value
  }
}

/** Of the ids that the manifest samples; an older manifest has no sample, so its file is read. */
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

/** Finds nothing when the last good snapshot is encrypted and there is no key. */
async function findMissing(
  store: ObjectStore,
  { entry, content }: NewExport,
  { lastGood, changes }: Yardstick,
  options: ReadOptions,
): ReturnType<Search> {
  const { type } = entry
  const before = lastGood?.exports.find((other) => other.type === type)
  if (lastGood === undefined || before === undefined) return {}
  const known = changes?.find((change) => change.type === type)
  if (known !== undefined) return { missing: missingOf(known) }
  // What is wrong with it has been said when the changes were looked for.
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
