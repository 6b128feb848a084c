import { DashkeepError } from '../../errors.ts'
import { makeReport } from '../../report/make-report.ts'
import type { Report } from '../../report/report.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { composeReport } from '../print/report-document.ts'
import { formatHtml } from '../print/report-html.ts'
import { formatMarkdown } from '../print/report-markdown.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { lookUpAccount } from '../select/choose-account.ts'
import { readSince } from '../select/read-since.ts'
import type { Terminal } from '../terminal.ts'

interface ReportOptions extends CommonOptions {
  readonly account?: string
  readonly since: string
  readonly format?: 'markdown' | 'html' | 'json'
}

/**
 * `dashkeep report`: prints what an auditor asks about the backups of each account. Exit code 3 when
 * the report is incomplete. Problems that it reports do not change the exit code: they stay in the
 * report for as long as its span reaches back, and nobody can mend a run of last month.
 */
export async function report(terminal: Terminal, options: ReportOptions): Promise<number> {
  const { signal, env, progress } = terminal
  const now = terminal.now()
  const since = readSince(options.since, now)
  if (since > now) throw notBegun(options.since)
  const { config, log } = await createContext(terminal, options, ['store'])
  await using store = await openWatchedArchive(terminal, { config, log })
  progress.begin('reading', { unit: 'manifest', counting: 'read' })
  const { account: name } = options
  const only =
    name === undefined
      ? undefined
      : {
          name,
          accountId: await lookUpAccount(store, config, name, { now, signal }),
        }
  const made = await makeReport(store, config, { since, now, only, env, log, signal })
  progress.end()
  print(terminal, made, options.format)
  for (const reason of made.unread) log.warn(reason)
  const isComplete = made.unread.length === 0 && made.accounts.length > 0
  return isComplete ? exitCodes.done : exitCodes.partly
}

function notBegun(since: string): DashkeepError {
  return new DashkeepError(`Cannot report since ${since}: it is in the future`, {
    kind: 'usage',
    hint: 'use for example --since 90d',
  })
}

function print(terminal: Terminal, made: Report, format: ReportOptions['format']): void {
  if (terminal.json || format === 'json') terminal.printJson(made)
  else if (format === 'html') terminal.print(formatHtml(composeReport(made)))
  else terminal.print(formatMarkdown(composeReport(made)))
}
