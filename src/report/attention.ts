import type { ProofKind } from '../proofs/proof.ts'
import { plural } from '../wording.ts'
import type { AccountReport } from './report.ts'

/** How far a copy may be behind the newest good snapshot. Some copies are made once a day. */
const COPY_LAG_MS = 24 * 3600_000

/** Says why somebody should look at an account. Returns nothing when all is well. Pure. */
export function findAttention(report: Omit<AccountReport, 'attention'>): string[] {
  if (report.stored.snapshots === 0) return ['the archive has no snapshot']
  return [
    ...judgeRuns(report),
    ...judgeSnapshots(report),
    ...judgeProofs(report),
    ...judgeCopies(report),
  ]
}

function judgeRuns({ runs }: Pick<AccountReport, 'runs'>): string[] {
  const { missed = 0, suspect = 0, damaged = 0 } = runs ?? {}
  return [
    missed > 0 && `${plural(missed, 'due run')} without a snapshot`,
    suspect > 0 && `${plural(suspect, 'due run')} with only suspect snapshots`,
    damaged > 0 && `${plural(damaged, 'due run')} with only damaged snapshots`,
  ].filter((text) => text !== false)
}

function judgeSnapshots(
  report: Pick<AccountReport, 'end' | 'suspects' | 'damaged' | 'fromFuture'>,
): string[] {
  const { end, suspects, damaged, fromFuture } = report
  const open = suspects.filter(({ followedBy }) => followedBy === undefined)
  const broken = damaged.reduce((sum, { snapshots }) => sum + snapshots.length, 0)
  return [
    end === undefined && 'no good snapshot',
    open.length > 0 && 'a suspect snapshot, and no good one has followed',
    broken > 0 && plural(broken, 'damaged snapshot'),
    fromFuture.length > 0 && `${plural(fromFuture.length, 'snapshot')} from the future`,
  ].filter((text) => text !== false)
}

function judgeProofs({ proofs }: Pick<AccountReport, 'proofs'>): string[] {
  const { failures, fromFuture, unreadable } = proofs
  const fails = (kind: ProofKind) => failures.some((one) => one.kind === kind && one.isOpen)
  return [
    fails('verify') && 'a recorded verification failed, and no good one has followed',
    fails('drill') && 'a recorded drill failed, and no good one has followed',
    fromFuture.length > 0 && `${plural(fromFuture.length, 'record')} of checks from the future`,
    unreadable.length > 0 && `${plural(unreadable.length, 'record')} of checks cannot be read`,
  ].filter((text) => text !== false)
}

function judgeCopies({ copies, end }: Pick<AccountReport, 'copies' | 'end'>): string[] {
  return copies
    .filter(({ missing, takenAt }) => {
      const lag = (end?.takenAt.getTime() ?? 0) - (takenAt?.getTime() ?? 0)
      return missing > 0 && end !== undefined && lag > COPY_LAG_MS
    })
    .map(({ copy }) => `the copy ${copy} is more than a day behind`)
}
