import { DashkeepError } from '../errors.ts'

/** How an object can match a query, best first. */
const ranks = ['id', 'object id', 'title', 'title but for case', 'part'] as const

/** A search for an object: by id, title, a part of one of them, or a glob with `*` and `?`. */
export interface ObjectQuery {
  readonly text: string
  /** How well an object matches: 0 is best; undefined when it does not match. */
  rank(object: { readonly id: string; readonly title: string | undefined }): number | undefined
}

/**
 * Creates a query. A glob matches a whole title or id; other text also a part. Ignores case. Throws a
 * usage error when the text is empty, because an empty text is a part of every title.
 */
export function createObjectQuery(text: string): ObjectQuery {
  if (text === '') throw emptyQuery()
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

function emptyQuery(): DashkeepError {
  return new DashkeepError('Cannot find the object: the given id or title is empty', {
    kind: 'usage',
    hint: 'give an id, a title, or a part of one; `dashkeep ls` lists the objects',
  })
}

/**
 * Creates a function that tells whether a text matches a pattern. Ignores case. A pattern with `*` or
 * `?` is a glob for the `whole` text or, otherwise, for a part. Any other pattern matches a part.
 */
export function createTextMatcher(
  pattern: string,
  { whole }: { whole: boolean },
): (text: string) => boolean {
  const lower = pattern.toLowerCase()
  if (!/[*?]/.test(lower)) return (text) => text.toLowerCase().includes(lower)
  const matches = createGlob(whole ? lower : `*${lower}*`)
  return (text) => matches(text.toLowerCase())
}

/** A part of a glob between two stars. */
interface Segment {
  readonly length: number
  /** Tells whether a text has the segment at a place. */
  fits(text: string, at: number): boolean
  /** The first place of the segment in a text from a place on; negative when there is none. */
  find(text: string, from: number): number
}

/**
 * Creates a function that tells whether a whole text matches a glob with `*` and `?`. Takes each part
 * between two stars at its first place and never goes back, so the time grows with the text's length.
 */
export function createGlob(glob: string): (text: string) => boolean {
  const [first, ...others] = glob.split(/\*+/).map(createSegment) as [Segment, ...Segment[]]
  const last = others.pop()
  return (text) => {
    if (last === undefined) return text.length === first.length && first.fits(text, 0)
    const end = text.length - last.length
    if (end < first.length || !first.fits(text, 0) || !last.fits(text, end)) return false
    let at = first.length
    for (const segment of others) {
      const found = segment.find(text, at)
      if (found < 0) return false
      at = found + segment.length
    }
    return at <= end
  }
}

function createSegment(glob: string): Segment {
  const { length } = glob
  const literals = [...glob.matchAll(/[^?]+/g)].map(({ index, 0: text }) => ({ index, text }))
  const [only = { index: 0, text: '' }, second] = literals
  return {
    length,
    fits: (text, at) => literals.every((one) => text.startsWith(one.text, at + one.index)),
    find:
      second === undefined
        ? (text, from) => text.indexOf(only.text, from + only.index) - only.index
        : createFinder(glob),
  }
}

/** Bits of a word of the state. */
const WORD = 32

/**
 * Creates a function that finds a text with `?` in it. Looks once at each character: bit n of the state
 * says whether the characters until here fit the first n + 1 of the glob (the algorithm Shift-And).
 */
function createFinder(glob: string): Segment['find'] {
  const words = Math.ceil(glob.length / WORD)
  const maskOf = (character: string) => {
    const mask = new Uint32Array(words)
    for (let place = 0; place < glob.length; place += 1) {
      const word = Math.floor(place / WORD)
      const isFitting = glob[place] === '?' || glob[place] === character
      if (isFitting) mask[word] = (mask[word] as number) | (1 << (place % WORD))
    }
    return mask
  }
  const masks = new Map(glob.split('').map((one) => [one.charCodeAt(0), maskOf(one)]))
  const others = maskOf('?')
  const done = 1 << ((glob.length - 1) % WORD)
  return (text, from) => {
    const state = new Uint32Array(words)
    for (let place = from; place < text.length; place += 1) {
      const mask = masks.get(text.charCodeAt(place)) ?? others
      let carry = 1
      for (let word = 0; word < words; word += 1) {
        const before = state[word] as number
        state[word] = ((before << 1) | carry) & (mask[word] as number)
        carry = before >>> (WORD - 1)
      }
      if (((state[words - 1] as number) & done) !== 0) return place - glob.length + 1
    }
    return -1
  }
}

/** Characters shown before and after a match. */
const CONTEXT = 40

/**
 * The part of a text around the first match of a pattern, or of a pattern's first literal part. In a
 * narrow line less text stands before the match.
 */
export function excerpt(text: string, pattern: string, room: number): string {
  const literal = pattern.split(/[*?]/).find((part) => part !== '') ?? ''
  const at = Math.max(text.toLowerCase().indexOf(literal.toLowerCase()), 0)
  const context = Math.min(CONTEXT, Math.max(Math.floor((room - literal.length) / 2) - 1, 0))
  const from = Math.max(at - context, 0)
  const to = at + literal.length + CONTEXT
  const part = text.slice(from, to).replaceAll(/\s+/g, ' ')
  return `${from > 0 ? '…' : ''}${part}${to < text.length ? '…' : ''}`
}

/** Remembers the texts that are most similar to another one, for hints. */
interface NearestTexts {
  see(label: string, text: string): void
  /** Labels, the most similar first. */
  labels(): string[]
}

const MAX_NEAREST = 5

/** Creates the memory. Similarity is the share of pairs of letters that both texts have. */
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
