import { commandLine } from '../command-line.ts'
import type { BasketGroup } from './baskets.ts'

/** What a plan is asked for. Addresses and forms hold it as parameters. */
export interface RestoreRequest {
  /** Ids, the objects of the snapshot in the reader's basket, or the whole snapshot. */
  readonly objects: readonly string[] | 'basket' | 'all'
  /** Whether the objects that the chosen ones need come along. */
  readonly withNeeds: boolean
  readonly overwrite: boolean
  readonly anyVersion: boolean
  readonly allowSuspect: boolean
}

/** The members of a request that are switched on by a parameter with the value 1. */
export const switches = {
  overwrite: 'overwrite',
  'any-version': 'anyVersion',
  'allow-suspect': 'allowSuspect',
} as const

/** Characters of ids that an address holds. More stay in the basket. */
const MAX_IDS = 4000

/** Chooses the objects of a basket by their ids, as far as an address has room for them. */
export function requestOf({ ids }: BasketGroup): RestoreRequest {
  const objects = countCharacters([...ids]) > MAX_IDS ? 'basket' : [...ids]
  return { objects, withNeeds: true, overwrite: false, anyVersion: false, allowSuspect: false }
}

/** The characters that ids take in an address. */
function countCharacters(ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + encodeURIComponent(id.toWellFormed()).length, 0)
}

/** Reads the parameters of an address or a form; undefined when they choose nothing, or too much. */
export function readRequest(parameters: URLSearchParams): RestoreRequest | undefined {
  const ids = parameters.getAll('id').filter((id) => id !== '')
  const isOn = (name: string) => parameters.get(name) === '1'
  const idsOrBasket = isOn('basket') ? 'basket' : ids
  const objects = isOn('all') ? 'all' : idsOrBasket
  if (objects.length === 0 || countCharacters(ids) > MAX_IDS) return undefined
  return {
    objects,
    withNeeds: !isOn('without-references'),
    overwrite: isOn('overwrite'),
    anyVersion: isOn('any-version'),
    allowSuspect: isOn('allow-suspect'),
  }
}

/** The parameters that `readRequest` reads. */
export function writeRequest(request: RestoreRequest): URLSearchParams {
  const parameters = new URLSearchParams()
  const { objects } = request
  if (typeof objects === 'string') parameters.set(objects, '1')
  else for (const id of objects) parameters.append('id', id)
  if (!request.withNeeds) parameters.set('without-references', '1')
  for (const [name, member] of Object.entries(switches)) {
    if (request[member]) parameters.set(name, '1')
  }
  return parameters
}

/** Names as `restore --object` takes them; undefined for all objects. */
export function namesOf(
  { objects }: RestoreRequest,
  basket: BasketGroup | undefined,
): readonly string[] | undefined {
  if (objects === 'all') return undefined
  return objects === 'basket' ? [...(basket?.ids ?? [])] : objects
}

/** The command that shows the same plan and asks. */
export function commandOf(
  { accountId, snapshot }: { accountId: number; snapshot: string },
  request: RestoreRequest,
  names: readonly string[] | undefined,
): string {
  const objects = (names ?? []).flatMap((name) => ['--object', name])
  const flags = Object.entries(switches).flatMap(([name, member]) =>
    request[member] ? [`--${name}`] : [],
  )
  return commandLine(
    'restore',
    snapshot,
    '--account',
    accountId,
    ...objects,
    ...(request.withNeeds ? [] : ['--without-references']),
    '--to-service',
    ...flags,
  )
}
