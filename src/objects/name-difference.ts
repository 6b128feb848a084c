// Tested by test/e2e/finding.test.ts

import type { ObjectDiff, PanelPlace, Step } from './diff-objects.ts'
import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  stringifyLossless,
} from './lossless-json.ts'

/** Characters of a value or a title shown. */
const MAX_VALUE = 100

/** Said when the bytes differ and the expanded content is equal. */
export const sameContent = 'the same content in different bytes'

/** Where a panel went and how its size changed, in words. */
export function describeMove(before: PanelPlace, after: PanelPlace): string {
  const corner = ({ x, y }: PanelPlace) => `column ${x}, row ${y}`
  const size = ({ width, height }: PanelPlace) => `${width}×${height}`
  const parts: string[] = []
  if (corner(before) !== corner(after))
    parts.push(`moved from ${corner(before)} to ${corner(after)}`)
  if (size(before) !== size(after)) parts.push(`resized from ${size(before)} to ${size(after)}`)
  return parts.join(', ')
}

/**
 * `panelsJSON › panel 3 (Errors by host) › title`: the path inside the saved object. Titles are cut
 * to `maxTitle` characters.
 */
export function formatPath(
  path: readonly Step[],
  diff: Pick<ObjectDiff, 'type' | 'references'>,
  maxTitle = MAX_VALUE,
): string {
  const steps = ownPath(path, diff.type).map((step) => formatStep(step, diff, maxTitle))
  return steps.join(' › ') || 'the hit'
}

/** A path without the members that surround every saved object; in the oldest form only `_source`. */
export function ownPath(path: readonly Step[], type: string): readonly Step[] {
  if (path[0] !== '_source') return path
  const own = path[1] === type && path.length > 2 ? path.slice(2) : path.slice(1)
  return own[0] === 'kibanaSavedObjectMeta' && own.length > 1 ? own.slice(1) : own
}

/** One step of a path. */
export function formatStep(
  step: Step,
  diff: Pick<ObjectDiff, 'references'>,
  maxTitle = MAX_VALUE,
): string {
  if (typeof step === 'string') return step
  if (typeof step === 'number') return `[${step}]`
  const key = step.key
  const label = isPanel(step) ? `panel ${key}` : `${step.by} ${key}`
  const title = titleOfItem(step.item, diff)
  return title === undefined ? label : `${label} (${shorten(title, maxTitle)})`
}

/** Whether a step leads to a panel of a dashboard. */
export function isPanel(step: Step | undefined): boolean {
  return typeof step === 'object' && step.by === 'panelIndex'
}

/** The title of an item, or the object that it shows. */
function titleOfItem(
  item: JsonObject,
  { references }: Pick<ObjectDiff, 'references'>,
): string | undefined {
  const config = asJsonObject(item.get('embeddableConfig'))
  const inner = asJsonObject(config?.get('attributes')) ?? asJsonObject(config?.get('savedVis'))
  const titles = [item, config, inner].map((holder) => asText(holder?.get('title')))
  const panelRefName = item.get('panelRefName')
  const shown = references.find(({ name }) => name === panelRefName)
  const named = item.has('panelIndex') ? asText(item.get('id')) : undefined
  const kind = asText(item.get('type'))
  return [...titles, shown?.id, named, kind].find((text) => text !== undefined && text !== '')
}

/** A value as JSON, cut to a line. */
export function formatValue(value: JsonValue): string {
  return shorten(stringifyLossless(value))
}

/** The start of a text that is too long. */
export function shorten(text: string, max = MAX_VALUE): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}
