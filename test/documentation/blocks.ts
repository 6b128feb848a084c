import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The root of the checkout. */
export const checkout = join(import.meta.dirname, '../..')

/** Commands that the documentation asks people to type, or shows with what they print. */
export interface Block {
  /** Where it is, such as `README.md:31`. */
  readonly place: string
  /** Its first line up to a comment, which names it. */
  readonly begins: string
  readonly text: string
}

/** A fenced block of a page. */
export interface Fence {
  /** Where it is, such as `README.md:31`. */
  readonly place: string
  /** Its language, or an empty text. */
  readonly language: string
  readonly text: string
}

/** Paths of all pages of the documentation, the README first. */
export async function listPages(): Promise<string[]> {
  const others = await Array.fromAsync(glob(['*.md', 'docs/**/*.md'], { cwd: checkout }))
  const pages = ['README.md', ...others.toSorted(), 'src/archive/FORMAT.md']
  return [...new Set(pages)]
}

/** The text of a page, by its path in the checkout. */
export async function readPage(page: string): Promise<string> {
  return await readFile(join(checkout, page), 'utf8')
}

/** Every fenced block of all pages, in the order of reading. */
export async function fences(): Promise<Fence[]> {
  const found = (await listPages()).map(async (page) => {
    const content = await readPage(page)
    return [...content.matchAll(/^```(\w*)\n(.*?)\n```$/gms)].map((match) => {
      const [, language = '', text = ''] = match
      const line = content.slice(0, match.index).split('\n').length + 1
      return { place: `${page}:${line}`, language, text }
    })
  })
  return (await Promise.all(found)).flat()
}

/** Every block that is marked as `sh` or shows commands after `$`, in the order of reading. */
export async function commandBlocks(): Promise<Block[]> {
  return (await fences()).flatMap(({ place, language, text }) => {
    const shown = language === '' ? typed(text) : []
    const lines = language === 'sh' ? text.split('\n') : shown
    if (lines[0] === undefined) return []
    return [{ place, begins: lines[0].replace(/\s+(#.*|\\)$/, ''), text: lines.join('\n') }]
  })
}

/** The commands in what a terminal shows. */
function typed(shown: string): string[] {
  return [...shown.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command)
}

/** The text with every replacement made. Throws when there is nothing to replace. */
export function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((changed, [found, instead]) => {
    if (!changed.includes(found)) throw new Error(`Cannot replace ${found}: it is not there`)
    return changed.replaceAll(found, instead)
  }, text)
}
