import { html } from 'hono/html'
import type { DashkeepError } from '../../errors.ts'
import type { Page } from '../layout.ts'
import { outside } from '../markup.ts'
import type { Access } from '../security.ts'

/** For an address that leads nowhere. */
export function notFound(): Page {
  return {
    title: 'Not found',
    body: html`<p>The archive has nothing at this address. A snapshot may have been pruned since.</p>
<p><a href="/">All accounts</a></p>`,
  }
}

/** For any request that is not a reading one. */
export function notAllowed(): Page {
  return { title: 'Not allowed', body: html`<p>These pages are read only.</p>` }
}

/** For a reader who is not let in. `address` is where the reader wanted to go. */
export function signInPage(address: string, access: Access): Page {
  if (access.kind === 'proxy') {
    return {
      title: 'Not signed in',
      body: html`<p>The proxy named no user. Sign in at <a href="${access.origin.origin}">${access.origin.origin}</a>.</p>`,
    }
  }
  return {
    title: 'Not signed in',
    body: html`<p>Open the address that <code>dashkeep web</code> printed. It works once; start the command again for a new one.</p>
<p>If this browser was let in before, <a href="${address}">continue</a>.</p>`,
  }
}

/** For a failure: the message for people, or a few words when nothing is known. */
export function describeFailure(error: DashkeepError | undefined): Page {
  if (error === undefined) {
    return {
      title: 'This page failed',
      body: html`<p>This is a bug in dashkeep. The log of <code>dashkeep web</code> has the details.</p>`,
    }
  }
  return {
    title: 'The archive cannot be read',
    body: html`<p class="notice damaged">${outside(error.message, 2000)}</p>
${error.hint !== undefined && html`<p>Hint: ${outside(error.hint, 2000)}</p>`}
<p><a href="">Try again</a> · <a href="/">All accounts</a></p>`,
  }
}
