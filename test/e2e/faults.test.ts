import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/sandbox/http/faults.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial, types } from './trial.ts'

/** A trial whose archive holds one good snapshot, and whose account has changed since. */
async function startWithSnapshot(): Promise<{ trial: Trial; before: Map<string, Buffer> }> {
  const trial = await startTrial()
  expect((await trial.run(['backup'])).exitCode).toBe(0)
  const before = await trial.files()
  const hit = { _id: 'dashboard:late', _source: { type: 'dashboard', dashboard: { title: 'x' } } }
  const document = Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString()
  trial.sandbox.setObjects(
    shopId,
    'dashboard',
    document.replace('"hits":[', `"hits":[${JSON.stringify(hit)},`),
  )
  trial.sandbox.clearRequests()
  return { trial, before }
}

/** The archive holds what it held, byte for byte, and nothing else; all of it verifies. */
async function expectUntouched(trial: Trial, before: Map<string, Buffer>): Promise<void> {
  expect(await trial.files()).toEqual(before)
  expect((await trial.run(['verify'])).stdout).toMatch(/^verified 1 snapshot with 3 stored files/)
}

const refusals: [behaviour: string, fault: Fault, exitCode: number, state: RegExp, hint: RegExp][] =
  [
    [
      'whoami answers 403 under status 200',
      { operation: 'whoami', refused: true },
      2,
      /Cannot find the account of the token: the service refuses the token \(status 200, code 403, "Insufficient privileges"/,
      /valid API token/,
    ],
    [
      'whoami answers 401 as its status',
      { operation: 'whoami', status: 401 },
      2,
      /Cannot find the account of the token: the service refuses the token \(status 401/,
      /valid API token/,
    ],
    [
      'the token is of an account of another region',
      {
        operation: 'whoami',
        status: 400,
        body: 'Account region us-east-1 differs from current server region eu-central-1',
      },
      2,
      /the token's account is in region us-east-1, the base address serves region eu-central-1/,
      /base address of region us-east-1/,
    ],
    [
      'an export answers 403 under status 200',
      { operation: 'export', type: 'visualization', refused: true },
      2,
      /Cannot export the saved objects of type visualization: the service refuses the token \(status 200, code 403/,
      /valid API token/,
    ],
    [
      'an export answers 403 as its status',
      { operation: 'export', type: 'search', status: 403 },
      2,
      /Cannot export the saved objects of type search: the service refuses the token \(status 403/,
      /valid API token/,
    ],
    [
      'the body is cut every time',
      { operation: 'export', type: 'dashboard', cut: true, atByte: 1000 },
      1,
      /the connection to http:\S+ was interrupted after \d+ bytes/,
      /try again/,
    ],
    [
      'the connection is cut before an answer every time',
      { operation: 'export', type: 'dashboard', cut: true },
      1,
      /Cannot export the saved objects of type dashboard: the connection to http:\S+ was interrupted/,
      /try again/,
    ],
    [
      'the body is a list',
      { operation: 'export', type: 'search', body: '[]' },
      1,
      /Cannot export the saved objects of type search: .*(wrong shape|not JSON)/,
      /base address/,
    ],
    [
      'the body has no hits',
      { operation: 'export', type: 'search', body: '{"kibanaVersion":"7.10.2"}' },
      1,
      /Cannot export the saved objects of type search: the answer has the wrong shape: .*hits/,
      /base address/,
    ],
    [
      'the body has no kibanaVersion',
      { operation: 'export', type: 'search', body: '{"hits":[]}' },
      1,
      /Cannot export the saved objects of type search: the answer has the wrong shape: .*kibanaVersion/,
      /base address/,
    ],
    [
      'hits is no list',
      { operation: 'export', type: 'search', body: '{"kibanaVersion":"7","hits":{}}' },
      1,
      /Cannot export the saved objects of type search: the answer has the wrong shape: .*hits/,
      /base address/,
    ],
    [
      'the body is a web page',
      { operation: 'export', type: 'search', body: '<html>Log in</html>' },
      1,
      /Cannot export the saved objects of type search: the answer is not JSON but begins "<html>/,
      /not a web page or a proxy/,
    ],
    [
      'the body is empty',
      { operation: 'export', type: 'search', body: '' },
      1,
      /Cannot export the saved objects of type search: the answer is not JSON but empty/,
      /base address/,
    ],
    [
      'a document follows the document',
      { operation: 'export', type: 'search', trailing: '{"hits":[]}' },
      1,
      /Cannot .*export/,
      /./,
    ],
    [
      'half of a document ends in good order',
      { operation: 'export', type: 'search', body: '{"kibanaVersion":"7","hits":[{"_id":"a"' },
      1,
      /Cannot export the saved objects of type search: the answer is not JSON/,
      /base address/,
    ],
    [
      'whoami names no account',
      { operation: 'whoami', body: '{"accountName":"x"}' },
      1,
      /Cannot find the account of the token: the answer has the wrong shape: accountId/,
      /base address/,
    ],
    [
      'the service is down',
      { operation: 'export', type: 'search', status: 503 },
      1,
      /Cannot export the saved objects of type search: the service is not available \(status 503/,
      /try again later/,
    ],
    [
      'the service never has time',
      { operation: 'export', type: 'search', status: 429 },
      1,
      /Cannot export the saved objects of type search: the service asks for fewer requests \(status 429, "Too Many/,
      /try again later/,
    ],
    [
      'the service redirects to another host',
      { operation: 'export', redirectTo: 'https://elsewhere.example/kibana/export' },
      1,
      /the service redirects to https:\/\/elsewhere\.example/,
      /dashkeep follows no redirect/,
    ],
  ]

describe('a backup keeps the earlier snapshot and fails with the reason, when', () => {
  it.each(refusals)('%s', async (_behaviour, fault, exitCode, state, hint) => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    trial.sandbox.faults.add(fault)
    const run = await trial.run(['backup', '--json'])
    expect(run.exitCode).toBe(exitCode)
    const [account] = accountsOf(run.stdout)
    expect(account).toMatchObject({ result: 'failed' })
    expect(account?.error).toMatch(state)
    expect(account?.hint).toMatch(hint)
    expect(jsonLines(run.stderr).at(-2)).toMatchObject({
      msg: 'backup failed',
      account: 'default',
      reason: account?.error,
    })
    await expectUntouched(trial, before)
  })

  it('the answer never comes', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    const config = await trial.write('hasty.yaml', {
      limits: { headersTimeoutMs: 50, attempts: 1, retryBaseMs: 1 },
    })
    trial.sandbox.faults.add({ operation: 'export', type: 'search', hang: true })
    const { exitCode, stdout } = await trial.run(['backup'], { DASHKEEP_CONFIG: config })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(
      /failed default: Cannot export the saved objects of type search: \S+ did not answer in time/,
    )
    await expectUntouched(trial, before)
  })

  it('the body stops half way', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    const config = await trial.write('hasty.yaml', {
      limits: { bodyTimeoutMs: 50, attempts: 1, retryBaseMs: 1 },
    })
    trial.sandbox.faults.add({ operation: 'export', type: 'search', hang: true, atByte: 100 })
    const { exitCode, stdout } = await trial.run(['backup'], { DASHKEEP_CONFIG: config })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(
      /failed default: Cannot export the saved objects of type search: \S+ stopped sending/,
    )
    await expectUntouched(trial, before)
  })

  it('a hit or an export is larger, or holds more objects, than the limits allow', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    for (const [limits, message] of [
      [{ maxHitBytes: 100 }, /a hit is larger than|hit \d+ is larger than|more than 100/],
      [{ maxObjects: 2 }, /Cannot read the export: it holds more than 2 objects/],
      [{ maxExportBytes: 1000 }, /the answer is larger than the limit of 1000 bytes/],
    ] as const) {
      const config = await trial.write('tight.yaml', { limits: { ...limits, retryBaseMs: 1 } })
      const { exitCode, stdout } = await trial.run(['backup'], { DASHKEEP_CONFIG: config })
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(message)
    }
    await expectUntouched(trial, before)
  })

  it('one type fails; the others are still tried and everything wrong is named', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    trial.sandbox.faults.add({ operation: 'export', type: 'search', refused: true })
    trial.sandbox.faults.add({ operation: 'export', type: 'visualization', body: '{}' })
    const { exitCode, stdout } = await trial.run(['backup'])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(
      /failed default: Cannot back up account 100001: 2 of 3 exports failed: Cannot export .* type search: .*; Cannot export .* type visualization: /,
    )
    expect(trial.sandbox.requests().map(({ type }) => type)).toEqual([undefined, ...types])
    await expectUntouched(trial, before)
  })
})

const passing: [behaviour: string, fault: Fault, requests: number][] = [
  ['two 503s have passed', { operation: 'export', type: 'search', status: 503, times: 2 }, 6],
  ['two 429s have passed', { operation: 'export', type: 'search', status: 429, times: 2 }, 6],
  [
    'two 429s with a Retry-After have passed',
    { operation: 'export', type: 'search', retryAfter: 0, times: 2 },
    6,
  ],
  ['whoami has been refused twice by 503', { operation: 'whoami', status: 503, times: 2 }, 6],
  [
    'the body has been cut once',
    { operation: 'export', type: 'dashboard', cut: true, atByte: 1000, times: 1 },
    5,
  ],
  [
    'the connection has been cut once before the answer',
    { operation: 'export', type: 'dashboard', cut: true, times: 1 },
    5,
  ],
]

describe('takes the snapshot once', () => {
  it.each(passing)('%s', async (_behaviour, fault, requests) => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    trial.sandbox.faults.add(fault)
    const { exitCode, stdout } = await trial.run(['backup'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/\ndefault +changed +/)
    expect(trial.sandbox.requests()).toHaveLength(requests)
    const [, second] = await trial.snapshots()
    for (const type of types) {
      const sent = Buffer.from(trial.sandbox.objects(shopId, type))
      expect(await trial.content(type, second)).toEqual(sent)
    }
    const after = await trial.files()
    for (const [key, bytes] of before) expect(after.get(key)).toEqual(bytes)
    expect(after.size).toBe(8)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('the time that a Retry-After asks for is over', async () => {
    await using trial = await startTrial()
    trial.sandbox.faults.add({ operation: 'whoami', retryAfter: 1, times: 1 })
    const begin = performance.now()
    const { exitCode, stderr } = await trial.run(['backup'])
    expect(exitCode).toBe(0)
    expect(performance.now() - begin).toBeGreaterThan(990)
    const [, retry] = jsonLines(stderr)
    expect(retry).toMatchObject({ msg: 'retrying', attempt: 1 })
    expect(retry?.delayMs).toBeGreaterThanOrEqual(1000)
  })
})

describe('an account that has lost most of its objects', () => {
  it('gives a suspect snapshot and exit code 3 when an export is empty', async () => {
    const { trial, before } = await startWithSnapshot()
    await using _trial = trial
    const empty = '{"kibanaVersion":"7.10.2","hits":[]}'
    trial.sandbox.faults.add({ operation: 'export', type: 'search', body: empty })
    const { exitCode, stdout } = await trial.run(['backup'])
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/\ndefault +suspect +/)
    expect(stdout).toContain('\nsuspect default: search: 0 objects, down from 4\n')
    expect(stdout).toContain('--accept-fall')
    const after = await trial.files()
    for (const [key, bytes] of before) expect(after.get(key)).toEqual(bytes)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
    expect((await trial.run(['show'])).stdout).toContain('search: 0 objects, down from 4')
  })

  it('stays suspect run after run until somebody accepts the fall', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    trial.sandbox.setObjects(shopId, 'visualization', [])
    const codes: number[] = []
    for (const args of [[], [], ['--accept-fall'], []]) {
      codes.push((await trial.run(['backup', ...args])).exitCode)
    }
    expect(codes).toEqual([3, 3, 0, 0])
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('is no longer suspect once its objects are back', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    trial.sandbox.faults.add({
      operation: 'export',
      type: 'search',
      times: 1,
      body: '{"kibanaVersion":"7.10.2","hits":[]}',
    })
    const codes: number[] = []
    for (let turn = 0; turn < 3; turn += 1) codes.push((await trial.run(['backup'])).exitCode)
    expect(codes).toEqual([3, 0, 0])
  })

  it('is judged by the part that may vanish, as configured', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    const { hits } = JSON.parse(document) as { hits: object[] }
    trial.sandbox.setObjects(shopId, 'search', hits.slice(1))
    const strict = await trial.write('strict.yaml', { guard: { maxFall: 0.2 } })
    const { exitCode, stdout } = await trial.run(['backup'], { DASHKEEP_CONFIG: strict })
    expect(exitCode).toBe(3)
    expect(stdout).toContain('search: 3 objects, down from 4')
    expect((await trial.run(['backup'])).exitCode).toBe(0)
  })

  it('is not suspect when it never had any', async () => {
    await using trial = await startTrial()
    for (const type of types) trial.sandbox.setObjects(shopId, type, [])
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })
})
