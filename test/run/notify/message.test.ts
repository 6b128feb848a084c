import { describe, expect, it } from 'vitest'
import { type RunEvent, runEvents } from '../../../src/config/notifications.ts'
import { announcementOf } from '../../../src/run/notify/events.ts'
import { composeText } from '../../../src/run/notify/message.ts'
import { composeJson } from '../../../src/run/notify/receivers.ts'
import type { RunOutcome } from '../../../src/run/outcome.ts'
import { failureOf, outcomeOf, runOf } from './run-outcomes.ts'

function textOf(run: RunOutcome, wanted: readonly RunEvent[] = runEvents): string | undefined {
  const announcement = announcementOf(run, wanted)
  return announcement && composeText(announcement)
}

const altered = {
  snapshot: '20261120T031500Z-4f2a1c',
  objects: 353,
  storedBytes: 80_000,
  changes: { added: 0, removed: 1, changed: 2 },
}

describe('the text of a notification', () => {
  it('contains what happened, since when, and what to do', () => {
    expect(
      textOf(runOf([failureOf(), outcomeOf({ account: 'other' })], { exitCode: 3 }), ['failure']),
    ).toBe(`dashkeep: of 2 accounts 1 failed, 1 good
failed shop: Cannot export the saved objects of type search: the service is not available
  since: not good since 2026-11-19 03:15:00 UTC (1 day ago); last good snapshot 20261118T031500Z-09b1d3 of 2026-11-18 03:15:00 UTC (2 days ago)
  to do: try again later
run 4f2a1c00, 2026-11-20 03:15:00 to 2026-11-20 03:16:00 UTC, exit status 3`)
  })

  it('reports that no good snapshot is known', () => {
    expect(textOf(runOf([failureOf({ lastGood: undefined })]))).toContain(
      '; no good snapshot is known\n',
    )
  })

  it('omits the start of the bad runs if this is the first', () => {
    const badSince = new Date('2026-11-20T03:15:00Z')
    expect(textOf(runOf([failureOf({ badSince })]))).toContain('\n  since: last good snapshot ')
  })

  it('describes a suspect snapshot', () => {
    const suspect = outcomeOf({ result: 'suspect', reasons: ['search: 0 objects, down from 12'] })
    expect(textOf(runOf([suspect]))).toContain(
      'suspect shop: search: 0 objects, down from 12\n  snapshot 20261120T031500Z-4f2a1c, 353 objects\n  since: last good',
    )
  })

  it('reports a failure of the whole run once, not for each account', () => {
    const error = { message: 'Cannot use the configuration', hint: 'look at it' }
    const accounts = ['one', 'two'].map((account) =>
      failureOf({ account, reasons: [error.message], hint: error.hint }),
    )
    expect(textOf(runOf(accounts, { error, exitCode: 2 }))).toBe(
      'dashkeep: the backup failed\nCannot use the configuration\n  to do: look at it\nrun 4f2a1c00, 2026-11-20 03:15:00 to 2026-11-20 03:16:00 UTC, exit status 2',
    )
  })

  it('names twenty accounts of a thousand', () => {
    const accounts = Array.from({ length: 1000 }, (_, index) => failureOf({ account: `a${index}` }))
    const text = textOf(runOf(accounts)) ?? ''
    expect(text.match(/^failed /gm)).toHaveLength(20)
    expect(text).toContain('… and 980 more accounts')
    expect(text.length).toBeLessThan(10_000)
  })
})

describe('the events of a message', () => {
  const changed = outcomeOf({ taken: altered })
  const recovered = outcomeOf({ recovered: true, badSince: new Date('2026-11-19T03:15:00Z') })
  const warned = outcomeOf({ reasons: ['the previous snapshot is damaged'] })
  it.each([
    ['a good run', outcomeOf(), ['success']],
    ['a change', changed, ['success', 'change']],
    ['a recovery', recovered, ['recovery', 'success']],
    ['a failure', failureOf(), ['failure']],
    ['a suspect snapshot', outcomeOf({ result: 'suspect' }), ['suspect']],
    ['a warning', warned, ['suspect']],
  ])('of %s', (_, outcome, events) => {
    expect(announcementOf(runOf([outcome]), runEvents)?.events).toEqual(events)
    for (const event of runEvents) {
      expect(announcementOf(runOf([outcome]), [event]) !== undefined).toBe(events.includes(event))
    }
  })

  it('are only those that the receiver asked for', () => {
    const run = runOf([failureOf({ account: 'one' }), changed])
    expect(textOf(run, ['change'])).not.toContain('failed one')
    expect(textOf(run, ['failure'])).not.toContain('removed')
  })
})

describe('the JSON of a webhook', () => {
  it('has the members that docs/worker.md names', () => {
    const announcement = announcementOf(runOf([failureOf()], { exitCode: 1 }), ['failure'])
    expect(JSON.parse(JSON.stringify(announcement && composeJson(announcement)))).toEqual({
      text: expect.stringContaining('dashkeep: of 1 account 1 failed'),
      run: '4f2a1c00',
      events: ['failure'],
      startedAt: '2026-11-20T03:15:00.000Z',
      endedAt: '2026-11-20T03:16:00.000Z',
      exitStatus: 1,
      accounts: [
        {
          name: 'shop',
          accountId: 100001,
          events: ['failure'],
          result: 'failed',
          reasons: ['Cannot export the saved objects of type search: the service is not available'],
          hint: 'try again later',
          lastGood: { snapshot: '20261118T031500Z-09b1d3', takenAt: '2026-11-18T03:15:00.000Z' },
          badSince: '2026-11-19T03:15:00.000Z',
        },
      ],
      omittedAccounts: 0,
    })
  })
})
