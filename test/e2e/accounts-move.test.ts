import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { InterruptedError } from '../../src/errors.ts'
import type { Fault } from '../../src/sandbox/http/faults.ts'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import {
  type AccountsTrial,
  highestGb,
  poorId,
  replacesOf,
  richId,
  startAccounts,
} from './accounts-trial.ts'
import { askDashkeep, runDashkeep, until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

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
    expect(stdout).toContain('account 11: 3 GB per day now, was 5, wanted 3\n')
    expect(stdout).toContain('account 12: 1 or 3 (unknown) GB per day now')
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
    async ({ place, name, fault }) => {
      await using trial = await startUnlimited()
      trial.sandbox.faults.add({ ...fault, after: place })
      const { exitCode, stdout } = await trial.move(twoGb)
      trial.sandbox.faults.clear()
      const left = await isThere(trial.journal)
      expect(highestGb(trial)).toBe(6)
      if (place === 6) expect([exitCode, left, trial.capacities()]).toEqual([3, false, [3, 3]])
      else if (!left) {
        const code = name === 'refused' && place < 2 ? 2 : 1
        expect([exitCode, trial.capacities()]).toEqual([code, [5, 1]])
        if (place > 1)
          expect(stdout).toContain('Every account has its capacity from before the move\n')
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
    expect(runs.map(({ stderr }) => stderr).join('')).toMatch(/^error: .*running or unfinished/)
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
    expect(stdout).toContain('account 12: 1 GB per day now, was 1, wanted 3')
    expect(trial.replaced()).toEqual(['11=3'])
    expect(await isThere(trial.journal)).toBe(true)
  })
})

describe('--dry-run', () => {
  it('prints the exact bodies in their order, sends nothing and writes no journal', async () => {
    await using trial = await startUnlimited({ form: 'deployed' })
    const args = [...twoGb, '--dry-run']
    const { exitCode, stdout } = await trial.move(args)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/Nothing was moved; these are the bodies of the requests\n$/)
    const { bodies, done } = JSON.parse((await trial.move([...args, '--json'])).stdout)
    expect(done).toBe(false)
    expect(replacesOf(trial)).toEqual([])
    expect(await isThere(trial.journal)).toBe(false)
    await trial.move(twoGb)
    expect(bodies).toEqual(replacesOf(trial).map(({ body }) => JSON.parse(body)))
    for (const body of bodies) expect(stdout).toContain(JSON.stringify(body, undefined, 2))
  })
})

/** A move that has reduced the first account and was killed then: 3 and 1 GB. */
async function startLeft(options: SandboxOptions = {}): Promise<AccountsTrial> {
  const trial = await startUnlimited(options)
  trial.sandbox.faults.add({ operation: 'replace', after: 1, hang: true })
  const interruption = new AbortController()
  const running = runDashkeep(['accounts', 'move-capacity', '--journal', trial.journal, ...twoGb], {
    env: trial.env,
    signal: interruption.signal,
  })
  await until('the second replace hangs', () => replacesOf(trial).length === 2)
  interruption.abort(new InterruptedError('SIGINT'))
  await running
  trial.sandbox.faults.clear()
  trial.sandbox.clearRequests()
  return trial
}

function setCapacity(trial: AccountsTrial, id: number, gb: number) {
  return trial.accounts(['update', String(id), '--max-daily-gb', String(gb), '--yes'])
}

/** The journal with some of its text replaced. */
async function editJournal({ journal }: AccountsTrial, edit: (text: string) => string) {
  await writeFile(journal, edit(await readFile(journal, 'utf8')))
}

