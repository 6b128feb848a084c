import { exitCodes } from '../../run/exit-codes.ts'
import type { Terminal } from '../terminal.ts'

/** Describes that an archive, or one account in it, has nothing to check. */
export function describeAbsence(url: string, what: string, accountId: number | undefined): string {
  return `${url} holds no ${what}${accountId === undefined ? '' : ` of account ${accountId}`}`
}

/**
 * Reports that there was nothing to check, and returns exit code 3: with a wrong address or a deleted
 * archive, a check must not succeed. With `--json`, adds the reason to `document`.
 */
export function reportNothingProven(terminal: Terminal, reason: string, document: object): number {
  if (terminal.json) terminal.printJson({ ...document, nothingProven: reason })
  else {
    terminal.print(`${terminal.colors.yellow('nothing was proven')}: ${reason}`)
    terminal.print('  hint: check the store and the options; `dashkeep list` lists the snapshots')
  }
  return exitCodes.partly
}
