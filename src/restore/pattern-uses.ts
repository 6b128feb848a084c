// Tested by test/e2e/promotion.test.ts

import { indexPatternType } from '../objects/references.ts'
import { rewriteObject } from '../objects/rewrite-object.ts'
import type { SavedObject } from '../objects/saved-object.ts'
import type { Restoring } from './restoring.ts'

/** Counts the objects of a target that use the index patterns of a promotion. */
export interface PatternUses {
  see(object: SavedObject): void
  /** The number of objects by the id or name of the pattern in the target. */
  count(pattern: string): number
}

/**
 * No export contains index patterns, so an index pattern is only known to exist if objects of the target
 * use it. Objects of the promotion itself do not count.
 */
export function createPatternUses({ promoted, selection }: Restoring): PatternUses {
  const users = new Map(promoted?.patterns.map(({ to }) => [to, new Set<string>()]))
  const own = new Set(selection.objects.map(({ id }) => id))
  return {
    see(object) {
      if (own.has(object.id) || users.size === 0) return
      const rename = (type: string, id: string) => {
        if (type === indexPatternType) users.get(id)?.add(object.id)
        return id
      }
      rewriteObject(object, { rename, retitle: String })
    },
    count: (pattern) => users.get(pattern)?.size ?? 0,
  }
}
