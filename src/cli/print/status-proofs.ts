import { describeFuture, describeGap } from '../../proofs/describe.ts'
import { provenAt } from '../../proofs/judge.ts'
import type { ProofSummary } from '../../proofs/proof.ts'
import { formatAge } from '../../wording.ts'
import { printHint, type Terminal } from '../terminal.ts'
import type { Line, LineProofs } from './status-line.ts'

/** The age of the newest proof, for the table. */
export function formatProven({ proofs }: Line, now: Date): string {
  const at = proofs && provenAt(proofs.judgement)
  return at ? formatAge(at, now) : ''
}

/** Prints why accounts are not proven, and which records do not count. */
export function printProofs(terminal: Terminal, lines: readonly Line[], now: Date): void {
  const { print, colors } = terminal
  for (const { accountId, proofs } of lines) {
    if (proofs === undefined) continue
    const { judgement, gap } = proofs
    const ignore = (reason: string) => print(`${colors.yellow('no proof')} ${accountId}: ${reason}`)
    if (gap !== undefined)
      print(`${colors.red('unproven')} ${accountId}: ${describeGap(judgement, gap, now)}`)
    for (const error of judgement.unreadable) {
      ignore(error.message)
      printHint(terminal, error)
    }
    for (const { key } of judgement.fromFuture) ignore(describeFuture(key))
  }
}

/** Members for programs; docs/json-output.md documents them. */
export function proofsToJson({ judgement, gap }: LineProofs, now: Date): object {
  const at = provenAt(judgement)
  const { verify, drill, failed, fromFuture, unreadable } = judgement
  return {
    provenAt: at,
    ageSeconds: at && Math.round((now.getTime() - at.getTime()) / 1000),
    gap,
    verify: verify && proofToJson(verify),
    drill: drill && proofToJson(drill),
    failed: failed.map(proofToJson),
    fromFuture: fromFuture.map(({ key }) => key),
    unreadable: unreadable.map(({ message }) => message),
  }
}

function proofToJson(proof: ProofSummary): object {
  const { key, kind, startedAt, snapshotCount, objects, equal, sealed, defects, problems } = proof
  return { key, kind, startedAt, snapshotCount, objects, equal, sealed, defects, problems }
}
