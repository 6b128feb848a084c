import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { DashkeepError } from '../../errors.ts'
import { knownAccount, putObjects } from '../objects/put-objects.ts'
import type { StoredAccount } from '../state/state.ts'
import { readBody, type Service } from './exchange.ts'
import { parseFault } from './fault-text.ts'
import { checkFault } from './faults.ts'

type App = Hono<{ Bindings: HttpBindings }>

/**
 * Adds the admin interface of the sandbox, under `/_sandbox`:
 * faults (GET, POST, DELETE), requests (GET, DELETE), accounts (GET),
 * `accounts/<id>/tokens` (POST), `accounts/<id>/objects/<type>` (PUT).
 */
export function addAdminRoutes(app: App, service: Service): void {
  const { faults, recorder, state } = service
  app.get('/_sandbox/faults', (context) => context.json(faults.pending()))
  app.post('/_sandbox/faults', async (context) => {
    const text = Buffer.from((await readBody(context.env.incoming)) ?? []).toString()
    return respond(() => {
      const given = /^\s*[[{]/.test(text) ? parseJson(text) : parseFault(text)
      for (const fault of [given].flat()) faults.add(checkFault(fault))
      return Response.json(faults.pending(), { status: 201 })
    })
  })
  app.delete('/_sandbox/faults', (context) => {
    faults.clear()
    return context.body(null, 204)
  })
  app.get('/_sandbox/requests', (context) => context.json(recorder.requests()))
  app.delete('/_sandbox/requests', (context) => {
    recorder.clear()
    return context.body(null, 204)
  })
  app.get('/_sandbox/accounts', (context) => {
    const withTokens = (account: StoredAccount) => ({
      ...account,
      apiTokens: state.tokensOf(account.accountId),
    })
    return context.json(state.accounts().map(withTokens))
  })
  app.post('/_sandbox/accounts/:id/tokens', (context) =>
    respond(() => {
      const { accountId } = knownAccount(state, Number(context.req.param('id')))
      return Response.json({ apiToken: state.addToken(accountId) }, { status: 201 })
    }),
  )
  app.put('/_sandbox/accounts/:id/objects/:type', async (context) => {
    const { id, type } = context.req.param()
    const given = (await readBody(context.env.incoming)) ?? new Uint8Array()
    return respond(() => {
      putObjects(service, Number(id), { type, given })
      return new Response(null, { status: 204 })
    })
  })
}

/** Turns a `DashkeepError` into an answer with status 400. */
function respond(work: () => Response): Response {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof DashkeepError)) throw error
    return Response.json({ message: error.message, hint: error.hint }, { status: 400 })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new DashkeepError('Cannot add the fault: it is not JSON', { kind: 'usage', cause })
  }
}
