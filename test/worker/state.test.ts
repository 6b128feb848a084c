import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startWorker } from './start-worker.ts'
import { minutes } from './stepped-clock.ts'
import { countSnapshots, prepare, start } from './two-accounts.ts'

describe('the configuration of a worker', () => {
  it('reads tokens again for each run; a missing token file fails only its account', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    trial.sandbox.faults.add({ operation: 'whoami', account: 501, refused: true, times: 1 })
    await rm(join(trial.folder, 'token-502'))
    await worker.stepUntilEnded(5 * minutes, 2)
    expect(await countSnapshots(trial)).toEqual([1, 1])
    const reasons = worker
      .log()
      .flatMap(({ msg, reason }) => (msg === 'backup failed' ? reason : []))
    expect(reasons.toSorted()).toEqual([
      expect.stringMatching(/^Cannot find the account of the token: the service refuses/),
      expect.stringMatching(/^Cannot read the token: .*token-502 is not there$/),
    ])
    await worker.stepUntilEnded(5 * minutes, 3)
    expect(await countSnapshots(trial)).toEqual([2, 1])
    await writeFile(join(trial.folder, 'token-502'), 'revoked')
    await worker.stepUntilEnded(5 * minutes, 4)
    expect(await countSnapshots(trial)).toEqual([3, 1])
    await writeFile(join(trial.folder, 'token-502'), 'token-502')
    await worker.stepUntilEnded(5 * minutes, 5)
    expect(await countSnapshots(trial)).toEqual([4, 2])
  })

  it('follows a changed schedule within a minute, not only after the next run', async () => {
    const { trial, env, config } = await prepare({ schedule: { cron: '0 * * * *' } })
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    await trial.write('dashkeep.yaml', { ...config, schedule: { cron: '*/5 * * * *' } })
    await worker.clock.step(1 * minutes)
    await worker.untilLogged('configuration adopted')
    expect(await worker.metric('dashkeep_next_run_timestamp_seconds')).toBe(
      Date.parse('2026-11-20T12:05:00Z') / 1000,
    )
    await worker.stepUntilEnded(3 * minutes, 2)
    await trial.write('dashkeep.yaml', { ...config, schedule: { cron: '0 12 * * *' } })
    await worker.clock.step(1 * minutes)
    await worker.untilLogged('configuration adopted', 2)
    // Noon has passed, and there is a snapshot since.
    await worker.clock.step(30 * minutes)
    expect(await countSnapshots(trial)).toEqual([2, 2])
  })

  it('repeats a run that failed on an invalid configuration, within a minute of its repair', async () => {
    const { trial, env, config } = await prepare({ schedule: { cron: '15 3 * * *' } })
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start: '2026-11-20T03:14:00Z' })
    await worker.untilEnded(1)
    await writeFile(env.DASHKEEP_CONFIG, 'accounts: nonsense')
    await worker.stepUntilEnded(1 * minutes, 2)
    expect(await countSnapshots(trial)).toEqual([1, 1])
    await worker.clock.step(15_000)
    await trial.write('dashkeep.yaml', config)
    await worker.stepUntilEnded(1 * minutes, 3)
    expect(await countSnapshots(trial)).toEqual([2, 2])
    const failed = worker.log().filter(({ msg }) => msg === 'configuration is invalid')
    expect(failed).toHaveLength(1)
  })

  it('backs up an added account within a minute', async () => {
    const { trial, env, config } = await prepare()
    await using _trial = trial
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(0, 1) })
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    expect(await countSnapshots(trial)).toEqual([1, 0])
    await trial.write('dashkeep.yaml', config)
    await worker.stepUntilEnded(1 * minutes, 2)
    expect(await countSnapshots(trial)).toEqual([1, 1])
  })

  it('does not start without a schedule, or with an invalid configuration', async () => {
    const { trial, env, config } = await prepare()
    await using _trial = trial
    const { schedule: _, ...unscheduled } = config
    await trial.write('dashkeep.yaml', unscheduled)
    await expect(startWorker({ trial, env, start })).rejects.toThrow('Cannot follow a schedule')
    await trial.write('dashkeep.yaml', { ...config, schedule: { cron: '61 * * * *' } })
    await expect(startWorker({ trial, env, start })).rejects.toThrow('expected a cron expression')
    await trial.write('dashkeep.yaml', config)
    const taken = startWorker({ trial, env: { ...env, DASHKEEP_LISTEN: 'no.such.host.:1' }, start })
    await expect(taken).rejects.toThrow('Cannot listen on no.such.host.:1')
  })
})
