import type { Gate } from '../security.ts'
import { type Baskets, createBaskets } from './baskets.ts'
import type { RestoreControls } from './controls.ts'
import type { RestoreDesk } from './desk.ts'
import { createRegistry, type Registry } from './registry.ts'

/** Everything that the pages need to restore. */
export interface Restores {
  readonly desk: RestoreDesk
  readonly baskets: Baskets
  readonly registry: Registry
}

/** Opens empty baskets and an empty registry. */
export function openRestores(desk: RestoreDesk, { now }: { now: () => Date }): Restores {
  return { desk, baskets: createBaskets({ now }), registry: createRegistry({ now }) }
}

/** What pages show of restoring to a user. */
export function controlsFor(
  { desk, baskets }: Restores,
  user: string,
  gate: Gate,
): RestoreControls {
  return {
    formToken: gate.formTokenOf(user),
    inBasket: baskets.of(user).reduce((sum, { ids }) => sum + ids.size, 0),
    refusalOf: desk.refusalOf,
  }
}
