import { html } from 'hono/html'
import { describeGap } from '../../proofs/describe.ts'
import { type Markup, reasonList, stateLabel } from '../markup.ts'
import type { AccountLine } from '../overview.ts'

/** Reasons shown for one account. */
const MAX_REASONS = 5

/** The state of an account with its reasons. */
export function stateOfAccount(line: AccountLine, now: Date): Markup {
  return html`${statesOf(line)}${reasonsOf(line, now)}`
}

/** An account can be stale and suspect at once. */
function statesOf({ state, status }: AccountLine): Markup {
  const isSuspect = state !== 'suspect' && status !== undefined && status.suspects.length > 0
  return html`${isSuspect && html`${stateLabel('suspect')} `}${stateLabel(state)}`
}

function reasonsOf(line: AccountLine, now: Date): Markup | undefined {
  const { state, status, proofs, gap } = line
  if (status === undefined) return reasonList(['no snapshot in the archive'])
  const reasons = [
    ...status.suspects.flatMap((one) => one.reasons),
    ...status.problems,
    ...status.fromFuture.map((snapshot) => `snapshot ${snapshot} is from the future`),
    ...(state === 'stale' ? ['the newest good snapshot is too old'] : []),
    ...(proofs && gap ? [describeGap(proofs, gap, now)] : []),
  ]
  return reasonList(reasons, MAX_REASONS)
}
