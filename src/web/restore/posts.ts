import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'
import type { Page } from '../layout.ts'
import { type AppContext, show } from '../requests.ts'
import { type Access, type Gate, isSame, ownOrigin } from '../security.ts'

/** Largest body of a form, in bytes. */
const MAX_BODY = 1024 ** 2

/** Whether an address accepts POST, and nothing else. */
export function isPostPath(path: string): boolean {
  return /^\/basket\/(add|remove)$|^\/accounts\/[^/]+\/snapshots\/[^/]+\/restore\/start$/.test(path)
}

/**
 * Checks a form before its handler: it must come from a page of this server, not be too large, and
 * contain the form token of the user.
 */
export function guardPost(
  access: Access,
  gate: Gate,
): [MiddlewareHandler, MiddlewareHandler, MiddlewareHandler] {
  return [
    (context, next) => checkSender(context as AppContext, access, next),
    bodyLimit({
      maxSize: MAX_BODY,
      onError(context) {
        // The rest of the form is not read, so the connection cannot be used again.
        context.header('Connection', 'close')
        return show(context as AppContext, refused('The form is too large.'), 413)
      },
    }),
    (context, next) => checkForm(context as AppContext, gate, next),
  ]
}

type Next = Parameters<MiddlewareHandler>[1]

async function checkSender(context: AppContext, access: Access, next: Next) {
  const { req } = context
  const site = req.header('sec-fetch-site')
  const isOwn = req.header('origin') === ownOrigin(access, req.header('host') ?? '')
  if (!isOwn || (site !== undefined && site !== 'same-origin')) {
    return show(context, refused('The form was not sent by a page of this server.'), 403)
  }
  const [type] = (req.header('content-type') ?? '').split(';')
  if (type?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    return show(context, refused('The form has another encoding than forms of this server.'), 415)
  }
  return next()
}

async function checkForm(context: AppContext, gate: Gate, next: Next) {
  const form = new URLSearchParams(await context.req.text())
  const token = form.get('form-token') ?? ''
  if (!isSame(token, gate.formTokenOf(context.get('user')))) {
    const reason =
      'The form does not belong to this session. The server may have been started again since.'
    return show(context, refused(reason), 403)
  }
  context.set('form', form)
  return next()
}

/** For a form that is not accepted. */
export function refused(reason: string): Page {
  return {
    title: 'Not accepted',
    body: html`<p class="notice damaged">${reason}</p>
<p>Nothing was done. Go back, reload the page and send the form again.</p>`,
  }
}
