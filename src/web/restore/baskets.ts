import { DashkeepError } from '../../errors.ts'

/** The chosen objects of one snapshot. */
export interface BasketGroup {
  readonly accountId: number
  readonly snapshot: string
  /** `<type>:<object id>`, in the order in which they were chosen. */
  readonly ids: ReadonlySet<string>
}

/** The objects that each user has chosen to restore. They stay in memory until the server ends. */
export interface Baskets {
  /** The groups of a user, in the order in which they were begun. */
  of(user: string): readonly BasketGroup[]
  /** The group of a snapshot; undefined when the user has chosen none of its objects. */
  group(user: string, accountId: number, snapshot: string): BasketGroup | undefined
  /** Adds all objects, or throws a `usage` error and adds none when there is no room. */
  add(user: string, objects: readonly BasketObject[]): void
  remove(user: string, objects: readonly BasketObject[]): void
}

/** An object of a snapshot. */
export interface BasketObject {
  readonly accountId: number
  readonly snapshot: string
  readonly id: string
}

/** Characters of ids in the baskets of all users: about 100,000 objects. */
const MAX_CHARACTERS = 8_000_000
/** Baskets that nobody has used for this long are removed. */
const KEPT_MS = 24 * 3_600_000

type Group = BasketGroup & { readonly ids: Set<string> }

interface Basket {
  readonly groups: Map<string, Group>
  usedAt: number
}

/** Creates the baskets of a server. */
export function createBaskets({
  now,
  maxCharacters = MAX_CHARACTERS,
}: {
  now: () => Date
  maxCharacters?: number
}): Baskets {
  const baskets = new Map<string, Basket>()
  const open = (user: string): Basket => {
    const usedAt = now().getTime()
    for (const [other, basket] of baskets) {
      if (usedAt - basket.usedAt > KEPT_MS) baskets.delete(other)
    }
    const basket = baskets.get(user) ?? { groups: new Map(), usedAt }
    basket.usedAt = usedAt
    return basket
  }
  return {
    of: (user) => [...open(user).groups.values()],
    group: (user, accountId, snapshot) => open(user).groups.get(keyOf(accountId, snapshot)),
    add(user, objects) {
      const basket = open(user)
      const wanted = objects.reduce((sum, { id }) => sum + id.length, 0)
      if (countCharacters(baskets.values()) + wanted > maxCharacters) throw full(objects.length)
      baskets.set(user, basket)
      for (const { accountId, snapshot, id } of objects) {
        const key = keyOf(accountId, snapshot)
        const group = basket.groups.get(key) ?? { accountId, snapshot, ids: new Set() }
        group.ids.add(id)
        basket.groups.set(key, group)
      }
    },
    remove(user, objects) {
      const { groups } = open(user)
      for (const { accountId, snapshot, id } of objects) {
        const key = keyOf(accountId, snapshot)
        groups.get(key)?.ids.delete(id)
        if (groups.get(key)?.ids.size === 0) groups.delete(key)
      }
      if (groups.size === 0) baskets.delete(user)
    },
  }
}

function keyOf(accountId: number, snapshot: string): string {
  return `${accountId}/${snapshot}`
}

function countCharacters(baskets: Iterable<Basket>): number {
  let sum = 0
  for (const { groups } of baskets) {
    for (const { ids } of groups.values()) for (const { length } of ids) sum += length
  }
  return sum
}

function full(objects: number): DashkeepError {
  return new DashkeepError(
    `Cannot put ${objects} more objects into the basket: there is no room left`,
    {
      kind: 'usage',
      hint: 'none of them was added; restore or remove what is in the basket, or restore the whole snapshot',
    },
  )
}
