import { type RunEvent, runEvents } from '../../config/notifications.ts'
import { type AccountOutcome, isClean, type RunOutcome } from '../outcome.ts'

/** The events of a run for one account. */
export interface AccountEvents {
  readonly outcome: AccountOutcome
  readonly events: readonly RunEvent[]
}

/** A run, with the events that one receiver asked for. */
export interface Announcement {
  readonly run: RunOutcome
  /** The events of all accounts, each once, worst first. */
  readonly events: readonly RunEvent[]
  readonly accounts: readonly AccountEvents[]
}

/** Selects the events of a run that a receiver asked for; undefined when there are none. */
export function announcementOf(
  run: RunOutcome,
  wanted: readonly RunEvent[],
): Announcement | undefined {
  const accounts = run.accounts
    .map((outcome) => ({
      outcome,
      events: eventsOf(outcome).filter((event) => wanted.includes(event)),
    }))
    .filter(({ events }) => events.length > 0)
  const found = new Set(accounts.flatMap(({ events }) => events))
  if (run.error !== undefined && wanted.includes('failure')) found.add('failure')
  if (found.size === 0) return undefined
  return { run, accounts, events: runEvents.filter((event) => found.has(event)) }
}

function eventsOf(outcome: AccountOutcome): RunEvent[] {
  if (outcome.result === 'failed') return ['failure']
  const { added = 0, removed = 0, changed = 0 } = outcome.taken?.changes ?? {}
  const events: RunEvent[] = []
  if (!isClean(outcome)) events.push('suspect')
  if (outcome.recovered) events.push('recovery')
  if (isClean(outcome)) events.push('success')
  if (added + removed + changed > 0) events.push('change')
  return events
}
