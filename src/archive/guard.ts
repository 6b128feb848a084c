import type { LostIds } from '../export/content-digest.ts'
import { isFromFuture } from './future.ts'
import type { Manifest, ManifestExport, Measure, TypeMemory } from './manifest.ts'
import { defaultTakeOptions } from './take-options.ts'

const { maxFall: defaultMaxFall, windowMs: defaultWindowMs } = defaultTakeOptions

/** Share of an export's hits that may be hollow or repeated before the snapshot is suspect. */
const MAX_UNSOUND = 0.1

/** Fewest objects for the check of sizes. With fewer, an edit of one or two would look like a loss. */
const MIN_SIZED = 5

/** Backups count as rare when the last good one is older than this share of the window. */
const RARE = 0.9

/** With rare backups, the window is this many times the time since the last good snapshot. */
const RARE_STEPS = 4

/** Most earlier numbers of a type in a manifest. Of numbers close in time, only one is kept. */
const MAX_HIGHS = 32

/** The limits by which exports are judged. */
export interface GuardRules {
  /** Time of the snapshot, which is the end of the window. */
  readonly takenAt: Date
  /** Share of a type's objects (0 to 1) that may disappear. */
  readonly maxFall?: number | undefined
  /** Length of the window in which the highest number of objects counts. */
  readonly windowMs?: number | undefined
}

/** The last good export of a type, with which a new one is compared. */
export interface Baseline {
  readonly measure: Measure
  /** Higher numbers of objects in earlier good snapshots, oldest first. */
  readonly highs: TypeMemory['highs']
  /** The export itself; undefined when the last good snapshot does not hold the type. */
  readonly entry?: ManifestExport | undefined
}

/** An export and the facts by which it is judged. */
interface JudgedExport {
  readonly entry: ManifestExport
  readonly baseline: Baseline | undefined
  /** Ids of the baseline that the export lacks; undefined when unknown. */
  readonly lost?: LostIds | undefined
  /** Number of objects that are at least half as large as the median of the baseline. */
  readonly large?: number | undefined
}

/** The baselines of the next snapshot, by type. */
export function findBaselines(lastGood: Manifest | undefined): Map<string, Baseline> {
  const baselines = new Map<string, Baseline>()
  if (lastGood === undefined) return baselines
  const { memory = {}, exports, takenAt } = lastGood
  for (const [type, { last, highs }] of Object.entries(memory)) {
    if (last !== undefined) baselines.set(type, { measure: last, highs })
  }
  for (const entry of exports) {
    const highs = memory[entry.type]?.highs ?? []
    const measure = { takenAt, ...countsOf(entry), idSample: entry.idSample }
    baselines.set(entry.type, { measure, highs, entry })
  }
  return baselines
}

/** Numbers of an export: hits, sound objects, and hollow hits. */
type Counts = Pick<Measure, 'objects' | 'sound' | 'hollow'>

/**
 * The numbers of an export. An older manifest has only remarks. The hits that these count are
 * subtracted, so that the number of sound objects is never too high.
 */
function countsOf({ objects, sound, hollow, remarks }: ManifestExport): Counts {
  const { 'no-id': noId = 0, 'no-source': noSource = 0, 'duplicate-id': repeated = 0 } = remarks
  const empty = hollow ?? Math.max(noId, noSource)
  return { objects, sound: sound ?? Math.max(0, objects - empty - repeated), hollow: empty }
}

/**
 * Returns the reasons why an export is suspect; an empty list when it is good.
 *
 * Objects are judged, not hits. An object is sound when it has an id and content. It counts once,
 * even if it is sent several times. FORMAT.md lists the rules.
 */
export function findSuspicions(judged: JudgedExport, rules: GuardRules): string[] {
  const found = [
    findFall(judged, rules) ??
      findLoss(judged, rules) ??
      findStripped(judged, rules) ??
      findShrunk(judged, rules),
    findHollow(judged),
    findInvalid(judged),
    findRepeated(judged),
  ]
  return found.flatMap((reason) => (reason ? `${judged.entry.type}: ${reason}` : []))
}

