import { expect } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { formOf, type RestorePages } from './open-restore-pages.ts'

/** A dashboard of the sample account. */
export const overview = 'dashboard:shop-overview'
export const shopId = 100001
export const types = ['search', 'visualization', 'dashboard'] as const

/** The ids in the service. */
export function idsOf({ sandbox }: RestorePages): string[] {
  return types.flatMap((type) => {
    const document = JSON.parse(Buffer.from(sandbox.objects(shopId, type)).toString())
    return (document as { hits: { _id: string }[] }).hits.map(({ _id }) => _id)
  })
}

/** Removes all objects from the service. */
export function empty({ sandbox }: RestorePages): void {
  for (const type of types) sandbox.setObjects(shopId, type, [])
}

/** Changes the first dashboard in the service. */
export function changeDashboard({ sandbox }: RestorePages, change: object): void {
  const [first, ...others] = sampleObjects().dashboard
  const dashboard = { ...(first?._source.dashboard as object), ...change }
  const changed = { ...first, _source: { ...first?._source, dashboard } }
  sandbox.setObjects(shopId, 'dashboard', [changed, ...others])
}

/** Imports of objects that the service has received. */
export function importsOf({
  sandbox,
}: RestorePages): { override: boolean; hits: { _id: string }[] }[] {
  const requests = sandbox.requests().filter(({ operation }) => operation === 'import')
  return requests.map(({ body }) => JSON.parse(body)).filter(({ hits }) => hits.length > 0)
}

/** The parameter of an address that chooses an object. */
export const choosing = (id = overview) => `id=${encodeURIComponent(id)}`

/** Shows a plan and returns the form that confirms it, with a name typed. */
export async function confirmation(
  pages: RestorePages,
  { query = choosing(), name = 'Shop', headers = pages.own } = {},
) {
  const plan = await pages.read(`${pages.path}/restore?${query}`, headers)
  const form = formOf(plan.text, `${pages.path}/restore/start`)
  form.set('name', name)
  return { plan, form, action: `${pages.path}/restore/start` }
}

/** Confirms a plan and waits for the end of the restore. */
export async function restore(
  pages: RestorePages,
  options: Parameters<typeof confirmation>[1] = {},
) {
  const { form, action } = await confirmation(pages, options)
  const posted = await pages.post(action, form)
  expect(posted.status, posted.text).toBe(303)
  await pages.restores?.registry.settled()
  return { ...(await pages.read(posted.location)), location: posted.location }
}
