import type { z } from 'zod'

/**
 * Describes an unexpected member of an answer. Does not show its value: an answer may contain a token.
 */
export function shapeProblem(issue: z.core.$ZodRawIssue): string {
  const { code, input } = issue
  if (input === undefined) return 'missing'
  if (code === 'invalid_type') return `expected ${kindOf(issue.expected)}, found ${found(input)}`
  return input === '' ? 'empty' : `unknown form, found ${found(input)}`
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
