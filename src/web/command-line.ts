import { replaceHidden } from '../clean-text.ts'

/** An argument whose text is from outside. */
interface GivenArgument {
  readonly given: string
}

/**
 * A command line as somebody would type it, with its words quoted for a shell. Given arguments that
 * begin with `-` come last, after `--`, so that they are no options. A text that no shell can pass on
 * leads to a comment in place of the command.
 */
export function commandLine(...words: readonly (string | number | GivenArgument)[]): string {
  const isLast = (word: (typeof words)[number]) =>
    typeof word === 'object' && word.given.startsWith('-')
  const last = words.filter(isLast)
  const ordered = [
    ...words.filter((word) => !isLast(word)),
    ...(last.length > 0 ? ['--', ...last] : []),
  ].map((word) => (typeof word === 'object' ? word.given : String(word)))
  if (ordered.some((word) => !word.isWellFormed() || word.includes('\0'))) {
    return '# No command: a shell cannot pass on the characters of this id or text'
  }
  return ['dashkeep', ...ordered.map(quoteWord)].join(' ')
}

/** Quotes a word for a shell. Hidden characters become escapes, which bash, zsh and ksh understand. */
function quoteWord(word: string): string {
  if (/^[\w./:-]+$/.test(word)) return word
  if (replaceHidden(word, () => '') === word) return `'${word.replaceAll("'", `'\\''`)}'`
  const escaped = replaceHidden(word.replaceAll(/[\\']/g, '\\$&'), (character) => {
    return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
  })
  return `$'${escaped}'`
}
