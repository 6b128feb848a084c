import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startReceiver } from '../run/notify/receiver.ts'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

const noon = new Date('2026-11-20T12:00:00Z')

function daysLater(days: number): Date {
  return new Date(noon.getTime() + days * 24 * 3600_000)
}

/** Runs `status --max-proof-age 8d` so many days after noon; nothing is stale. */
function statusAt(trial: Trial, days: number, ...more: string[]) {
  const args = ['status', '--max-age', '100d', '--max-proof-age', '8d', ...more]
  return trial.runAt(daysLater(days), args)
}

/** An archive with one snapshot, at noon, and its account's line in the JSON of `status`. */
async function startWithOne() {
  const trial = await startTrial()
  await trial.runAt(noon, ['backup'])
  const record = (days: number, ...verb: string[]) =>
    trial.runAt(daysLater(days), [...verb, '--record'])
  const judge = async (days: number) => {
    const { exitCode, stdout } = await statusAt(trial, days, '--json')
    return { exitCode, account: accountsOf(stdout)[0] as { state: string; proof: object } }
  }
  return { trial, record, judge }
}

describe('status --max-proof-age', () => {
  it('exits 4 for an account that was never proven', async () => {
    const { trial, judge } = await startWithOne()
    await using _ = trial
    expect(await judge(0)).toMatchObject({
      exitCode: 4,
      account: { state: 'unproven', proof: { gap: 'never', failed: [], unreadable: [] } },
    })
    const { stdout } = await statusAt(trial, 0)
    expect(stdout).toMatch(/^ACCOUNT .* AGE +PROVEN +OBJECTS/)
    expect(stdout).toContain(`unproven ${shopId}: no good verify or drill is recorded`)
  })

  it.each([
    ['verify', ['verify']],
    ['drill', ['restore', '--drill']],
  ])('is good for eight days after a %s', async (kind, verb) => {
    const { trial, record, judge } = await startWithOne()
    await using _ = trial
    await record(1, ...verb)
    expect(await judge(9)).toMatchObject({
      exitCode: 0,
      account: {
        state: 'good',
        proof: {
          provenAt: daysLater(1).toISOString(),
          ageSeconds: 8 * 24 * 3600,
          [kind]: { kind, objects: 14, equal: 14, startedAt: daysLater(1).toISOString() },
        },
      },
    })
    expect((await statusAt(trial, 3)).stdout).toMatch(/3 days ago +2 days ago +14/)
    expect(await judge(9.01)).toMatchObject({
      exitCode: 4,
      account: { state: 'unproven', proof: { gap: 'old' } },
    })
    const { stdout } = await statusAt(trial, 10)
    expect(stdout).toContain(
      `unproven ${shopId}: the newest proof is of 2026-11-21 12:00:00 (9 days ago)`,
    )
  })

  it('does not count a verify of some snapshots', async () => {
    const { trial, record, judge } = await startWithOne()
    await using _ = trial
    await record(1, 'verify', 'latest')
    expect(await judge(2)).toMatchObject({ exitCode: 4, account: { proof: { gap: 'never' } } })
  })

  it('says what failed, until a later check of everything is good', async () => {
    const { trial, record, judge } = await startWithOne()
    await using _ = trial
    await record(1, 'verify')
    const [snapshot = ''] = await trial.snapshots()
    const path = join(trial.archive, String(shopId), snapshot, 'search.json.zst')
    const sound = (await trial.files()).get(path.slice(trial.archive.length + 1)) as Buffer
    await writeFile(path, sound.subarray(1))
    await record(2, 'verify')
    const { stdout } = await statusAt(trial, 3)
    expect(stdout).toMatch(
      /^unproven 100001: the verify of 2026-11-22 12:00:00 failed: \S+: .*search\.json\.zst/m,
    )
    expect(await judge(3)).toMatchObject({
      exitCode: 4,
      account: { state: 'damaged', proof: { gap: 'failed', failed: [{ defects: 1 }] } },
    })
    await writeFile(path, sound)
    await record(4, 'verify')
    expect((await judge(5)).account.proof).not.toHaveProperty('gap')
  })

  it('names records that do not count: edited ones, and those from the future', async () => {
    const { trial, record, judge } = await startWithOne()
    await using _ = trial
    await record(1, 'verify')
    const [[key = '', bytes] = []] = [...(await trial.files())].filter(([name]) =>
      name.startsWith('proofs/'),
    )
    await record(300, 'restore', '--drill')
    expect(await judge(2)).toMatchObject({ exitCode: 0 })
    await writeFile(join(trial.archive, key), String(bytes).replace('"equal": 14', '"equal": 15'))
    expect(await judge(2)).toMatchObject({
      exitCode: 4,
      account: { proof: { gap: 'never', fromFuture: [expect.stringContaining('-drill.json')] } },
    })
    const { stdout } = await statusAt(trial, 2)
    expect(stdout).toContain(
      `no proof ${shopId}: Cannot read ${key}: its bytes do not match the SHA-256 at its end\n  hint: it is not a proof; remove it`,
    )
    expect(stdout).toMatch(/^no proof 100001: proofs\/100001\/20270916T\S+-drill\.json is from/m)
  })

  it('pings a failure that says which account is not proven', async () => {
    const { trial } = await startWithOne()
    await using _ = trial
    await using receiver = await startReceiver()
    const DASHKEEP_PING_URL = `${receiver.url}/uuid`
    const args = ['status', '--max-age', '100d', '--max-proof-age', '8d', '--ping']
    expect((await trial.runAt(noon, args, { DASHKEEP_PING_URL })).exitCode).toBe(4)
    expect(receiver.received).toMatchObject([
      {
        path: '/uuid/fail',
        body: expect.stringMatching(/^unproven .*: no good verify or drill is recorded; /m),
      },
    ])
  })

  it('judges nothing without the option', async () => {
    const { trial } = await startWithOne()
    await using _ = trial
    const { exitCode, stdout } = await trial.runAt(daysLater(0), ['status', '--json'])
    expect(exitCode).toBe(0)
    expect(accountsOf(stdout)[0]).not.toHaveProperty('proof')
  })

  it('does not judge accounts without snapshots', async () => {
    const { trial } = await startWithOne()
    await using _ = trial
    const { exitCode, stdout } = await statusAt(trial, 0, '--account', '7', '--json')
    expect(exitCode).toBe(3)
    expect(accountsOf(stdout)).toMatchObject([{ state: 'missing' }])
  })
})
