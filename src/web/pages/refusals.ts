import { html } from 'hono/html'
import type { DashkeepError } from '../../errors.ts'
import { ServiceFailure } from '../compare/live.ts'
import type { Page } from '../layout.ts'
import { outside } from '../markup.ts'
import { MAX_SEARCH } from '../requests.ts'
import { type Access, MAX_USER, type Reader } from '../security.ts'

/** For an address that leads nowhere. */
export function notFound(): Page {
  return {
    title: 'Not found',
    body: html`<p>The archive has nothing at this address. A snapshot may have been pruned since.</p>
<p><a href="/">All accounts</a></p>`,
  }
}

/** For a text to search for that is too long. */
export function searchTooLong(length: number): Page {
  return {
    title: 'The search text is too long',
    body: html`<p>Cannot search for a text of ${length} characters: at most ${MAX_SEARCH} are allowed. Search for a part of it.</p>
<p><a href="/find">Find</a></p>`,
  }
}

/** For a method that the address does not accept. */
export function notAllowed(isRestoreAllowed: boolean): Page {
  const reason = isRestoreAllowed
    ? 'This address does not accept this kind of request.'
    : 'These pages are read only.'
  return { title: 'Not allowed', body: html`<p>${reason}</p>` }
}

/** For a reader without access. `address` is the page that was asked for. */
export function signInPage(
  address: string,
  access: Access,
  refusal: Refusal = 'not signed in',
): Page {
  if (access.kind === 'proxy') {
    return {
      title: 'Not signed in',
      body: html`<p>${proxyRefusals(access.userHeader)[refusal]} Sign in at <a href="${access.origin.origin}">${access.origin.origin}</a>.</p>`,
    }
  }
  return {
    title: 'Not signed in',
    body: html`<p>Open the address that <code>dashkeep web</code> printed. It works once; start the command again for a new one.</p>
<p>If you have signed in with this browser before, <a href="${address}">continue</a>.</p>`,
  }
}

type Refusal = Extract<Reader, { refusal: string }>['refusal']

function proxyRefusals(header: string): Record<Refusal, string> {
  return {
    'not signed in': 'The proxy named no user.',
    'several names': `The request has several headers ${header}. The proxy must remove those of the browser and set its own.`,
    'name too long': `The user in the header ${header} has more than ${MAX_USER} characters.`,
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
    title:
      error instanceof ServiceFailure ? 'The service cannot be read' : 'The archive cannot be read',
    body: html`<p class="notice damaged">${outside(error.message, 2000)}</p>
${error.hint !== undefined && html`<p>Hint: ${outside(error.hint, 2000)}</p>`}
<p><a href="">Try again</a> · <a href="/">All accounts</a></p>`,
  }
}
