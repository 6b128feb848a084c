import { html } from 'hono/html'
import { readAccountId } from '../../account-id.ts'
import { DashkeepError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { objectsToSend } from '../../restore/plan.ts'
import type { PreparedRestore } from '../../run/restore-to-service.ts'
import type { Library } from '../library.ts'
import { type Markup, outside } from '../markup.ts'
import {
  type App,
  type AppContext,
  type FoundSnapshot,
  findSnapshot,
  findSnapshotNamed,
  show,
  signalOf,
} from '../requests.ts'
import type { Access, Gate } from '../security.ts'
import type { BasketGroup, BasketObject } from './baskets.ts'
import type { RestoreControls } from './controls.ts'
import { basketPage, type FoundGroup, problemOf } from './pages/basket.ts'
import {
  isConfirmed,
  linkedPlanPage,
  type PlanQuestion,
  planPage,
  refusedPlanPage,
} from './pages/plan.ts'
import { restorePage, restoresPage, unknownRestorePage } from './pages/restores.ts'
import { guardPost, refused } from './posts.ts'
import type { RestoreJob } from './registry.ts'
import { namesOf, type RestoreRequest, readRequest } from './request.ts'
import type { Restores } from './restores.ts'
import { chooseRequested, runJob } from './run-job.ts'

interface RouteOptions {
  readonly library: Library
  readonly restores: Restores
  readonly access: Access
  readonly gate: Gate
  readonly log: Logger
}

/** Adds the basket, the plans and the restores. Without these routes, the pages are read only. */
export function addRestoreRoutes(app: App, options: RouteOptions): void {
  const { library, restores, access, gate } = options
  const guard = guardPost(access, gate)
  app.get('/basket', (context) => showBasket(context, options))
  app.post('/basket/add', ...guard, (context) => addToBasket(context, options))
  app.post('/basket/remove', ...guard, (context) => removeFromBasket(context, restores))
  const plan = '/accounts/:account/snapshots/:snapshot/restore'
  app.get(plan, (context) => showPlan(context, options))
  app.post(`${plan}/start`, ...guard, (context) => start(context, options))
  app.get('/restores', (context) =>
    show(context, restoresPage(restores.registry.list(), library.now())),
  )
  app.get('/restores/:restore', (context) => {
    const job = restores.registry.get(context.req.param('restore'))
    return job === undefined
      ? show(context, unknownRestorePage(), 404)
      : show(context, restorePage(job, library.now()))
  })
}

async function showBasket(context: AppContext, { library, restores }: RouteOptions) {
  const signal = signalOf(library, context)
  const find = async (group: BasketGroup): Promise<FoundGroup> => {
    const { accountId, snapshot } = group
    try {
      return { group, found: await findSnapshotNamed(library, { accountId, snapshot }, signal) }
    } catch (error) {
      return { group, found: undefined, problem: problemOf(error) }
    }
  }
  const groups = await Promise.all(restores.baskets.of(context.get('user')).map(find))
  return show(context, await basketPage(library, groups, controlsOf(context)))
}

/** What pages show of restoring. Only called where restoring is allowed. */
function controlsOf(context: AppContext): RestoreControls {
  return context.get('restore') as RestoreControls
}

function addToBasket(context: AppContext, { restores }: RouteOptions) {
  const objects = context.get('form').getAll('object').map(readObject)
  if (objects.length === 0) {
    return show(context, refused('No object was chosen. Mark at least one.'), 422)
  }
  const known = objects.filter((one) => one !== undefined && one.id !== '') as BasketObject[]
  if (known.length < objects.length) {
    return show(context, refused('The form names an object that cannot be chosen.'), 422)
  }
  try {
    restores.baskets.add(context.get('user'), known)
  } catch (error) {
    return show(context, refused(problemOf(error)), 409)
  }
  return context.redirect('/basket', 303)
}

function removeFromBasket(context: AppContext, { baskets }: Restores) {
  const [form, user] = [context.get('form'), context.get('user')]
  const objects = form.getAll('object').map(readObject)
  const group = readObject(form.get('group') ?? '')
  const ids = group && baskets.group(user, group.accountId, group.snapshot)?.ids
  const ofGroup = [...(ids ?? [])].map((id) => ({ ...(group as BasketObject), id }))
  baskets.remove(user, [...objects.filter((one) => one !== undefined), ...ofGroup])
  return context.redirect('/basket', 303)
}

/** Reads what `fieldOf` wrote. */
function readObject(field: string): BasketObject | undefined {
  const parts = new URLSearchParams(field)
  const accountId = readAccountId(parts.get('account') ?? '')
  const snapshot = parts.get('snapshot') ?? ''
  if (accountId === undefined || snapshot === '' || snapshot.length > 100) return undefined
  return { accountId, snapshot, id: parts.get('id') ?? '' }
}

async function showPlan(context: AppContext, options: RouteOptions) {
  const found = await findSnapshot(options.library, context, signalOf(options.library, context))
  const request = readRequest(new URL(context.req.url).searchParams)
  if (found === undefined || request === undefined) return context.notFound()
  const site = context.req.header('sec-fetch-site') ?? ''
  if (['cross-site', 'same-site'].includes(site)) {
    const { pathname, search } = new URL(context.req.url)
    return show(context, linkedPlanPage(pathname + search))
  }
  return answerPlan(context, options, { found, request })
}

/** Plans with a fresh export and shows the plan, or why there is none. */
async function answerPlan(
  context: AppContext,
  options: RouteOptions,
  asked: { found: FoundSnapshot; request: RestoreRequest; problem?: string },
) {
  const { library, restores } = options
  const { registry } = restores
  const { found, request, problem } = asked
  const signal = signalOf(library, context)
  const user = context.get('user')
  const names = namesOf(request, groupOf(restores, user, found))
  const notices: Markup[] = problem === undefined ? [] : [alert(problem)]
  const question = { found, request, names, restore: controlsOf(context), notices }
  const running = registry.running(found.view.accountId)
  if (running !== undefined) notices.push(busyNotice(running))
  try {
    await using prepared = await preparePlan(options, question, signal)
    const key = running === undefined ? registry.issueKey(user) : undefined
    const page = await planPage(library, question, { prepared, key, signal })
    return await show(context, page, problem === undefined ? 200 : 422)
  } catch (error) {
    if (!(error instanceof DashkeepError) || signal.aborted) throw error
    notices.push(alert(error.message, error.hint))
    return show(context, refusedPlanPage(library, question), error.kind === 'usage' ? 409 : 502)
  }
}

async function preparePlan(
  { library, restores: { desk } }: RouteOptions,
  { found, request, names }: PlanQuestion,
  signal: AbortSignal,
): Promise<PreparedRestore> {
  const { manifest } = found.line
  const refusal = desk.refusalOf(manifest.account)
  if (refusal !== undefined) {
    throw new DashkeepError(`Cannot restore: ${refusal}`, {
      kind: 'usage',
      hint: 'add the account with its token to the configuration and start `dashkeep web` again',
    })
  }
  const restoring = await chooseRequested(library, manifest, { names, request, signal })
  const prepared = await desk.prepare(restoring, request, { signal })
  try {
    // As with a dry run: a service that accepts no imports is found before anybody confirms.
    if (objectsToSend(prepared.plan).length > 0) await prepared.checkImports()
    return prepared
  } catch (error) {
    await prepared[Symbol.asyncDispose]()
    throw error
  }
}

function groupOf({ baskets }: Restores, user: string, { view, line }: FoundSnapshot) {
  return baskets.group(user, view.accountId, line.folder.snapshot)
}

function alert(message: string, hint?: string): Markup {
  return html`<div class="notice damaged" role="alert"><p>${outside(message, 2000)}</p>${hint !== undefined && html`<p>Hint: ${outside(hint, 2000)}</p>`}</div>`
}

function busyNotice(job: RestoreJob): Markup {
  return html`<p class="notice suspect"><a href="/restores/${job.id}">A restore into this account is running.</a> This plan cannot be confirmed before it has ended.</p>`
}

/** Starts a confirmed restore once, and leads to its address. */
async function start(context: AppContext, options: RouteOptions) {
  const { library, restores } = options
  const { registry, desk } = restores
  const [form, user] = [context.get('form'), context.get('user')]
  const key = form.get('key') ?? ''
  const earlier = registry.startedWith(key, user)
  if (earlier !== undefined) return context.redirect(`/restores/${earlier.id}`, 303)
  const found = await findSnapshot(library, context, signalOf(library, context))
  const request = readRequest(new URLSearchParams(form.get('request') ?? ''))
  if (found === undefined || request === undefined) return context.notFound()
  const { view, line } = found
  const isRefused = desk.refusalOf(line.manifest.account) !== undefined
  if (isRefused) return answerPlan(context, options, { found, request })
  if (!isConfirmed(view, form.get('name'))) {
    const problem = 'The typed name is not the name of the account. Nothing was sent.'
    return answerPlan(context, options, { found, request, problem })
  }
  const names = namesOf(request, groupOf(restores, user, found))
  const { accountId, snapshot, takenAt } = line.folder
  const started = registry.start(
    { key, user, request, accountId, snapshot, takenAt, accountName: view.name },
    (job) => run(job, options, { found, names, digest: form.get('digest') ?? '' }),
  )
  if (started === undefined) {
    const problem = 'The plan was too old to be confirmed. Nothing was sent. This is a new plan.'
    return answerPlan(context, options, { found, request, problem })
  }
  if (started.kind === 'busy') {
    const problem = 'Another restore into this account is running. Nothing was sent.'
    return answerPlan(context, options, { found, request, problem })
  }
  return context.redirect(`/restores/${started.job.id}`, 303)
}

/**
 * Runs a restore. Objects that are restored leave the basket of the user. Comparisons with the service
 * export it again afterwards.
 */
async function run(
  job: RestoreJob,
  { library, restores, log }: RouteOptions,
  {
    found,
    names,
    digest,
  }: { found: FoundSnapshot; names: readonly string[] | undefined; digest: string },
) {
  const { manifest } = found.line
  const { accountId, snapshot, user } = job
  const onRestored = (ids: readonly string[]) => {
    restores.baskets.remove(
      user,
      ids.map((id) => ({ accountId, snapshot, id })),
    )
  }
  const { desk } = restores
  const end = await runJob(job, { library, desk, log, manifest, names, digest, onRestored })
  library.live.expire(accountId)
  return end
}
