// Tested by test/e2e/finding.test.ts

import { plural } from '../../wording.ts'
import type { Terminal } from '../terminal.ts'

/** The end of the last line of a result: how many files could not be read; empty when all could. */
export function describeUnread({ colors }: Terminal, problems: number): string {
  return problems === 0 ? '' : `; ${colors.red(`${plural(problems, 'file')} could not be read`)}`
}
