import type { z } from 'zod'

/**
 * Says what is wrong with the shape of an answer, without the library's own text. Values are not shown:
 * an answer may hold a token.
 */
export function shapeProblem(issue: z.core.$ZodRawIssue): string {
  const { code, input } = issue
  if (input === undefined) return 'missing'
  if (code === 'invalid_type') return `expected ${kindOf(issue.expected)}, found ${found(input)}`
  return input === '' ? 'empty' : `not in a form that is known, found ${found(input)}`
}

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'text',
}

function kindOf(type: string): string {
  return kinds[type] ?? 'something else'
}

function found(input: unknown): string {
  if (input === null) return 'null'
  return kindOf(Array.isArray(input) ? 'array' : typeof input)
}
