/** How well an object fits what was asked for, best first. */
const ranks = ['id', 'object id', 'title', 'title but for case', 'part'] as const

/** A question for an object: its id, its title, a part of one of them, or a glob with `*` and `?`. */
export interface ObjectQuery {
  readonly text: string
  /** How well an object fits: 0 is best; undefined when it does not. */
  rank(object: { readonly id: string; readonly title: string | undefined }): number | undefined
}

/** Reads a question. A glob fits a whole title or id; other text also a part of one, in any case. */
export function createObjectQuery(text: string): ObjectQuery {
  const matches = createTextMatcher(text, { whole: true })
  const lower = text.toLowerCase()
  const fits: Record<(typeof ranks)[number], (id: string, title: string) => boolean> = {
    id: (id) => id === text,
    'object id': (id) => id.slice(id.indexOf(':') + 1) === text,
    title: (_, title) => title === text,
    'title but for case': (_, title) => title.toLowerCase() === lower,
    part: (id, title) => matches(title) || matches(id),
  }
  return {
    text,
    rank({ id, title = '' }) {
      const rank = ranks.findIndex((name) => fits[name](id, title))
      return rank < 0 ? undefined : rank
    },
  }
}

/**
 * Tells whether a text fits a pattern, whatever the case: one with `*` or `?` as a glob, any other
 * as a part of it. A glob has to fit the `whole` text, or else any part.
 */
export function createTextMatcher(
  pattern: string,
  { whole }: { whole: boolean },
): (text: string) => boolean {
  const lower = pattern.toLowerCase()
  if (!/[*?]/.test(lower)) return (text) => text.toLowerCase().includes(lower)
  const glob = whole ? lower : `*${lower}*`
  return (text) => matchesGlob(text.toLowerCase(), glob)
}

/**
 * Tells whether a whole text fits a glob with `*` and `?`. Goes back to the last star only, and so
 * never takes more than the product of both lengths.
 */
export function matchesGlob(text: string, glob: string): boolean {
  let [at, place] = [0, 0]
  let [star, resume] = [-1, 0]
  while (at < text.length) {
    if (glob[place] === '*') {
      star = place
      place += 1
      resume = at
    } else if (place < glob.length && (glob[place] === '?' || glob[place] === text[at])) {
      at += 1
      place += 1
    } else if (star >= 0) {
      place = star + 1
      resume += 1
      at = resume
    } else {
      return false
    }
  }
  return glob.slice(place).replaceAll('*', '') === ''
}

/** Remembers the texts most like another one, for an error that helps. */
export interface NearestTexts {
  see(label: string, text: string): void
  /** Labels, most alike first. */
  labels(): string[]
}

const MAX_NEAREST = 5

/** Begins to look; likeness is the share of pairs of letters that both texts have. */
export function createNearest(wanted: string): NearestTexts {
  const pairs = pairsOf(wanted)
  let best: { label: string; likeness: number }[] = []
  return {
    see(label, text) {
      const others = pairsOf(text)
      const likeness = (2 * pairs.intersection(others).size) / (pairs.size + others.size || 1)
      if (likeness < 0.2 || best.some((other) => other.label === label)) return
      best.push({ label, likeness })
      best = best.sort((a, b) => b.likeness - a.likeness).slice(0, MAX_NEAREST)
    },
    labels: () => best.map(({ label }) => label),
  }
}

function pairsOf(text: string): Set<string> {
  const lower = text.toLowerCase().slice(0, 200)
  return new Set(
    Array.from({ length: Math.max(lower.length - 1, 0) }, (_, at) => lower.slice(at, at + 2)),
  )
}
