import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shop, shopId, startTrial, type Trial } from './trial.ts'

const hostileName = '<img src=x onerror=alert(1)> | [a](javascript:1)'

/** A trial with a backup at 03:20 on some days of November 2026, and a schedule for every day. */
async function backUpOn(days: readonly number[], config: object = {}): Promise<Trial> {
  const trial = await startTrial({ accounts: [shop({ accountName: hostileName })] })
  for (const day of days) {
    const { exitCode } = await trial.runAt(new Date(Date.UTC(2026, 10, day, 3, 20)), ['backup'])
    expect(exitCode).toBe(0)
  }
  const schedule = { cron: '0 3 * * *' }
  await trial.write('limits.yaml', { schedule, ...config })
  return trial
}

const tenth = new Date('2026-11-10T12:00:00Z')
const since = ['report', '--since', '2026-11-01']

describe('a report', () => {
  it('lists the due runs that were made and missed since a date', async () => {
    await using trial = await backUpOn([3, 4, 5, 8, 10])
    const { exitCode, stdout } = await trial.runAt(tenth, [...since, '--json'])
    expect(exitCode).toBe(0)
    const { accounts, schedule, unread } = JSON.parse(stdout)
    expect({ schedule, unread }).toEqual({
      schedule: { cron: '0 3 * * *', timeZone: 'UTC' },
      unread: [],
    })
    expect(accounts).toMatchObject([
      {
        accountId: shopId,
        name: hostileName,
        isConfigured: true,
        attention: ['3 due runs without a snapshot'],
        runs: {
          ...{ due: 8, made: 5, missed: 3, beforeFirst: 2, pending: false },
          spans: {
            missed: [
              { from: '2026-11-06T03:00:00.000Z', to: '2026-11-07T03:00:00.000Z', runs: 2 },
              { from: '2026-11-09T03:00:00.000Z', to: '2026-11-09T03:00:00.000Z', runs: 1 },
            ],
          },
        },
        taken: { good: 5, suspect: 0, damaged: 0, removed: 0 },
        longestGap: { from: '2026-11-05T03:20:00.000Z', to: '2026-11-08T03:20:00.000Z' },
      },
    ])
  })

  it('says that a time is not known once snapshots of it were removed', async () => {
    await using trial = await backUpOn([3, 4, 5, 8, 10])
    await trial.runAt(tenth, ['prune', '--keep-last', '1', '--yes'])
    const { stdout } = await trial.runAt(tenth, [...since, '--json'])
    expect(JSON.parse(stdout).accounts[0].runs).toMatchObject({
      // The first snapshot is left, because the newest one shares its files.
      ...{ due: 8, made: 2, missed: 1, unknown: 5, beforeFirst: 2 },
    })
  })

  it('counts a due run neither as made nor as missed while it may be in progress', async () => {
    await using trial = await backUpOn([9])
    const runsAt = async (time: string) => {
      const { stdout } = await trial.runAt(new Date(time), [...since, '--json'])
      return JSON.parse(stdout).accounts[0].runs
    }
    expect(await runsAt('2026-11-10T09:00:00Z')).toMatchObject({ due: 1, missed: 0, pending: true })
    expect(await runsAt('2026-11-10T09:01:00Z')).toMatchObject({
      due: 2,
      missed: 1,
      pending: false,
    })
  })

  it('says in Markdown and HTML what needs attention, with hostile names as text', async () => {
    await using trial = await backUpOn([9])
    await trial.write('limits.yaml', {
      schedule: { cron: '0 3 * * *' },
      retention: { daily: 7, within: '30d' },
    })
    const markdown = await trial.runAt(tenth, since)
    expect(markdown).toMatchObject({ exitCode: 0, stderr: '' })
    expect(markdown.stdout).toContain('# Backup report, 2026-11-01 to 2026-11-10\n')
    expect(markdown.stdout).toContain('**1 of 1 account needs attention:**\n')
    expect(markdown.stdout).toContain('* Retention: daily 7, within 30 days\n')
    expect(markdown.stdout).toContain('\\<img src=x onerror=alert(1)\\> \\| \\[a\\](javascript:1)')
    const page = await trial.runAt(tenth, [...since, '--format', 'html'])
    expect(page.exitCode).toBe(0)
    expect(page.stdout).toMatch(/^<!doctype html>\n.*<\/html>\n$/s)
    expect(page.stdout).toContain('&lt;img src=x onerror=alert(1)&gt; | [a](javascript:1)')
    expect(page.stdout).not.toContain('<img')
  })

  it('does not know which runs were due without a schedule', async () => {
    await using trial = await backUpOn([9])
    await trial.write('limits.yaml', {})
    const { exitCode, stdout } = await trial.runAt(tenth, since)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('**All well: the account has no problem.**')
    expect(stdout).toContain('No schedule is configured')
    expect(stdout).toContain('* Due runs: not known: no schedule is configured\n')
  })

  it('is incomplete when a copy cannot be read, and says so', async () => {
    await using trial = await backUpOn([10])
    const copied = join(trial.folder, 'copy')
    await trial.runAt(tenth, ['copy', '--to', copied])
    const schedule = { cron: '0 3 * * *' }
    const offsite = { name: 'offsite', url: `file://${copied}` }
    await trial.write('limits.yaml', { schedule, copies: [offsite] })
    const { stdout } = await trial.runAt(tenth, since)
    expect(stdout).toContain('* Copy offsite: complete, newest 2026-11-10 03:20\n')
    await rm(copied, { recursive: true })
    await trial.write('copy', 'not a folder')
    const { exitCode, stdout: incomplete, stderr } = await trial.runAt(tenth, since)
    expect(exitCode).toBe(3)
    expect(incomplete).toContain('**The report is incomplete:**')
    expect(stderr).toContain('Cannot ')
  })

  it('of an empty archive names the configured account, and fails without one', async () => {
    await using trial = await startTrial()
    const configured = await trial.run(['report'])
    expect(configured.exitCode).toBe(0)
    expect(configured.stdout).toContain('the archive has no snapshot')
    const none = { DASHKEEP_BASE_URL: undefined, DASHKEEP_API_TOKEN: undefined }
    const empty = await trial.run(['report'], none)
    expect(empty.exitCode).toBe(3)
    expect(empty.stdout).toContain('**The archive has no account to report on.**')
  })

  it('of one account has no other', async () => {
    await using trial = await backUpOn([10])
    const one = await trial.runAt(tenth, [...since, '--account', String(shopId), '--json'])
    expect(JSON.parse(one.stdout).accounts).toHaveLength(1)
    const text = await trial.runAt(tenth, [...since, '--account', '7'])
    expect(text.stdout).toContain('**The archive has no account to report on.**')
    const other = await trial.runAt(tenth, [...since, '--account', '7', '--json'])
    expect(other.exitCode).toBe(3)
    expect(JSON.parse(other.stdout).accounts).toEqual([])
  })

  it.each([
    [['--since', '2027-01-01'], /Cannot report since 2027-01-01: it is in the future/],
    [['--since', 'soon'], /Cannot use --since soon: it is neither a date nor a duration/],
    [['--format', 'pdf'], /pdf/],
    [['--format', 'html', '--json'], /--json/],
  ])('refuses %j', async (args, message) => {
    await using trial = await startTrial()
    const { exitCode, stdout, stderr } = await trial.runAt(tenth, ['report', ...args])
    expect(stderr).toMatch(message)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  })
})
