import { isDoubtful } from '../archive/take.ts'
import type { AccountConfig, Config } from '../config/config.ts'
import { createRunId, type Logger } from '../log.ts'
import { openArchive } from '../open.ts'
import { type AccountBackup, backupAccounts } from '../run/back-up.ts'
import { exitCodeOf, exitCodeOfRun } from '../run/exit-codes.ts'
import { followUp } from '../run/follow-up.ts'
import type { RunReport } from '../run/reporter.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { startDeadline } from './deadline.ts'
import { pruneAccount, sweepArchive } from './prune.ts'
import type { AccountEnding, Worker } from './state.ts'

/** Backs up some of the configured accounts. Never throws: failures are reported. */
export async function performRun(
  worker: Worker,
  accounts: readonly AccountConfig[],
): Promise<void> {
  const config = { ...worker.config, accounts }
  worker.metrics.setRunning(true)
  try {
    await backUp(worker, config, beginRun(worker, config))
  } finally {
    worker.metrics.setRunning(false)
  }
}

/** Reports a run that failed before it backed up any account. */
export async function failRun(worker: Worker, error: Error): Promise<void> {
  const { report } = beginRun(worker, worker.config)
  await report.end({ exitCode: exitCodeOf(error), error })
}

function beginRun(worker: Worker, config: Config) {
  const { log: workerLog, tail, reporter, configured, isPartial } = worker
  const run = createRunId()
  const log = workerLog.child({ run })
  tail.clear()
  return { log, report: reporter.begin(config, { run, log, configured, isPartial }) }
}

async function backUp(
  worker: Worker,
  config: Config,
  { report, log }: { report: RunReport; log: Logger },
): Promise<void> {
  const { clock, env, configured } = worker
  const endings = new Map<string, AccountEnding>()
  const ms = config.schedule?.deadlineMs ?? 0
  using deadline = startDeadline(clock, ms, {
    message: `Cannot finish the run: it takes longer than ${ms / 1000} s`,
    hint: 'raise schedule.deadline, or look in the log for what takes so long',
  })
  const signal = AbortSignal.any([worker.signal, deadline.signal])
  const onDone = (backup: AccountBackup) => {
    const { account, taken, error } = backup
    report.note(backup)
    const doubtful = taken !== undefined && isDoubtful(taken)
    endings.set(account.name, { error, doubtful, accountId: taken?.manifest.account.id })
  }
  const onWarning = (account: string, warning: string) => {
    report.warn(account, warning)
    const ending = endings.get(account)
    if (ending) endings.set(account, { ...ending, doubtful: true })
  }
  let store: ObjectStore | undefined
  let failure: Error | undefined
  let isBackedUp = false
  try {
    store = await openArchive(config, { env, log })
    const about = { env, log, now: clock.now }
    const backups = await backupAccounts(config, store, { ...about, signal, configured, onDone })
    isBackedUp = true
    const limits = { signal: worker.signal, deadline: deadline.signal }
    await followUp(config, store, backups, { ...about, ...limits, onWarning })
    await pruneGood(config, store, endings, { report, log, now: clock.now(), signal })
  } catch (error) {
    failure = error as Error
  }
  const isStopped = failure !== undefined && worker.signal.aborted
  // Once all accounts are backed up, no other worker would find them late and report them.
  if (isStopped && isBackedUp) {
    failure = undefined
    for (const account of endings.keys()) onWarning(account, 'stopped before the run was finished')
  }
  // A stopped run is not reported: the next worker finds the accounts late and backs them up.
  if (isStopped && !isBackedUp) log.warn('run interrupted')
  else {
    const exitCode = endings.size > 0 ? exitCodeOfRun([...endings.values()]) : exitCodeOf(failure)
    await report.end({ exitCode, error: failure, store })
  }
  await store?.close()
}

/** Prunes the accounts whose backup was good and without warnings. A problem becomes a warning. */
async function pruneGood(
  { schedule, retention }: Config,
  store: ObjectStore,
  endings: Map<string, AccountEnding>,
  options: { report: RunReport; log: Logger; now: Date; signal: AbortSignal },
): Promise<void> {
  if (!schedule?.pruneAfter || retention === undefined) return
  for (const [account, ending] of endings) {
    if (ending.doubtful || ending.accountId === undefined) continue
    const log = options.log.child({ account })
    const problems = await pruneAccount(store, ending.accountId, retention, { ...options, log })
    options.signal.throwIfAborted()
    if (problems.length > 0) endings.set(account, { ...ending, doubtful: true })
    for (const problem of problems) options.report.warn(account, problem)
  }
  await sweepArchive(store, options)
}
