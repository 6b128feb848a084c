import { html } from 'hono/html'
import { cleanLine } from '../clean-text.ts'
import { type Markup, outside } from './markup.ts'

/** Characters of the title of the window. */
const MAX_TITLE = 200

/** A page without what every page has. */
export interface Page {
  /** Text for the title of the window and the heading. */
  readonly title: string
  /** The heading, where it is more than the title. */
  readonly heading?: Markup
  /** Where the page is, from the accounts on. */
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[]
  readonly body: Markup
  /** The command that shows the same. */
  readonly command?: string
  readonly user?: string | undefined
}

/** The whole document of a page. */
export function layout({ title, heading, crumbs = [], body, command, user }: Page): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${cleanLine(title, MAX_TITLE)} · dashkeep</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/">dashkeep</a>
<nav aria-label="Pages"><a href="/">Accounts</a></nav>
<span class="badge">${user === undefined ? '' : html`<bdi>${user}</bdi> · `}read only</span>
</header>
<main id="main" tabindex="-1">
${crumbs.length > 0 && breadcrumbs(crumbs)}
<h1>${heading ?? outside(title)}</h1>
${body}
${command !== undefined && commandBox(command)}
</main>
</body>
</html>
`
}

function breadcrumbs(crumbs: NonNullable<Page['crumbs']>): Markup {
  const items = crumbs.map(
    ({ label, href }) => html`<li><a href="${href}">${outside(label)}</a></li>`,
  )
  return html`<nav aria-label="Breadcrumb" class="crumbs"><ol>${items}</ol></nav>`
}

function commandBox(command: string): Markup {
  return html`<section class="command" aria-labelledby="command"><h2 id="command">The same on the command line</h2><pre tabindex="0"><code>${command}</code></pre></section>`
}