/** The reason when the export contains objects of another type than the requested one. */
export function findOtherType({ type, objects, remarks }: ManifestExport): string[] {
  const others = remarks['other-type'] ?? 0
  return others > 0 ? [`${type}: ${others} of ${objects} objects are of another type`] : []
}

/** The hint for a suspect snapshot. `--accept-fall` does not accept objects of another type. */
export function adviseOnSuspect(exports: readonly ManifestExport[]): string {
  const other = exports.find((one) => findOtherType(one).length > 0)
  return other === undefined
    ? 'check the account; if its objects are complete, run `dashkeep backup --accept-fall`'
    : `ask the operator of the service why its exports hold other types than ${other.type}; --accept-fall does not accept this`
}

/** Fewer objects than in the last good snapshot, or than in any within the window. */
function findFall({ entry, baseline }: JudgedExport, rules: GuardRules): string | undefined {
  if (baseline === undefined) return undefined
  const { sound } = countsOf(entry)
  const last = baseline.measure.sound
  if (isFall(sound, last, rules)) return `${sound} objects, down from ${last}`
  const high = within(baseline.highs, baseline, rules).find((one) =>
    isFall(sound, one.sound, rules),
  )
  return high && `${sound} objects, down from ${high.sound} on ${high.takenAt.slice(0, 10)}`
}

function isFall(sound: number, before: number, { maxFall = defaultMaxFall }: GuardRules): boolean {
  return before > 0 && (sound === 0 || before - sound > before * maxFall)
}

/** Objects are gone, although others have replaced them. */
function findLoss(
  { lost: ids, baseline }: JudgedExport,
  { maxFall = defaultMaxFall }: GuardRules,
): string | undefined {
  if (ids === undefined || baseline === undefined || maxFall === 1) return undefined
  const { lost, sampled, isWhole } = ids
  if (lost === 0) return undefined
  // Twice the error of a sample, so that an allowed loss is not reported because of it.
  const error = isWhole ? 0 : 2 * Math.sqrt((maxFall * (1 - maxFall)) / sampled)
  const allowed = Math.min(sampled * (maxFall + error), sampled - 1)
  if (lost <= allowed) return undefined
  const share = isWhole ? `${lost}` : `about ${Math.round((lost / sampled) * 100)} %`
  const all = isWhole ? sampled : baseline.measure.sound
  return `${share} of ${all} objects are gone, others are in their place`
}

/** More hits without id or content than in the last good snapshot. */
function findHollow({ entry, baseline }: JudgedExport): string | undefined {
  const { hollow, objects } = countsOf(entry)
  const before = baseline?.measure.hollow ?? 0
  if (hollow - before <= objects * MAX_UNSOUND) return undefined
  return `${hollow} of ${objects} hits have no id or no content`
}

/** More hits that are not UTF-8 than before: the answer has another character set. */
function findInvalid({ entry, baseline }: JudgedExport): string | undefined {
  const invalid = (one?: ManifestExport) => one?.remarks['invalid-utf8'] ?? 0
  if (invalid(entry) - invalid(baseline?.entry) <= entry.objects * MAX_UNSOUND) return undefined
  return `${invalid(entry)} of ${entry.objects} hits are not UTF-8`
}

/** Repeated hits, when objects are missing or the number before is unknown. */
function findRepeated({ entry, baseline }: JudgedExport): string | undefined {
  const now = countsOf(entry)
  if (baseline !== undefined && now.sound >= baseline.measure.sound) return undefined
  const before = baseline === undefined ? 0 : countRepeated(baseline.measure)
  if (countRepeated(now) - before <= now.objects * MAX_UNSOUND) return undefined
  return `${countRepeated(now)} of ${now.objects} hits repeat others`
}

function countRepeated({ objects, hollow, sound }: Counts): number {
  return objects - hollow - sound
}

