import { describe, expect, it } from 'vitest'
import { deriveId } from '../../src/objects/derive-id.ts'
import {
  type AccountName,
  type Hit,
  type PromotionTrial,
  startPromotion,
} from './promotion-trial.ts'
import { jsonLines, until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { shopId } from './trial.ts'

const usual = { titlePrefix: '[Copy] ', indexPatterns: { 'shop-*': 'copy-*' } }

/** The command that promotes into an account by a map. */
async function commandFor(
  trial: PromotionTrial,
  into: AccountName,
  map: object = usual,
): Promise<string[]> {
  const path = await trial.write('map.yaml', map)
  const where = ['restore', '--account', 'production', '--to-service', '--into-account', into]
  return [...where, '--map', path]
}

/** What the derived id of an object of the source is. */
function derived(id: string): string {
  const [type = '', ...rest] = id.split(':')
  return `${type}:${deriveId(shopId, type, rest.join(':'))}`
}

/** Gives the dashboard of the source another description. */
function edit(trial: PromotionTrial, description: string): void {
  const hits = [...trial.objects('production').values()].filter(
    ({ _source }) => _source.type === 'dashboard',
  )
  const [first, ...others] = structuredClone(hits) as [Hit, ...Hit[]]
  Object.assign(first._source.dashboard as object, { description })
  trial.setObjects('production', 'dashboard', [first, ...others])
}

const overview = derived('dashboard:shop-overview')

describe('restore --into-account --map', () => {
  it('shows each object as it will be, and sends nothing before somebody agrees', async () => {
    await using trial = await startPromotion()
    const command = await commandFor(trial, 'team-a')
    const { exitCode, stdout } = await trial.dashkeep([...command, '--dry-run'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Into account 200001 (team-a) at ')
    expect(stdout).toMatch(/^create +14 /m)
    expect(stdout).toContain(
      `  + ${overview}  [Copy] Shop overview\n      from dashboard:shop-overview\n`,
    )
    expect(stdout).toContain(
      'Index patterns, which must exist because no export includes them:\n  shop-* → copy-*  as id for ',
    )
    expect(stdout).toContain('not proven: no other object of the account uses it\n')
    expect(stdout).toMatch(/Nothing was sent\n$/)
    const unasked = await trial.dashkeep(command)
    const withoutAge = (text: string) => text.replace(/\((.* ago|just now)\)/, '')
    expect([unasked.exitCode, withoutAge(unasked.stdout)]).toEqual([2, withoutAge(stdout)])
    expect(trial.objects('team-a').size).toBe(0)
  })

  it('describes the same as JSON', async () => {
    await using trial = await startPromotion()
    const command = await commandFor(trial, 'team-a')
    const { stdout } = await trial.dashkeep([...command, '--dry-run', '--json'])
    const { create, promoted, done } = JSON.parse(stdout)
    expect(done).toBe(false)
    expect(create).toHaveLength(14)
    expect(create).toContainEqual({
      ...{ id: overview, title: '[Copy] Shop overview' },
      from: { id: 'dashboard:shop-overview', title: 'Shop overview' },
    })
    expect(promoted).toMatchObject({
      patterns: [{ from: 'shop-*', to: 'copy-*', by: 'id', isMapped: true, usedByOthers: 0 }],
      ownTexts: [],
    })
  })

  it('updates what it created, changes nothing else, and does nothing without a change', async () => {
    await using trial = await startPromotion()
    const own = { title: 'Own', kibanaSavedObjectMeta: { searchSourceJSON: '{"index":"copy-*"}' } }
    const ownHit = { _id: 'search:own', _source: { type: 'search', search: own } }
    trial.setObjects('team-a', 'search', [ownHit])
    const command = await commandFor(trial, 'team-a')
    const first = await trial.dashkeep([...command, '--yes'])
    expect(first.exitCode, first.stderr).toBe(0)
    expect(first.stdout).toContain('used by 1 other object of the account')
    const created = trial.objects('team-a')
    expect([...created.keys()].sort()).toEqual(
      ['search:own', ...[...trial.objects('production').keys()].map(derived)].sort(),
    )

    const again = await trial.dashkeep([...command, '--yes'])
    expect(again.stdout).toMatch(/same +14 [\s\S]*used by 1 other object[\s\S]*Nothing to send\n$/)

    edit(trial, 'Edited at the source')
    await trial.backUp()
    const left = await trial.dashkeep([...command, '--yes'])
    expect(left.stdout).toMatch(/Nothing to send; --overwrite would replace 1 object\n$/)
    const updated = await trial.dashkeep([...command, '--yes', '--overwrite'])
    expect(updated.exitCode, updated.stderr).toBe(0)
    expect(updated.stdout).toMatch(/overwrite +1 /)
    expect(updated.stdout).toContain('→ "Edited at the source"')
    const { _source } = created.get(overview) as Hit
    const dashboard = { ...(_source.dashboard as object), description: 'Edited at the source' }
    const expected = { _id: overview, _source: { ..._source, dashboard } }
    expect(trial.objects('team-a')).toEqual(
      new Map(
        [...created].map(([id, hit]) => [id, id === overview ? { ...hit, ...expected } : hit]),
      ),
    )
  })

  it('keeps a snapshot of the account before it overwrites an edited copy', async () => {
    await using trial = await startPromotion()
    const command = await commandFor(trial, 'team-a', { ...usual, ids: 'keep' })
    await trial.dashkeep([...command, '--yes'])
    const [before] = trial.objects('team-a').values() as Iterable<Hit> as [Hit]
    expect(trial.objects('team-a').size).toBe(14)
    const edited = structuredClone(before)
    Object.assign(edited._source.search as object, { title: 'Edited in the copy' })
    trial.setObjects('team-a', 'search', [edited])
    const args = [...command, '--overwrite', '--yes', '--json']
    const { stdout } = await trial.dashkeep(args)
    const { before: snapshot, overwrite } = JSON.parse(stdout)
    expect(overwrite).toMatchObject([{ id: before._id, from: { id: before._id } }])
    const shown = ['cat', before._id, '--account', 'team-a', '--snapshot', snapshot]
    expect((await trial.dashkeep(shown)).stdout).toContain('Edited in the copy')
    expect(trial.objects('team-a').get(before._id)).toEqual(before)
  })

  it('gives a third account objects of its own, by the members of its own in the map', async () => {
    await using trial = await startPromotion()
    const map = {
      ...usual,
      accounts: { 'team-b': { titlePrefix: 'B ', indexPatterns: { 'shop-*': 'b-*' } } },
    }
    await trial.dashkeep([...(await commandFor(trial, 'team-a', map)), '--yes'])
    const a = trial.objects('team-a')
    const { exitCode } = await trial.dashkeep([
      ...(await commandFor(trial, 'team-b', map)),
      '--yes',
    ])
    expect(exitCode).toBe(0)
    expect(trial.objects('team-a')).toEqual(a)
    const text = JSON.stringify([...a])
    const expected = text.replaceAll('[Copy] ', 'B ').replaceAll('copy-*', 'b-*')
    expect([...trial.objects('team-b')]).toEqual(JSON.parse(expected))
  })

  it('finishes what a promotion that was killed has begun', async () => {
    await using trial = await startPromotion()
    await using whole = await startPromotion()
    await whole.dashkeep([...(await commandFor(whole, 'team-a')), '--yes'])
    const command = [...(await commandFor(trial, 'team-a')), '--yes']
    trial.sandbox.faults.add({ operation: 'import', after: 2, hang: true })
    await using running = spawnDashkeep(command, { env: { ...trial.env, ...trial.changes } })
    await until('the second import hangs', () => trial.objects('team-a').size > 0)
    await until('the second import hangs', () => {
      const requests = trial.sandbox.requests().filter(({ operation }) => operation === 'import')
      return requests.length === 3
    })
    running.kill('SIGKILL')
    await running.finished
    trial.sandbox.faults.clear()
    expect(trial.objects('team-a').size).toBe(4)
    expect((await trial.dashkeep(command)).exitCode).toBe(0)
    expect(trial.objects('team-a')).toEqual(whole.objects('team-a'))
  })

  it('promotes one dashboard with what it needs, which a promotion of all then knows', async () => {
    await using trial = await startPromotion()
    const command = await commandFor(trial, 'team-a')
    await trial.dashkeep([...command, '--object', 'Shop overview', '--yes'])
    expect(trial.objects('team-a').size).toBe(6)
    const { stdout } = await trial.dashkeep([...command, '--dry-run'])
    expect(stdout).toMatch(/create +8 [\s\S]*same +6 /)
  })

  it('promotes from files for git as from the snapshot, and keeps ids of other files', async () => {
    await using trial = await startPromotion()
    const [pretty, documents] = [`${trial.folder}/pretty`, `${trial.folder}/documents`]
    await trial.dashkeep(['restore', '--account', 'production', '--pretty', pretty])
    await trial.dashkeep(['restore', '--account', 'production', '--to', documents])
    const promote = async (folder: string, map: object) => {
      const where = ['restore', '--from', folder, '--to-service', '--into-account', 'team-a']
      const path = await trial.write('map.yaml', map)
      return trial.dashkeep([...where, '--map', path, '--yes'])
    }
    expect(await promote(pretty, usual)).toMatchObject({ exitCode: 0 })
    const ids = [...trial.objects('production').keys()]
    expect([...trial.objects('team-a').keys()].sort()).toEqual(ids.map(derived).sort())
    const refused = await promote(documents, usual)
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('set ids: keep in '),
    })
    expect(await promote(documents, { ...usual, ids: 'keep' })).toMatchObject({ exitCode: 0 })
    expect([...trial.objects('team-a').keys()]).toEqual(expect.arrayContaining(ids))
  })

  it.each([
    [
      { indexPatterns: {} },
      /does not map all index patterns:\n {2}- "shop-\*": used as id by search:/,
    ],
    [
      { indexpatterns: {} },
      /Cannot use the map .*:\n {2}- indexpatterns: unknown key; did you mean indexPatterns\?/,
    ],
  ])('sends nothing by a map with a problem: %j', async (map, problem) => {
    await using trial = await startPromotion()
    const { exitCode, stderr } = await trial.dashkeep([
      ...(await commandFor(trial, 'team-a', map)),
      '--yes',
    ])
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)])
    expect(trial.objects('team-a').size).toBe(0)
  })

  it('refuses the account of the snapshot, and a map without another account', async () => {
    await using trial = await startPromotion()
    const before = trial.objects('production')
    const own = await trial.dashkeep([...(await commandFor(trial, 'production')), '--yes'])
    expect(own.exitCode).toBe(2)
    expect(own.stderr).toContain(
      'Cannot promote into production: account 100001 is the account that the objects come from',
    )
    expect(trial.objects('production')).toEqual(before)
    const [path = ''] = (await commandFor(trial, 'team-a')).slice(-1)
    const lone = await trial.dashkeep(['restore', '--to-service', '--map', path])
    expect([lone.exitCode, jsonLines(lone.stdout)]).toEqual([2, []])
    expect(lone.stderr).toContain('--map needs --into-account or --to-accounts')
  })
})
