import { proofFolder } from '../../archive/side-folders.ts'
import type { NewProof } from '../../proofs/proof.ts'
import { writeProof } from '../../proofs/write.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { plural } from '../../wording.ts'
import { printHint, type Terminal } from '../terminal.ts'

/** What `--record` has stored. */
interface Recorded {
  /** Address of the records. */
  readonly url: string
  /** Keys of the records. */
  readonly keys: readonly string[]
  /** Why a record could not be stored. No further one was tried. */
  readonly error: Error | undefined
}

/** Stores records until one fails. Only an interruption throws: the results must still be printed. */
export async function recordProofs(
  { signal, progress }: Terminal,
  store: ObjectStore,
  proofs: readonly NewProof[],
): Promise<Recorded> {
  progress.begin('recording', { unit: 'record', total: proofs.length })
  const keys: string[] = []
  const url = `${store.url.replace(/\/$/, '')}/${proofFolder}`
  try {
    for (const proof of proofs) {
      keys.push(await writeProof(store, proof, { signal }))
      progress.advance()
    }
    return { url, keys, error: undefined }
  } catch (error) {
    signal.throwIfAborted()
    return { url, keys, error: error as Error }
  } finally {
    progress.end()
  }
}

/** Members for programs; none without `--record`. docs/json-output.md documents them. */
export function recordedToJson(recorded: Recorded | undefined): object {
  return recorded ? { recorded: recorded.keys, recordError: recorded.error?.message } : {}
}

/** Prints what was recorded; nothing without `--record`. */
export function printRecorded(terminal: Terminal, recorded: Recorded | undefined): void {
  if (recorded === undefined) return
  const { colors } = terminal
  const { url, keys, error } = recorded
  if (keys.length > 0) {
    const number = plural(keys.length, 'account')
    terminal.print(`${colors.green('recorded')} the result of ${number} in ${url}`)
  }
  if (error === undefined) return
  terminal.print(`${colors.red('not recorded')}: ${error.message}`)
  printHint(terminal, error)
}

/** The exit code of a check that otherwise ends in `exitCode`: partly done if a record is missing. */
export function exitCodeOfRecorded(exitCode: number, recorded: Recorded | undefined): number {
  const isPartly = exitCode === exitCodes.done && recorded?.error !== undefined
  return isPartly ? exitCodes.partly : exitCode
}
