// Tested by test/e2e/promotion.test.ts

import { type PatternKey, rewriteObject } from '../objects/rewrite-object.ts'
import type { SavedObject } from '../objects/saved-object.ts'
import type { PromotedPattern, Restoring } from './restoring.ts'

/** Counts the objects of a target that use the index patterns of a promotion. */
export interface PatternUses {
  see(object: SavedObject): void
  /** The number of objects that use a pattern by its id or name in the target. */
  count(pattern: Pick<PromotedPattern, 'to' | 'by'>): number
}

/**
 * No export contains index patterns, so an index pattern is only known to exist if objects of the target
 * use it. Objects of the promotion itself do not count.
 */
export function createPatternUses({ promoted, selection }: Restoring): PatternUses {
  const keyOf = (to: string, by: PatternKey) => `${by} ${to}`
  const users = new Map(promoted?.patterns.map(({ to, by }) => [keyOf(to, by), new Set<string>()]))
  const own = new Set(selection.objects.map(({ id }) => id))
  return {
    see(object) {
      if (own.has(object.id) || users.size === 0) return
      const rename = {
        object: (_type: string, id: string) => id,
        pattern(text: string, key: PatternKey) {
          users.get(keyOf(text, key))?.add(object.id)
          return text
        },
      }
      rewriteObject(object, { rename, retitle: String })
    },
    count: ({ to, by }) => users.get(keyOf(to, by))?.size ?? 0,
  }
}
