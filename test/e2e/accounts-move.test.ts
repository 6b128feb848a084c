import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/sandbox/faults.ts'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import {
  type AccountsTrial,
  highestGb,
  poorId,
  replacesOf,
  richId,
  startAccounts,
} from './accounts-trial.ts'
import { spawnDashkeep, until } from './run-dashkeep.ts'

const twoGb = ['--from', String(richId), '--to', String(poorId), '--gb', '2', '--yes']
const resume = ['--resume', '--yes']

/** Accounts of 5 and 1 GB whose service would also let them take more. */
function startUnlimited(options: SandboxOptions = {}): Promise<AccountsTrial> {
  return startAccounts(options, { planGb: 1000 })
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Finishes what the journal tells of, and checks that it is finished. */
async function finish(trial: AccountsTrial): Promise<void> {
  trial.sandbox.faults.clear()
  const { exitCode, stderr } = await trial.move(resume)
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(trial.capacities()).toEqual([3, 3])
  expect(highestGb(trial)).toBe(6)
  expect(await isThere(trial.journal)).toBe(false)
}

describe('a move that is killed', () => {
  it.each([
    ['before the reduction is done', { operation: 'replace', hang: true }, 1, [5, 1]],
    ['between its two steps', { operation: 'replace', after: 1, hang: true }, 2, [3, 1]],
    ['in the list between them', { operation: 'list', after: 2, hang: true }, 1, [3, 1]],
    ['once both are done', { operation: 'list', after: 3, hang: true }, 2, [3, 3]],
  ] satisfies [string, Fault, number, number[]][])(
    '%s ends as wanted when it is resumed',
    async (_when, fault, replaces, left) => {
      await using trial = await startUnlimited({ form: 'deployed', staleLists: 0 })
      trial.sandbox.faults.add(fault)
      const args = ['accounts', 'move-capacity', '--journal', trial.journal, ...twoGb]
      await using running = spawnDashkeep(args, { env: trial.env })
      const lists = fault.operation === 'list' ? (fault.after ?? 0) + 1 : 0
      const { sandbox } = trial
      await until('it hangs', () => {
        const listed = sandbox.requests().filter(({ operation }) => operation === 'list')
        return replacesOf(trial).length === replaces && listed.length >= lists
      })
      running.kill('SIGKILL')
      await running.finished
      expect(trial.capacities()).toEqual(left)
      const isLeft = left.join() !== '3,3'
      expect(await isThere(trial.journal)).toBe(isLeft)
      if (!isLeft) return
      const again = await trial.move(twoGb)
      expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/hint: .*--resume/)])
      await finish(trial)
    },
  )
})

describe('a move that is interrupted', () => {
  it('says what the accounts have now and how to finish, and exits 130', async () => {
    await using trial = await startUnlimited()
    trial.sandbox.faults.add({ operation: 'replace', after: 1, hang: true })
    const args = ['accounts', 'move-capacity', '--journal', trial.journal, ...twoGb]
    await using running = spawnDashkeep(args, { env: trial.env })
    await until('the second replace hangs', () => replacesOf(trial).length === 2)
    running.kill('SIGINT')
    const { exitCode, stdout } = await running.finished
    expect(exitCode).toBe(130)
    expect(stdout).toContain('account 11: 3 GB per day now, was 5, is to be 3\n')
    expect(stdout).toContain('account 12: 1 or 3 (nobody knows) GB per day now')
    expect(stdout).toContain(`move-capacity --resume --journal ${trial.journal}\n`)
    await finish(trial)
  })
})

