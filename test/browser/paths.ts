import { jsonLines } from '../e2e/run-dashkeep.ts'
import { shopId } from '../e2e/trial.ts'
import { deleted, rearranged, type Site } from './site.ts'

/** The address of a page of each kind, by its name. */
export async function pathsOf({ trial }: Pick<Site, 'trial'>) {
  const listed = await trial.run(['list', '--account', 'production', '--json'])
  const names = jsonLines(listed.stdout).map(({ snapshot }) => String(snapshot))
  const last = names.findLast((name) => name < '20260801') ?? ''
  const [newest = '', changed = ''] = [names.at(-1), names[names.indexOf(last) + 1]]
  const account = `/accounts/${shopId}`
  const snapshot = `${account}/snapshots/${last}`
  const [from, to] = [`/compare?from=${shopId}/${last}`, `&to=${shopId}/${newest}`]
  return {
    accounts: '/',
    account,
    suspect: '/accounts/100002',
    snapshot,
    changed: `${account}/snapshots/${changed}?changed=1`,
    dashboard: `${snapshot}/object?id=${deleted[0]}`,
    visualization: `${snapshot}/object?id=${deleted[1]}`,
    search: `${snapshot}/object?id=search:declined-payments`,
    versions: `${account}/history?id=${rearranged}`,
    compare: '/compare',
    'compare-with': from,
    'compare-snapshots': from + to,
    'compare-dashboards': `${from}${to}&id=${rearranged}`,
    find: '/find',
    found: `/find?in=${shopId}&q=payments`,
    basket: '/basket',
    plan: `${snapshot}/restore?id=${deleted[0]}&id=${rearranged}&overwrite=1`,
    restores: '/restores',
    'not-found': '/nowhere',
  }
}