describe('a move that was left unfinished', () => {
  it('is shown by --resume with what the accounts have by the list, and what they take together', async () => {
    await using trial = await startLeft({ form: 'deployed' })
    const edit = (text: string) => text.replace(/"(start|end)Gb": 6/g, '"$1Gb": 60')
    await editJournal(trial, (text) => edit(text).replace('"Rich"', '"Somebody"'))
    const planned = await trial.move(['--resume'])
    expect(planned.stdout).toMatch(/ACCOUNT +NAME +WAS +GB\/DAY +THEN\n/)
    expect(planned.stdout).toMatch(/1 +reduce +11 +Rich +5 +3 +3\n2 +increase +12 +Poor +1 +1 +3\n/)
    expect(planned.stdout).toContain('In total 4 GB per day now, and 6 after the move')
    expect(planned.stdout).not.toContain('60')
    const json = JSON.parse((await trial.move(['--resume', '--json'])).stdout)
    expect(json).toMatchObject({ done: false, startGb: 4, endGb: 6 })
    expect(json.steps[0]).toMatchObject({ fromGb: 5, toGb: 3, listedGb: 3 })
    await trial.move(['--resume', '--yes', '--dry-run'])
    expect(replacesOf(trial)).toEqual([])
    await finish(trial)
  })

  it('cannot be resumed after another change: what the list shows and two ways on are told', async () => {
    await using trial = await startLeft()
    await setCapacity(trial, richId, 4)
    trial.sandbox.clearRequests()
    const { exitCode, stdout } = await trial.move(resume)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/reduce +11 +Rich +5 +4 +3\n/)
    expect(stdout).toContain('somebody else has set account 11 to 4 GB per day')
    expect(stdout).toMatch(/\n {2}hint: .*accounts update.*--resume, .*--discard/)
    expect(stdout).toContain(`move-capacity --resume --journal ${trial.journal}\n`)
    expect(stdout).toContain(`move-capacity --discard --journal ${trial.journal}\n`)
    const json = JSON.parse((await trial.move([...resume, '--json'])).stdout)
    expect(json).toMatchObject({ done: false, ended: 'unfinished', discard: expect.any(String) })
    expect(replacesOf(trial)).toEqual([])
    await setCapacity(trial, richId, 3)
    await finish(trial)
  })

  it('is given up with --discard: a plan, a question, and the accounts as they are', async () => {
    await using trial = await startLeft()
    await setCapacity(trial, richId, 4)
    const again = await trial.move(twoGb)
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/hint: .*--discard/)])
    const planned = await trial.move(['--discard'])
    expect(planned.stdout).toMatch(/11 +Rich +5 +4 +3\n[\s\S]*The journal was not deleted\n$/)
    expect([planned.exitCode, planned.stderr]).toEqual([2, expect.stringMatching(/hint: .*--yes/)])
    const tried = await trial.move(['--discard', '--dry-run', '--yes'])
    expect([tried.exitCode, await isThere(trial.journal)]).toEqual([0, true])
    trial.sandbox.clearRequests()
    const { exitCode, stdout } = await trial.move(['--discard', '--yes'])
    expect([exitCode, await isThere(trial.journal)]).toEqual([0, false])
    expect(stdout).toContain(`discarded ${trial.journal}; the accounts stay as they are\n`)
    expect([trial.capacities(), replacesOf(trial)]).toEqual([[4, 1], []])
    expect((await trial.move(twoGb)).exitCode).toBe(0)
    expect(trial.capacities()).toEqual([2, 3])
  })

  it('is discarded on a terminal only when the answer is yes', async () => {
    await using trial = await startLeft()
    const args = ['accounts', 'move-capacity', '--journal', trial.journal, '--discard']
    const kept = await askDashkeep(args, { env: trial.env, key: 'n\n' })
    expect(kept.stderr).toContain('Delete the journal of this move? [y/N]')
    expect(await isThere(trial.journal)).toBe(true)
    await askDashkeep(args, { env: trial.env, key: 'y\n' })
    expect(await isThere(trial.journal)).toBe(false)
  })

  it('has a hint to discard it when one of its accounts is gone', async () => {
    await using trial = await startLeft({ extraOperations: true })
    const { accounts } = JSON.parse((await trial.accounts(['list', '--json'])).stdout)
    const body = JSON.stringify(accounts.slice(0, 1))
    trial.sandbox.faults.add({ operation: 'list', body })
    const { exitCode, stdout } = await trial.move(resume)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/increase +12 +Poor +1 +gone +3\n/)
    expect(stdout).toContain('the list does not contain sub account 12 any more')
    expect((await trial.move(['--discard', '--yes'])).exitCode).toBe(0)
  })

  it('is refused when its file would make the accounts take more', async () => {
    await using trial = await startLeft()
    await editJournal(trial, (text) => text.replaceAll('"toGb": 3', '"toGb": 30'))
    const { exitCode, stderr } = await trial.move(resume)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/have 60 GB per day in total instead of 6\nhint: .*remove it/),
    ])
    expect(replacesOf(trial)).toEqual([])
  })
})

describe('--resume', () => {
  it('is refused without a journal, with a broken one, and with that of another main account', async () => {
    await using trial = await startUnlimited()
    const absent = await trial.move(resume)
    expect([absent.exitCode, absent.stderr]).toEqual([
      2,
      expect.stringContaining('there is no journal'),
    ])
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
    const both = await trial.move([...resume, '--discard'])
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('exclude each other')])
    const mixed = await trial.move([...resume, '--gb', '2'])
    expect([mixed.exitCode, mixed.stderr]).toEqual([2, expect.stringContaining('leave out --from')])
    expect(replacesOf(trial)).toEqual([])
  })
})
