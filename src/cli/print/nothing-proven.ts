import { exitCodes } from '../../run/exit-codes.ts'
import type { Terminal } from '../terminal.ts'

/** Says that an archive, or its part of one account, does not hold what was to be proven. */
export function describeAbsence(url: string, what: string, accountId: number | undefined): string {
  return `${url} holds no ${what}${accountId === undefined ? '' : ` of account ${accountId}`}`
}

/**
 * Reports that there was nothing to prove, and returns the exit code: a check that finds nothing,
 * for a wrong address or an archive that is gone, must not pass for a success. With `--json` the
 * reason joins the `document` of the verb.
 */
export function reportNothingProven(terminal: Terminal, reason: string, document: object): number {
  if (terminal.json) terminal.printJson({ ...document, nothingProven: reason })
  else {
    terminal.print(`${terminal.colors.yellow('nothing was proven')}: ${reason}`)
    terminal.print('  hint: check the store and the options; `dashkeep list` shows what is there')
  }
  return exitCodes.partly
}
