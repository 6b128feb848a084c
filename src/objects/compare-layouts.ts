import type { DashboardLayout, DashboardPanel } from './dashboard-layout.ts'
import { equalJson, type JsonObject } from './lossless-json.ts'
import { objectState } from './object-state.ts'
import type { SavedObject } from './saved-object.ts'

/** What happened to a panel: one or more of these, or none. */
export type PanelChange = 'added' | 'removed' | 'moved' | 'resized' | 'changed'

/**
 * Why a panel counts as changed inside: it shows another `object`, the `content` of its object
 * differs, the object is in one snapshot only (`presence`), or the panel's own `settings` differ.
 */
export type InsideChange = 'object' | 'content' | 'presence' | 'settings'

/** A panel in both versions of a dashboard, or in one of them. */
export interface PanelPair {
  /** Counted from 1, first the panels of the newer version, then those that it has not. */
  readonly number: number
  readonly before: DashboardPanel | undefined
  readonly after: DashboardPanel | undefined
  /** Empty when the panel is the same in both. */
  readonly changes: readonly PanelChange[]
  /** Filled when `changes` holds `changed`. */
  readonly inside: readonly InsideChange[]
}

/** How the layout of a dashboard differs between two versions. */
export interface LayoutComparison {
  readonly before: DashboardLayout
  readonly after: DashboardLayout
  readonly pairs: readonly PanelPair[]
  /** Number of panels with each change. */
  readonly counts: Readonly<Record<PanelChange, number>>
}

/**
 * Compares two versions of a dashboard panel by panel. Panels are matched as `diffValues` does: by
 * `panelIndex`, or by the object they show where a version has panels without one. A dashboard that
 * was only converted to a newer form is the same, since both places are on the same grid.
 */
export function compareLayouts(before: DashboardLayout, after: DashboardLayout): LayoutComparison {
  const keys = chooseKeys(before.panels, after.panels)
  const older = new Map(before.panels.map((panel, nth) => [keys.before[nth], panel]))
  const newer = new Map(after.panels.map((panel, nth) => [keys.after[nth], panel]))
  const kept = [...newer].map(([key, panel]) => [older.get(key), panel] as const)
  const gone = [...older].filter(([key]) => !newer.has(key)).map(([, panel]) => [panel] as const)
  const pairs = [...kept, ...gone].map(([one, other], nth) => pairOf(nth + 1, one, other))
  const count = (change: PanelChange) =>
    pairs.filter(({ changes }) => changes.includes(change)).length
  return {
    before,
    after,
    pairs,
    counts: {
      added: count('added'),
      removed: count('removed'),
      moved: count('moved'),
      resized: count('resized'),
      changed: count('changed'),
    },
  }
}

type Panels = readonly DashboardPanel[]

/** The keys of both lists, in order. No list holds a key twice. */
function chooseKeys(before: Panels, after: Panels) {
  const indexes = (panels: Panels) => panels.map(({ panelIndex }) => panelIndex ?? '')
  const both = [indexes(before), indexes(after)] as const
  const isUsable = both.every((keys) => !keys.includes('') && new Set(keys).size === keys.length)
  if (isUsable) return { before: both[0], after: both[1] }
  return { before: objectKeys(before), after: objectKeys(after) }
}

/** The object of each panel, with a number when several panels show the same. */
function objectKeys(panels: Panels): string[] {
  const seen = new Map<string, number>()
  return panels.map(({ content: { objectId = '' } }) => {
    const times = (seen.get(objectId) ?? 0) + 1
    seen.set(objectId, times)
    return `${times} ${objectId}`
  })
}

function pairOf(
  number: number,
  before: DashboardPanel | undefined,
  after: DashboardPanel | undefined,
): PanelPair {
  if (before === undefined) return { number, before, after, changes: ['added'], inside: [] }
  if (after === undefined) return { number, before, after, changes: ['removed'], inside: [] }
  const [from, to] = [before.place, after.place]
  const isComparable = before.isPlaced || after.isPlaced
  const inside = findInside(before, after)
  const changes: PanelChange[] = []
  if (isComparable && (from.x !== to.x || from.y !== to.y)) changes.push('moved')
  if (isComparable && (from.width !== to.width || from.height !== to.height)) {
    changes.push('resized')
  }
  if (inside.length > 0) changes.push('changed')
  return { number, before, after, changes, inside }
}

function findInside(before: DashboardPanel, after: DashboardPanel): InsideChange[] {
  const [from, to] = [before.content, after.content]
  const inside: InsideChange[] = []
  if (from.objectId !== to.objectId) inside.push('object')
  else if ((from.object === undefined) !== (to.object === undefined)) inside.push('presence')
  else if (differ(from.object, to.object)) inside.push('content')
  if (!equalJson(settingsOf(before.stored), settingsOf(after.stored))) inside.push('settings')
  return inside
}

function differ(one: SavedObject | undefined, other: SavedObject | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return false
  return objectState(one) !== objectState(other)
}

/** Members that say where a panel is, what it shows, and which version stored it. */
const otherMembers = [
  'col',
  'row',
  'size_x',
  'size_y',
  'gridData',
  'id',
  'type',
  'panelRefName',
  'panelIndex',
  'version',
]

/** What a panel sets itself, such as its title or its colours. An empty value sets nothing. */
function settingsOf(panel: JsonObject): JsonObject {
  const settings = [...panel].filter(
    ([name, value]) =>
      !otherMembers.includes(name) && !(value instanceof Map && value.size === 0) && value !== '',
  )
  return new Map(settings)
}
