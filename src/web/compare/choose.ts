import { html } from 'hono/html'
import { formatTime } from '../../wording.ts'
import { commandLine } from '../command-line.ts'
import type { Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import { type Markup, option, outside } from '../markup.ts'
import type { AccountLine } from '../overview.ts'
import { hasService, type Side, serviceReference } from './sides.ts'

/** Snapshots that a list offers, the newest. Any other can be named in the address. */
const MAX_OFFERED = 400

/** What a form offers for one side: the snapshots of an account, and which of them is chosen. */
interface Offer {
  readonly view: AccountView
  /** A reference to a side. */
  readonly chosen?: string | undefined
}

/** A form that compares two snapshots, the second also with the service where it can be read. */
export function sidesForm(
  library: Library,
  { from, to, id = '' }: { from: Offer; to: Offer; id?: string },
): Markup {
  return html`<form method="get" action="/compare" class="search">
<label>From <select name="from">${snapshotOptions(from)}</select></label>
<label>To <select name="to">${hasService(library, to.view) && option(serviceReference(to.view), 'the service now', to.chosen)}${snapshotOptions(to)}</select></label>
${id !== '' && html`<input type="hidden" name="id" value="${id}">`}
<button>Compare</button>
</form>`
}

function snapshotOptions({ view, chosen }: Offer): Markup[] {
  const { accountId, folders } = view
  const offered = folders.toReversed().filter(({ snapshot }, nth) => {
    return nth < MAX_OFFERED || `${accountId}/${snapshot}` === chosen
  })
  return offered.map(({ snapshot, takenAt }) => {
    const pin = view.pins.has(snapshot) ? ', pinned' : ''
    return option(`${accountId}/${snapshot}`, `${formatTime(takenAt)} UTC${pin}`, chosen)
  })
}

/** Chooses what to compare. `side` is the one that is chosen already. */
export async function choosePage(library: Library, side: Side | undefined): Promise<Page> {
  const { lines } = await library.overview.accounts()
  const accounts = lines.filter(({ status }) => status !== undefined)
  const options = accounts.map(({ accountId, name }) => {
    return option(String(accountId), `${name} (${accountId})`)
  })
  return {
    title: 'Compare',
    crumbs: [],
    body: html`${side && ownSnapshots(library, side)}
<h2>${side ? 'With another account' : 'Two accounts'}</h2>
<form method="get" action="/compare" class="search">
${side ? html`<input type="hidden" name="from" value="${side.reference}">` : html`<label>From <select name="from">${options}</select></label>`}
<label>To <select name="to">${options}</select></label>
<button>Compare</button>
</form>
<p class="hint">${side === undefined ? 'The newest snapshots are compared. ' : 'The newest snapshot of the other account is compared. '}You can choose others on the next page.</p>`,
    command: commandOf(side, accounts),
  }
}

/** The command of the comparison that the page suggests first. */
function commandOf(side: Side | undefined, accounts: readonly AccountLine[]): string {
  const [first, second] = accounts.flatMap(({ accountId }) => accountId ?? [])
  if (side !== undefined) {
    return commandLine('diff', side.manifest.snapshot, 'latest', '--account', side.view.accountId)
  }
  if (first === undefined || second === undefined) return commandLine('diff', 'latest~1', 'latest')
  return commandLine('diff', 'latest', 'latest', '--account', first, '--other-account', second)
}

function ownSnapshots(library: Library, { view, reference }: Side): Markup {
  const newest = view.past.at(-1)
  const to = newest && `${view.accountId}/${newest.snapshot}`
  return html`<h2>With another snapshot of ${outside(view.name)}</h2>
${sidesForm(library, { from: { view, chosen: reference }, to: { view, chosen: to } })}`
}
