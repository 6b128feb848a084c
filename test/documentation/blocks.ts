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

/** Every block that is marked as `sh` or shows commands after `$`, in the order of reading. */
export async function commandBlocks(): Promise<Block[]> {
  const more = await Array.fromAsync(glob('docs/**/*.md', { cwd: checkout }))
  const files = ['README.md', ...more.toSorted(), 'src/archive/FORMAT.md']
  return (await Promise.all(files.map(blocksOf))).flat()
}

async function blocksOf(file: string): Promise<Block[]> {
  const content = await readFile(join(checkout, file), 'utf8')
  return [...content.matchAll(/^```(\w*)\n(.*?)\n```$/gms)].flatMap((match) => {
    const [, language = '', inside = ''] = match
    const lines = language === 'sh' ? inside.split('\n') : language === '' ? typed(inside) : []
    if (lines[0] === undefined) return []
    const line = content.slice(0, match.index).split('\n').length + 1
    const begins = lines[0].replace(/\s+(#.*|\\)$/, '')
    return [{ place: `${file}:${line}`, begins, text: lines.join('\n') }]
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
