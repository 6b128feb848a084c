import { describe, expect, it } from 'vitest'
import { startScriptedServer } from '../service/scripted-server.ts'
import { shop, shopId, startTrial, type Trial } from './trial.ts'

interface Finding {
  readonly check: string
  readonly result: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly hint?: string
}

function examine(trial: Trial, env: Record<string, string | undefined> = {}) {
  return examineAt(new Date(), trial, env)
}

async function examineAt(now: Date, trial: Trial, env: Record<string, string | undefined>) {
  const { exitCode, stdout } = await trial.runAt(now, ['doctor', '--json'], env)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { exitCode, findings, of: (check: string) => findings.find((one) => one.check === check) }
}

describe('doctor', () => {
  it('prints one line for each successful check, and leaves no objects behind', async () => {
    await using trial = await startTrial()
    const { exitCode, stdout } = await trial.run(['doctor'], { DASHKEEP_ACCOUNT_ID: `${shopId}` })
    expect(exitCode).toBe(0)
    expect(stdout).not.toMatch(/^(warning|failed)/m)
    const checks = [...stdout.matchAll(/^ok +([^:]+):/gm)].map(([, check]) => check)
    expect(checks).toEqual([
      'configuration',
      'account default',
      'clock (default)',
      'exports (default)',
      'store write',
      'store read',
      'store list',
      'store delete',
    ])
    expect((await trial.files()).size).toBe(0)
  })

  it('fails where a backup finds no endpoint to export from', async () => {
    await using trial = await startTrial({ form: 'deployed' })
    const { exitCode, findings } = await examine(trial)
    expect(exitCode).toBe(1)
    expect(findings.filter(({ result }) => result === 'failed')).toMatchObject([
      {
        check: 'exports (default)',
        detail: expect.stringMatching(
          /Cannot export .* type search: the service has no such endpoint/,
        ),
        hint: expect.stringContaining('path prefix'),
      },
      { detail: expect.stringContaining('visualization') },
      { detail: expect.stringContaining('dashboard') },
    ])
    expect((await examine(trial, { DASHKEEP_PATH_PREFIX: '/v1' })).exitCode).toBe(0)
  })

  it('fails for a type that the service does not export, and names the others', async () => {
    await using trial = await startTrial()
    const { exitCode, findings } = await examine(trial, { DASHKEEP_TYPES: 'search,query' })
    expect(exitCode).toBe(1)
    const ofExports = findings.filter(({ check }) => check === 'exports (default)')
    expect(ofExports).toMatchObject([
      { result: 'failed', detail: expect.stringContaining('of type query') },
      { result: 'ok', detail: 'the service exports search' },
    ])
  })

  it('reads only the beginning of an export', async () => {
    const objects = { generated: { seed: 1, bytes: 1_000_000 } }
    await using trial = await startTrial({ accounts: [shop({ objects })] })
    trial.sandbox.faults.add({ operation: 'export', hang: true, atByte: 200_000 })
    const { exitCode, of } = await examine(trial)
    expect(exitCode).toBe(0)
    expect(of('exports (default)')?.detail).toBe(
      'the service exports search, visualization, dashboard',
    )
  })

  it('warns of a token that could be any account’s, and of types left out', async () => {
    await using trial = await startTrial()
    const { exitCode, findings } = await examine(trial, {
      DASHKEEP_TYPES: 'search,dashboard',
      DASHKEEP_SCHEDULE: '0 3 1 * 1',
    })
    expect(exitCode).toBe(0)
    expect(findings.filter(({ result }) => result === 'warning')).toMatchObject([
      { check: 'configuration', detail: expect.stringContaining('0 3 1 * 1 is due only when') },
      { check: 'types', detail: expect.stringContaining('visualization') },
      {
        check: 'account default',
        hint: `set accountId (or DASHKEEP_ACCOUNT_ID) to ${shopId}`,
      },
    ])
  })

  it('continues after a failure, so that one run shows every problem', async () => {
    await using trial = await startTrial()
    const { exitCode, of } = await examine(trial, {
      DASHKEEP_API_TOKEN: 'wrong',
      DASHKEEP_STORE: `file://${await trial.write('no-folder', 'a file')}`,
    })
    expect(exitCode).toBe(1)
    expect(of('account default')).toMatchObject({ result: 'failed', hint: expect.any(String) })
    expect(of('store write')).toMatchObject({ result: 'failed', hint: expect.any(String) })
  })

  it('fails for a token of another account, and names that account', async () => {
    await using trial = await startTrial()
    const { exitCode, of } = await examine(trial, { DASHKEEP_ACCOUNT_ID: '7' })
    expect(exitCode).toBe(1)
    expect(of('account default')?.detail).toContain(`account ${shopId}`)
  })

  it.each([
    [299, 0, 'ok', /^differs from the service's clock by 299 s$/],
    [301, 0, 'warning', /^this machine's clock differs from the service's clock by 301 s$/],
    [-301, 0, 'warning', /clock differs .* by 301 s/],
    [3601, 1, 'failed', /clock differs .* by 3601 s, so backups fail$/],
  ])('judges a service clock that is %i s ahead', async (seconds, code, result, detail) => {
    await using trial = await startTrial()
    const now = new Date('2026-11-20T12:00:00Z')
    const date = new Date(now.getTime() + seconds * 1000).toUTCString()
    await using server = await startScriptedServer([
      (response) => {
        response.setHeader('date', date)
        const account = { accountId: shopId, accountName: 'Shop' }
        response.end(JSON.stringify({ ...account, kibanaVersion: '7.10.2', hits: [] }))
      },
    ])
    const { exitCode, of } = await examineAt(now, trial, { DASHKEEP_BASE_URL: server.url })
    expect(exitCode).toBe(code)
    expect(of('clock (default)')).toMatchObject({ result, detail: expect.stringMatching(detail) })
  })
})
