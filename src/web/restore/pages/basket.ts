import { html } from 'hono/html'
import { DashkeepError } from '../../../errors.ts'
import type { ObjectEntry } from '../../../restore/catalogue.ts'
import { chooseObjects } from '../../../restore/choose.ts'
import { isImportable } from '../../../restore/source.ts'
import { plural } from '../../../wording.ts'
import { objectPath, snapshotPath } from '../../addresses.ts'
import type { Page } from '../../layout.ts'
import type { Library } from '../../library.ts'
import { dataTable, type Markup, nameOf, objectLink, outside, timeWithAge } from '../../markup.ts'
import type { FoundSnapshot } from '../../requests.ts'
import type { BasketGroup } from '../baskets.ts'
import { fieldOf, hiddenFields, type RestoreControls, refusalNote } from '../controls.ts'
import { commandOf, namesOf, requestOf, writeRequest } from '../request.ts'

/** Rows of a table. */
const MAX_ROWS = 500

/** A group of the basket, with its snapshot as far as the archive still has it. */
export interface FoundGroup {
  readonly group: BasketGroup
  readonly found: FoundSnapshot | undefined
  /** Why the snapshot cannot be read. */
  readonly problem?: string | undefined
}

/** The chosen objects of a reader by snapshot, and what comes along with them. */
export async function basketPage(
  library: Library,
  groups: readonly FoundGroup[],
  restore: RestoreControls,
): Promise<Page> {
  const sections: Markup[] = []
  for (const [place, one] of groups.entries()) {
    sections.push(await groupSection(library, one, { restore, place }))
  }
  const commands = groups.map(({ group }) => {
    const request = requestOf(group)
    return commandOf(group, request, namesOf(request, group))
  })
  return {
    title: 'Basket',
    crumbs: [],
    body:
      sections.length > 0
        ? html`<p>Each snapshot is restored by itself. Nothing is sent before you confirm a plan.</p>
${sections}`
        : html`<p class="notice">The basket is empty. Open an object or a snapshot, and put objects into the basket.</p>`,
    ...(commands.length > 0 && { command: commands.join('\n') }),
  }
}

interface SectionOptions {
  readonly restore: RestoreControls
  readonly place: number
}

async function groupSection(
  library: Library,
  { group, found, problem }: FoundGroup,
  { restore, place }: SectionOptions,
): Promise<Markup> {
  const { accountId, snapshot, ids } = group
  const remove = removeForm(restore, group)
  if (found === undefined) {
    const reason = problem ?? 'The archive does not hold the snapshot any more.'
    return html`<section aria-labelledby="group-${place}"><h2 id="group-${place}">Account ${accountId}, snapshot ${snapshot}</h2>
<p class="notice damaged">${outside(reason, 1000)}</p>${remove}</section>`
  }
  const { view, line } = found
  const path = snapshotPath(group)
  const refusal = restore.refusalOf(line.manifest.account)
  const plan = `${path}/restore?${writeRequest(requestOf(group))}`
  return html`<section aria-labelledby="group-${place}" class="basket-group">
<h2 id="group-${place}">${outside(view.name)}, ${timeWithAge(line.folder.takenAt, library.now())}</h2>
<p>Snapshot <a href="${path}">${snapshot}</a> of account ${accountId}</p>
${await objectTables(library, found, group, restore)}
<div class="actions">${refusal === undefined ? html`<a class="button" href="${plan}">Plan the restore of ${plural(ids.size, 'object')}</a>` : refusalNote(refusal)}
${remove}</div>
</section>`
}

function removeForm(restore: RestoreControls, group: BasketGroup): Markup {
  const { accountId, snapshot } = group
  return html`<form method="post" action="/basket/remove" class="basket-remove">${hiddenFields(restore, { group: fieldOf({ accountId, snapshot, id: '' }) })}<button class="plain">Remove all objects of this snapshot</button></form>`
}

async function objectTables(
  library: Library,
  { line: { manifest } }: FoundSnapshot,
  group: BasketGroup,
  restore: RestoreControls,
): Promise<Markup> {
  const entries = await library.catalogue(manifest)
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const chosen = [...group.ids].map(
    (id) => byId.get(id) ?? { id, title: undefined, exportType: '' },
  )
  const names = chosen.flatMap(({ id, exportType }) => (exportType === '' ? [] : [id]))
  const exports = manifest.exports.filter(({ type }) => isImportable(type))
  const source = { label: `snapshot ${manifest.snapshot}`, exports }
  const { objects } = chooseObjects(source, entries, { names })
  const along = objects.filter(({ id }) => !group.ids.has(id))
  const users = usersOf(objects)
  const removal = (id: string) =>
    html`<form method="post" action="/basket/remove" class="inline">${hiddenFields(restore, { object: fieldOf({ ...group, id }) })}<button class="plain">Remove<span class="hidden"> ${outside(id)}</span></button></form>`
  return html`${dataTable(
    `${plural(chosen.length, 'chosen object')}${cut(chosen.length)}`,
    [{ name: 'Title' }, { name: 'Type' }, { name: 'Basket' }],
    chosen
      .slice(0, MAX_ROWS)
      .map((entry) => [
        objectLink(entry, objectPath(group, entry.id)),
        entry.exportType === '' ? 'not in this snapshot' : entry.exportType,
        removal(entry.id),
      ]),
  )}
${
  along.length === 0
    ? html`<p>The chosen objects need no other objects.</p>`
    : dataTable(
        `${plural(along.length, 'object')} that the chosen objects need${cut(along.length)}`,
        [{ name: 'Title' }, { name: 'Type' }, { name: 'Needed by' }],
        along
          .slice(0, MAX_ROWS)
          .map((entry) => [
            objectLink(entry, objectPath(group, entry.id)),
            entry.exportType,
            neededBy(users.get(entry.id)),
          ]),
      )
}`
}

function cut(rows: number): string {
  return rows > MAX_ROWS ? `, the first ${MAX_ROWS} of them shown` : ''
}

/** The objects that need each object, by its id. */
function usersOf(objects: readonly ObjectEntry[]): Map<string, ObjectEntry[]> {
  const users = new Map<string, ObjectEntry[]>()
  for (const object of objects) {
    for (const { type, id } of object.references) {
      const needed = `${type}:${id}`
      users.set(needed, [...(users.get(needed) ?? []), object])
    }
  }
  return users
}

function neededBy(users: readonly ObjectEntry[] = []): Markup {
  const [first, ...others] = users
  const more = others.length > 0 ? ` and ${plural(others.length, 'other')}` : ''
  return html`${first && outside(nameOf(first))}${more}`
}

/** What a group shows of a failure to read its snapshot. Throws what is not for people. */
export function problemOf(error: unknown): string {
  if (error instanceof DashkeepError) return error.message
  throw error
}
