import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { startWorker } from './start-worker.ts'
import { minutes } from './stepped-clock.ts'
import { prepare, start } from './two-accounts.ts'

describe('the metrics of a worker', () => {
  it('drop accounts that are no longer configured', async () => {
    const { trial, env, config } = await prepare()
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    const before = await worker.ask('/metrics')
    expect(before.text).toContain('team-502')
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(0, 1) })
    await worker.clock.step(1 * minutes)
    await worker.untilLogged('configuration adopted')
    const after = await worker.ask('/metrics')
    expect(after.text).toContain('team-501')
    expect(after.text).not.toContain('team-502')
  })

  it('are all described in docs/worker.md', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start })
    const { text } = await worker.ask('/metrics')
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    const page = await readFile(new URL('../../docs/worker.md', import.meta.url), 'utf8')
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})
