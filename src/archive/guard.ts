import type { LostIds } from '../export/content-digest.ts'
import { isFromFuture } from './future.ts'
import type { Manifest, ManifestExport, Measure, TypeMemory } from './manifest.ts'

/** The largest part of a type's objects that may vanish without question. */
export const defaultMaxFall = 0.5

/** How far back the highest number of objects counts: 7 days. */
export const defaultWindowMs = 7 * 24 * 3600_000

/** The part of an export's hits that may be hollow, or repeat others, without question. */
const MAX_UNSOUND = 0.1

/** With fewer objects before, an edit of one or two would look like a loss of content. */
const MIN_SIZED = 5

/** Part of the window: backups are rare when the last good one is older than that. */
const RARE = 0.9

/** How many times the time since the last good snapshot the window covers where backups are rare. */
const RARE_STEPS = 4

/** Highest numbers of a type that a manifest carries forward; closer ones are merged. */
const MAX_HIGHS = 32

/** What decides how exports are judged. */
export interface GuardRules {
  /** When the snapshot counts as taken: the end of the window. */
  readonly takenAt: Date
  /** Part of a type's objects (0 to 1) that may vanish. */
  readonly maxFall?: number | undefined
  /** Length of the window within which the highest number of objects counts. */
  readonly windowMs?: number | undefined
}

/** What an export is measured against: the last good one of its type. */
export interface Baseline {
  readonly measure: Measure
  /** Higher numbers of good snapshots before that one, oldest first. */
  readonly highs: TypeMemory['highs']
  /** The export itself; undefined when the last good snapshot does not hold the type. */
  readonly entry?: ManifestExport | undefined
}

/** One export with all that the guard must know to judge it. */
export interface JudgedExport {
  readonly entry: ManifestExport
  readonly baseline: Baseline | undefined
  /** Ids of the baseline that the export does not hold; undefined when nobody can tell. */
  readonly lost?: LostIds | undefined
  /** How many objects are at least half as large as the median of the baseline. */
  readonly large?: number | undefined
}

/** By type: what the exports of the next snapshot are measured against. */
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

/** How many hits an export has, how many objects they are, and how many hits are hollow. */
type Counts = Pick<Measure, 'objects' | 'sound' | 'hollow'>

/**
 * The numbers of one export. An older manifest has remarks only: what these count is left out, so
 * that an export is never taken for more than it held.
 */
function countsOf({ objects, sound, hollow, remarks }: ManifestExport): Counts {
  const { 'no-id': noId = 0, 'no-source': noSource = 0, 'duplicate-id': repeated = 0 } = remarks
  const empty = hollow ?? Math.max(noId, noSource)
  return { objects, sound: sound ?? Math.max(0, objects - empty - repeated), hollow: empty }
}

/**
 * Says why an export should be looked at before anybody trusts it; no reasons, no doubt.
 *
 * Objects are judged, not hits: an object is sound when it has an id and content, and counts once
 * however often it is sent. FORMAT.md lists the rules.
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

/** Objects of another type than the one asked for: the answer is not what it should be. */
export function findOtherType({ type, objects, remarks }: ManifestExport): string[] {
  const others = remarks['other-type'] ?? 0
  return others > 0 ? [`${type}: ${others} of ${objects} objects are of another type`] : []
}

/** Says what to do about a suspect snapshot. Nothing accepts objects of another type. */
export function adviseOnSuspect(exports: readonly ManifestExport[]): string {
  const [other] = exports.filter((one) => findOtherType(one).length > 0)
  return other === undefined
    ? 'look at the account; if it is right, run `dashkeep backup --accept-fall`'
    : `ask the operator of the service why its exports hold other types than ${other.type}; --accept-fall does not accept this`
}

/** Fewer objects than the last good snapshot had, or than any had within the window. */
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

/** Objects that are gone although others have come in their place. */
function findLoss(
  { lost: ids, baseline }: JudgedExport,
  { maxFall = defaultMaxFall }: GuardRules,
): string | undefined {
  if (ids === undefined || baseline === undefined || maxFall === 1) return undefined
  const { lost, sampled, isWhole } = ids
  if (lost === 0) return undefined
  // Twice the error of a sample, so that an honest fall is not doubted for it.
  const error = isWhole ? 0 : 2 * Math.sqrt((maxFall * (1 - maxFall)) / sampled)
  const allowed = Math.min(sampled * (maxFall + error), sampled - 1)
  if (lost <= allowed) return undefined
  const share = isWhole ? `${lost}` : `about ${Math.round((lost / sampled) * 100)} %`
  const all = isWhole ? sampled : baseline.measure.sound
  return `${share} of ${all} objects are gone, others are in their place`
}

/** Hits without id or content, beyond those that the last good snapshot had. */
function findHollow({ entry, baseline }: JudgedExport): string | undefined {
  const { hollow, objects } = countsOf(entry)
  const before = baseline?.measure.hollow ?? 0
  if (hollow - before <= objects * MAX_UNSOUND) return undefined
  return `${hollow} of ${objects} hits have no id or no content`
}

/** Hits that are not UTF-8, beyond those before: the answer came in another character set. */
function findInvalid({ entry, baseline }: JudgedExport): string | undefined {
  const invalid = (one?: ManifestExport) => one?.remarks['invalid-utf8'] ?? 0
  if (invalid(entry) - invalid(baseline?.entry) <= entry.objects * MAX_UNSOUND) return undefined
  return `${invalid(entry)} of ${entry.objects} hits are not UTF-8`
}

/** Hits that repeat others, where objects are missing or nobody can tell. */
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

/** Objects that have lost members, though the service still has the same version. */
function findStripped({ entry, baseline }: JudgedExport, rules: GuardRules): string | undefined {
  const before = baseline?.entry
  if (before === undefined || before.kibanaVersion !== entry.kibanaVersion) return undefined
  const [whole, wholeBefore] = [countWhole(entry), countWhole(before)]
  if (!isFall(whole, wholeBefore, rules)) return undefined
  return `${whole} of ${entry.objects} objects have every member, down from ${wholeBefore}`
}

/** Objects with every specified member in its form. */
function countWhole({ objects, remarks }: ManifestExport): number {
  const { 'missing-member': missing = 0, 'member-form': other = 0 } = remarks
  return objects - Math.max(missing, other)
}

/**
 * Objects that have lost most of their bytes, such as dashboards without panels. At least half of the
 * objects before had the median; those that are gone are no reason, since other rules judge them.
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
  return `${large} of ${entry.objects} objects have half of the ${median} bytes that most had before`
}

/**
 * The numbers that count: those of the window. Where the last good snapshot is about as old as the
 * window is long, those of a longer time: else a weekly backup would be measured against one alone.
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
 * What a manifest carries forward for later snapshots, by type: the higher numbers of the window,
 * and the last good numbers of types that the snapshot does not hold. A fall that somebody has
 * accepted starts anew.
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

/** Keeps the first number of each small part of the window, which is the highest: they only fall. */
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
