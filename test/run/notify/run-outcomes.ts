import type { AccountOutcome, RunOutcome } from '../../../src/run/outcome.ts'

/** A good run, with changes. */
export function runOf(
  accounts: readonly AccountOutcome[],
  changes: Partial<RunOutcome> = {},
): RunOutcome {
  return {
    run: '4f2a1c00',
    startedAt: new Date('2026-11-20T03:15:00Z'),
    endedAt: new Date('2026-11-20T03:16:00Z'),
    exitCode: 0,
    accounts,
    error: undefined,
    ...changes,
  }
}

/** A good outcome without changed objects, with changes. */
export function outcomeOf(changes: Partial<AccountOutcome> = {}): AccountOutcome {
  const snapshot = '20261120T031500Z-4f2a1c'
  return {
    account: 'shop',
    accountId: 100001,
    result: 'good',
    durationMs: 1200,
    retries: 0,
    taken: {
      snapshot,
      objects: 353,
      storedBytes: 0,
      changes: { added: 0, removed: 0, changed: 0 },
    },
    reasons: [],
    hint: undefined,
    lastGood: { snapshot, takenAt: new Date('2026-11-20T03:15:00Z') },
    badSince: undefined,
    recovered: false,
    ...changes,
  }
}

/** A failed outcome: the last good snapshot is two days old. */
export function failureOf(changes: Partial<AccountOutcome> = {}): AccountOutcome {
  return outcomeOf({
    result: 'failed',
    taken: undefined,
    reasons: ['Cannot export the saved objects of type search: the service is not available'],
    hint: 'try again later',
    lastGood: {
      snapshot: '20261118T031500Z-09b1d3',
      takenAt: new Date('2026-11-18T03:15:00Z'),
    },
    badSince: new Date('2026-11-19T03:15:00Z'),
    ...changes,
  })
}
