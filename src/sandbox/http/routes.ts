import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { addAdminRoutes } from './admin.ts'
import { listDetailed, readDetailed } from './detailed.ts'
import { answer, type Perform, recordRequest, type Service } from './exchange.ts'
import { exportObjects } from './exports.ts'
import type { Operation } from './faults.ts'
import { importObjects } from './imports.ts'
import {
  createSubAccount,
  listSubAccounts,
  readSubAccount,
  removeSubAccount,
  replaceSubAccount,
  whoami,
} from './sub-accounts.ts'

/** Creates the routes of the service, and the admin interface under `/_sandbox`. */
export function createRoutes(service: Service): Hono<{ Bindings: HttpBindings }> {
  const { pathPrefix, extraOperations } = service.options.behaviour
  const subAccounts = `${pathPrefix}/account-management/time-based-accounts`
  const app = new Hono<{ Bindings: HttpBindings }>()
  const serve = (operation: Operation, perform: Perform) => {
    return async ({ env, req }: Context<{ Bindings: HttpBindings }>) => {
      const { incoming, outgoing } = env
      await answer(
        service,
        { incoming, outgoing },
        { operation, perform, id: req.param('id') ?? '' },
      )
      return RESPONSE_ALREADY_SENT
    }
  }
  app.get('/v2/whoami', serve('whoami', whoami))
  app.post(`${pathPrefix}/kibana/export`, serve('export', exportObjects))
  app.on('GET', [subAccounts, `${subAccounts}/`], serve('list', listSubAccounts))
  app.post(subAccounts, serve('create', createSubAccount))
  app.put(`${subAccounts}/:id`, serve('replace', replaceSubAccount))
  if (extraOperations) {
    app.post(`${pathPrefix}/kibana/import`, serve('import', importObjects))
    app.get(`${subAccounts}/detailed`, serve('list', listDetailed))
    app.get(`${subAccounts}/detailed/:id`, serve('read', readDetailed))
    app.get(`${subAccounts}/:id`, serve('read', readSubAccount))
    app.delete(`${subAccounts}/:id`, serve('remove', removeSubAccount))
  }
  addAdminRoutes(app, service)
  app.notFound((context) => {
    const { incoming } = context.env
    const nothing = { operation: undefined, type: undefined, account: undefined }
    recordRequest(service, incoming, nothing)(404)
    return context.json({ code: 404, message: 'Not found' }, 404)
  })
  app.onError((error, context) => {
    const { outgoing } = context.env
    service.options.onError(error)
    if (outgoing.destroyed || outgoing.headersSent) {
      outgoing.destroy()
      return RESPONSE_ALREADY_SENT
    }
    return context.json({ message: `The sandbox failed: ${error.message}` }, 500)
  })
  return app
}
