import { describe, expect, it } from 'vitest'
import { hitOf } from '../archive/archive-of.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { type Scene, startScriptedServer } from '../service/scripted-server.ts'
import { startMany } from './many-trial.ts'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

const noon = new Date('2026-11-20T12:00:00Z')
const nextYear = new Date('2027-11-20T12:00:00Z')

/** An HTTP date so many seconds after noon. */
function httpDate(seconds: number): string {
  return new Date(noon.getTime() + seconds * 1000).toUTCString()
}

/** A service of one object whose answers have just these headers about the time. */
function serviceWith(headers: Record<string, string>, forExports = headers): Scene {
  return (response, { path, body }) => {
    const isExport = path.endsWith('/export')
    response.sendDate = false
    for (const [name, value] of Object.entries(isExport ? forExports : headers)) {
      response.setHeader(name, value)
    }
    const { type } = isExport ? (JSON.parse(body) as { type: string }) : { type: '' }
    const hits = [hitOf(`${type}:a`, { title: 'A' })]
    const account = { accountId: shopId, accountName: 'Shop' }
    response.end(JSON.stringify(isExport ? { kibanaVersion: '7.10.2', hits } : account))
  }
}

async function backUpAtNoon(trial: Trial, scene: Scene, args: readonly string[] = []) {
  await using server = await startScriptedServer([scene])
  return await trial.runAt(noon, ['backup', ...args], { DASHKEEP_BASE_URL: server.url })
}

describe('a backup whose clock differs from the service’s', () => {
  it('is refused by more than an hour, with both times and what to do, and stores nothing', async () => {
    await using trial = await startTrial()
    const { exitCode, stdout } = await backUpAtNoon(
      trial,
      serviceWith({ date: httpDate(-365 * 24 * 3600) }),
      ['--json'],
    )
    expect(exitCode).toBe(1)
    const [account] = accountsOf(stdout)
    expect(account).toMatchObject({
      result: 'failed',
      error: `Cannot back up account ${shopId}: this machine's clock shows 2026-11-20T12:00:00Z, the service's clock 2025-11-20T12:00:00Z`,
      hint: expect.stringMatching(/set this machine's clock.*limits\.maxClockSkewMs/),
    })
    expect((await trial.files()).size).toBe(0)
  })

  it.each([
    ['an hour ahead', { date: httpDate(3600) }, 0],
    ['an hour behind', { date: httpDate(-3600) }, 0],
    ['more than an hour ahead', { date: httpDate(3601) }, 1],
    ['more than an hour behind', { date: httpDate(-3601) }, 1],
    ['not known: there is no Date', {}, 0],
    ['not known: the Date is a number', { date: '0' }, 0],
    ['not known: the Date is no date', { date: 'yesterday' }, 0],
    ['not known: the Date is of another form', { date: '2020-01-01T00:00:00Z' }, 0],
    ['not known: there is no such day', { date: 'Mon, 20 Nov 2025 12:00:00 GMT' }, 0],
    ['right, with an answer from a cache', { date: httpDate(-86_400), age: '86400' }, 0],
    ['wrong, with an answer from a cache', { date: httpDate(0), age: '86400' }, 1],
    ['right, with an Age that is none', { date: httpDate(0), age: '-1' }, 0],
  ])('where the service’s clock is %s', async (_name, headers, code) => {
    await using trial = await startTrial()
    const { exitCode, stdout } = await backUpAtNoon(trial, serviceWith(headers))
    expect(exitCode, stdout).toBe(code)
    expect((await trial.files()).size).toBe(code === 0 ? 4 : 0)
  })

  it('is refused when only the exports say the time', async () => {
    await using trial = await startTrial()
    const { exitCode } = await backUpAtNoon(trial, serviceWith({}, { date: httpDate(7200) }))
    expect(exitCode).toBe(1)
    expect((await trial.files()).size).toBe(0)
  })

  it('goes by the configured limit', async () => {
    await using trial = await startTrial()
    const config = (maxClockSkewMs: number) =>
      trial.write('skew.yaml', { limits: { maxClockSkewMs } })
    const scene = serviceWith({ date: httpDate(7200) })
    const wide = await backUpAtNoon(trial, scene, ['--config', await config(3 * 3600_000)])
    expect(wide.exitCode).toBe(0)
    const narrow = await backUpAtNoon(trial, scene, ['--config', await config(60_000)])
    expect(narrow.exitCode).toBe(1)
  })

  it('fails alone where other accounts are on a service whose clock is right', async () => {
    await using trial = await startMany([501, 502])
    await using server = await startScriptedServer([serviceWith({ date: httpDate(7200) })])
    const config = await trial.write('two.yaml', {
      accounts: [501, 502].map((id) => ({
        name: `team-${id}`,
        baseUrl: id === 501 ? server.url : trial.sandbox.url,
        token: { env: `TOKEN_${id}` },
      })),
    })
    const changes = { ...trial.changes, DASHKEEP_CONFIG: config }
    const { exitCode, stdout } = await trial.runAt(noon, ['backup', '--json'], changes)
    expect(exitCode).toBe(3)
    expect(accountsOf(stdout).map(({ result }) => result)).toEqual(['failed', 'first'])
  })

  it('is reported as a failure', async () => {
    await using receiver = await startReceiver()
    await using trial = await startTrial()
    trial.setServiceClock(() => noon)
    await using server = await startScriptedServer([serviceWith({ date: httpDate(0) })])
    const changes = {
      DASHKEEP_BASE_URL: server.url,
      DASHKEEP_WEBHOOK_URL: `${receiver.url}/hook`,
    }
    expect((await trial.runAt(nextYear, ['backup'], changes)).exitCode).toBe(1)
    expect(receiver.jsonAt('/hook')).toMatchObject([
      {
        events: ['failure'],
        accounts: [{ reasons: [expect.stringContaining('2027-11-20T12:00:00Z')] }],
      },
    ])
  })
})

describe('what takes no snapshot', () => {
  it('does not care: diff against the service', async () => {
    await using trial = await startTrial()
    expect((await trial.runAt(noon, ['backup'])).exitCode).toBe(0)
    await using server = await startScriptedServer([serviceWith({ date: httpDate(7200) })])
    const changes = { DASHKEEP_BASE_URL: server.url }
    const { exitCode, stderr } = await trial.runAt(noon, ['diff', 'latest', '--stat'], changes)
    expect(exitCode, stderr).toBe(0)
  })
})