/** Objects have lost members, although the service has the same version as before. */
function findStripped({ entry, baseline }: JudgedExport, rules: GuardRules): string | undefined {
  const before = baseline?.entry
  if (before === undefined || before.kibanaVersion !== entry.kibanaVersion) return undefined
  const [whole, wholeBefore] = [countWhole(entry), countWhole(before)]
  if (!isFall(whole, wholeBefore, rules)) return undefined
  return `${whole} of ${entry.objects} objects have every member, down from ${wholeBefore}`
}

/** Number of objects in which every specified member has the specified JSON type. */
function countWhole({ objects, remarks }: ManifestExport): number {
  const { 'missing-member': missing = 0, 'member-form': other = 0 } = remarks
  return objects - Math.max(missing, other)
}

/**
 * Objects have lost most of their bytes, such as dashboards without panels. Before, at least half of
 * the objects had the median size. Objects that are gone do not count: other rules judge them.
 */
function findShrunk(
  { entry, baseline, lost, large }: JudgedExport,
  rules: GuardRules,
): string | undefined {
  const median = baseline?.entry?.medianBytes
  if (baseline === undefined || median === undefined || large === undefined) return undefined
  const before = baseline.measure.sound
  if (before < MIN_SIZED || rules.maxFall === 1) return undefined
  const share = lost === undefined || lost.sampled === 0 ? 0 : lost.lost / lost.sampled
  const gone = Math.max(before - countsOf(entry).sound, Math.ceil(before * share))
  if (!isFall(large + Math.max(0, gone), Math.ceil(before / 2), rules)) return undefined
  return `${large} of ${entry.objects} objects have at least half of the ${median} bytes that most had before`
}

/**
 * The numbers within the window. The window is longer when the last good snapshot is nearly as old as
 * the window. Otherwise, a weekly backup would be compared with only one other.
 */
function within(
  highs: TypeMemory['highs'],
  { measure }: Pick<Baseline, 'measure'>,
  { takenAt, windowMs = defaultWindowMs }: GuardRules,
): TypeMemory['highs'] {
  const sinceLastMs = takenAt.getTime() - Date.parse(measure.takenAt)
  const isRare = sinceLastMs > RARE * windowMs
  const longestMs = isRare ? RARE_STEPS * sinceLastMs : windowMs
  return highs.filter((high) => {
    const then = new Date(high.takenAt)
    return (
      takenAt.getTime() - then.getTime() <= longestMs && !isFromFuture({ takenAt: then }, takenAt)
    )
  })
}

/**
 * The `memory` of a manifest, by type: the higher numbers within the window, and the last good numbers
 * of types that the snapshot lacks. After an accepted loss, there are no higher numbers.
 */
export function remember(
  exports: readonly ManifestExport[],
  baselines: ReadonlyMap<string, Baseline>,
  { acceptFall = false, ...rules }: GuardRules & { acceptFall?: boolean | undefined },
): Manifest['memory'] {
  const memory: Record<string, TypeMemory> = {}
  for (const [type, baseline] of baselines) {
    const { measure: last, highs } = baseline
    const entry = exports.find((other) => other.type === type)
    const recent = within([...highs, { takenAt: last.takenAt, sound: last.sound }], baseline, rules)
    if (entry === undefined) {
      memory[type] = { highs: thin(within(highs, baseline, rules), rules), last }
      continue
    }
    const { sound } = countsOf(entry)
    const higher = acceptFall ? [] : recent.filter((high) => high.sound > sound)
    if (higher.length > 0) memory[type] = { highs: thin(higher, rules) }
  }
  return Object.keys(memory).length > 0 ? memory : undefined
}

/**
 * Keeps one number of each small part of the window: the first, which is the highest. Each number is
 * lower than the one before it, because a new number removes all that are not higher.
 */
function thin(
  highs: TypeMemory['highs'],
  { windowMs = defaultWindowMs }: GuardRules,
): TypeMemory['highs'] {
  const kept: TypeMemory['highs'][number][] = []
  for (const high of highs) {
    const last = kept.at(-1)
    const apart = last && Date.parse(high.takenAt) - Date.parse(last.takenAt)
    if (apart === undefined || apart > windowMs / MAX_HIGHS) kept.push(high)
  }
  return kept
}
