import { html } from 'hono/html'
import type { MissingObject } from '../../../restore/choose.ts'
import type { PreparedRestore } from '../../../run/restore-to-service.ts'
import { plural } from '../../../wording.ts'
import { type Markup, outside } from '../../markup.ts'

/** Items of a list. */
const MAX_ITEMS = 200

/** What the restored objects need and the restore does not include. */
export function needsSection({ restoring, plan }: PreparedRestore): Markup | undefined {
  const { indexPatterns, others, unexplained } = restoring.selection
  const lists = [
    list('Missing in the snapshot and in the service', plan.missing, describe),
    list(
      'Index patterns that must exist, because no export includes them',
      indexPatterns,
      describe,
    ),
    list('Other objects that must exist, of types that were not backed up', others, describe),
    list(
      'Objects whose references do not name everything they use',
      unexplained,
      ({ id, names }) => html`${outside(id)} uses ${outside(names.join(', '))}`,
    ),
  ]
  if (lists.every((one) => one === undefined)) return undefined
  return html`<h2>What else is needed</h2>${lists}`
}

function list<Item>(
  heading: string,
  items: readonly Item[],
  describeItem: (item: Item) => Markup,
): Markup | undefined {
  if (items.length === 0) return undefined
  const more = items.length - MAX_ITEMS
  return html`<h3>${heading}</h3>
<ul class="needs">${items.slice(0, MAX_ITEMS).map((item) => html`<li>${describeItem(item)}</li>`)}${more > 0 && html`<li>and ${more} more</li>`}</ul>`
}

function describe({ type, objectId, neededBy }: MissingObject): Markup {
  const [first = ''] = neededBy
  const more = neededBy.length > 1 ? ` and ${plural(neededBy.length - 1, 'other')}` : ''
  return html`<code>${outside(`${type}:${objectId}`)}</code>, needed by ${outside(first)}${more}`
}
