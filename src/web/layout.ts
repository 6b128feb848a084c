import { html } from 'hono/html'
import { cleanLine } from '../clean-text.ts'
import { accountPath } from './addresses.ts'
import { type Markup, outside } from './markup.ts'
import type { RestoreControls } from './restore/controls.ts'

/** Characters of the title of the window. */
const MAX_TITLE = 200

/** Characters of the name of the user. */
const MAX_USER_SHOWN = 100

/** The sign of dashkeep: a dashboard of four panels, one of them being put back. */
const mark = 'M1 1H9V12H1ZM11 1H19V7H11ZM1 14H9V19H1ZM14 9H16V13H19L15 19L11 13H14Z'
const icon = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'><path fill='#2b7de0' d='${mark}'/></svg>`)}`

/** A page above another one. */
interface Crumb {
  readonly label: string
  readonly href: string
}

/** Leads to the page of an account. */
export function accountCrumb({ accountId, name }: { accountId: number; name: string }): Crumb {
  return { label: name, href: accountPath(accountId) }
}

/** What a page shows of its own. */
export interface Page {
  /** Text for the title of the window and the heading. */
  readonly title: string
  /** The heading, where it is more than the title. */
  readonly heading?: Markup
  /** The pages between the accounts and this one; undefined for a page that is not below them. */
  readonly crumbs?: readonly Crumb[]
  readonly body: Markup
  /** The command that shows the same. */
  readonly command?: string
  /** Seconds after which a browser without script asks again. With it, `data-poll` does. */
  readonly refreshSeconds?: number | undefined
}

/** What every page shows. */
interface Frame {
  /** The link of the navigation that leads to the page, or to a page above it. */
  readonly section: string
  readonly user: string | undefined
  /** Whether the server restores objects to the service. */
  readonly isRestoreAllowed: boolean
  /** Undefined when the pages are read only, and for a reader without access. */
  readonly restore: RestoreControls | undefined
}

/** The whole document of a page. */
export function layout(
  { title, heading, crumbs, body, command, refreshSeconds }: Page,
  { section, user, isRestoreAllowed, restore }: Frame,
): Markup {
  const navLink = (href: string, label: string | Markup) =>
    html`<a href="${href}"${href === section && html` aria-current="true"`}>${label}</a>`
  const mode = isRestoreAllowed ? 'restore allowed' : 'read only'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${cleanLine(title, MAX_TITLE)} · dashkeep</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>\n`}<meta name="color-scheme" content="light dark">
${restore && html`<meta name="referrer" content="same-origin">\n`}<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/style.css">
<script type="module" src="/script.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/"><svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><path d="${mark}"/></svg>dashkeep</a>
<nav aria-label="Pages">${navLink('/', 'Accounts')} ${navLink('/find', 'Find')} ${navLink('/compare', 'Compare')}${restore && html` ${navLink('/basket', html`Basket <span class="count">${restore.inBasket}</span>`)} ${navLink('/restores', 'Restores')}`}</nav>
<span class="badge">${user === undefined ? '' : html`${outside(user, MAX_USER_SHOWN)} · `}${mode}</span>
</header>
<main id="main" tabindex="-1">
${crumbs && breadcrumbs([{ label: 'Accounts', href: '/' }, ...crumbs])}
<h1>${heading ?? outside(title)}</h1>
${body}
${command !== undefined && commandBox(command)}
</main>
<footer class="foot"><p data-zone>Times are in UTC.</p></footer>
</body>
</html>
`
}

function breadcrumbs(crumbs: readonly Crumb[]): Markup {
  const items = crumbs.map(
    ({ label, href }) => html`<li><a href="${href}">${outside(label)}</a></li>`,
  )
  return html`<nav aria-label="Breadcrumb" class="crumbs"><ol>${items}</ol></nav>`
}

function commandBox(command: string): Markup {
  return html`<section class="command" aria-labelledby="command"><h2 id="command">The same on the command line</h2><pre tabindex="0"><code>${command}</code></pre></section>`
}