describe('a move in which one request fails', () => {
  const requests = ['whoami', 'list', 'list', 'replace', 'list', 'replace', 'list'] as const
  const once = { '500': { status: 500, times: 3 }, cut: { cut: true, times: 3 } } as const
  const more = {
    lost: { lost: true, times: 3 },
    refused: { status: 403, times: 1 },
    rejected: { status: 400, times: 1 },
    'for ever': { status: 503 },
    'lost for ever': { lost: true },
  } as const
  const faults = Object.entries({ ...once, ...more })
  const cases = requests.flatMap((_request, place) =>
    faults.map(([name, fault]) => ({ place, name, fault })),
  )

  it('consists of these requests', async () => {
    await using trial = await startUnlimited()
    await trial.move(twoGb)
    expect(trial.sandbox.requests().map(({ operation }) => operation)).toEqual(requests)
  })

  it.each(cases)(
    'never takes more, and is done, undone or to be finished: $place $name',
    async ({ place, fault }) => {
      await using trial = await startUnlimited()
      trial.sandbox.faults.add({ ...fault, after: place })
      const { exitCode, stdout } = await trial.move(twoGb)
      trial.sandbox.faults.clear()
      const left = await isThere(trial.journal)
      expect(highestGb(trial)).toBe(6)
      if (place === 6) expect([exitCode, left, trial.capacities()]).toEqual([3, false, [3, 3]])
      else if (!left) {
        expect([exitCode, trial.capacities()]).toEqual([1, [5, 1]])
        if (place > 1) expect(stdout).toContain('Every account has what it had before\n')
      } else {
        expect(exitCode).toBe(3)
        expect(stdout).toContain(`To finish: dashkeep accounts move-capacity --resume`)
        await finish(trial)
      }
    },
  )
})

it('is undone when the token is refused under status 200 for its second step', async () => {
  await using trial = await startUnlimited()
  trial.sandbox.faults.add({ operation: 'replace', after: 1, refused: true, times: 1 })
  const { exitCode, stdout } = await trial.move(twoGb)
  expect([exitCode, trial.replaced()]).toEqual([1, ['11=3', '12=3', '11=5']])
  expect(stdout).toMatch(/failed Cannot replace .* refuses the token[\s\S]*hint: /)
})

describe('two moves at once', () => {
  it('with one journal: one of them is refused', async () => {
    await using trial = await startUnlimited({ form: 'deployed' })
    const runs = await Promise.all([trial.move(twoGb), trial.move(twoGb)])
    const codes = runs.map(({ exitCode }) => exitCode).sort()
    expect(codes).toEqual([0, 1])
    expect(runs.map(({ stderr }) => stderr).join('')).toMatch(/^error: .*under way/)
    expect(trial.capacities()).toEqual([3, 3])
    expect(highestGb(trial)).toBe(6)
  })

  it('with a journal each, of the same capacity: never more than before', async () => {
    await using trial = await startUnlimited()
    const other = join(trial.folder, 'other.json')
    const both = [trial.journal, other].map((journal) => {
      return trial.accounts(['move-capacity', '--journal', journal, ...twoGb])
    })
    const codes = (await Promise.all(both)).map(({ exitCode }) => exitCode)
    expect(codes).toContain(0)
    expect(highestGb(trial)).toBe(6)
    expect(trial.capacities()).toEqual([3, 3])
  })

  it('stops when another has moved the same account elsewhere', async () => {
    await using trial = await startUnlimited()
    const { stdout: list } = await trial.accounts(['list', '--json'])
    const body = JSON.stringify(JSON.parse(list).accounts).replace(
      '"maxDailyGB":5',
      '"maxDailyGB":4',
    )
    trial.sandbox.faults.add({ operation: 'list', after: 2, times: 1, body })
    const { exitCode, stdout } = await trial.move(twoGb)
    expect(exitCode).toBe(3)
    expect(stdout).toContain('somebody else has set account 11 to 4 GB per day')
    expect(stdout).toContain('account 12: 1 GB per day now, was 1, is to be 3')
    expect(trial.replaced()).toEqual(['11=3'])
    expect(await isThere(trial.journal)).toBe(true)
  })
})

describe('--resume', () => {
  it('is refused without a journal, with a broken one, and with that of another main account', async () => {
    await using trial = await startUnlimited()
    const absent = await trial.move(resume)
    expect([absent.exitCode, absent.stderr]).toEqual([2, expect.stringContaining('is not there')])
    await trial.write('journal.json', '{"formatVersion":1,')
    const broken = await trial.move(resume)
    expect([broken.exitCode, broken.stderr]).toEqual([
      2,
      expect.stringMatching(/\nhint: .*sent noth/),
    ])
    const plan = { steps: [], startGb: 0, endGb: 0 }
    const record = { formatVersion: 1, mainAccountId: 99, plan, begun: 1 }
    await trial.write('journal.json', JSON.stringify(record))
    const other = await trial.move(resume)
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('account 99')])
    const mixed = await trial.move([...resume, '--gb', '2'])
    expect([mixed.exitCode, mixed.stderr]).toEqual([2, expect.stringContaining('leave out --from')])
    expect(replacesOf(trial)).toEqual([])
  })
})
