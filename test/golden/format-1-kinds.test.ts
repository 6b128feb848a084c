import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { exportBody, numbered } from '../archive/scripted-source.ts'
import { accountsOf, jsonLines } from '../e2e/run-dashkeep.ts'
import type { Trial } from '../e2e/trial.ts'
import { finalObjects, type Kind, kinds, mainId, shopId, stagingId, startKind } from './kinds.ts'

/** The service of the archives had another port. */
const go = ['backup', '--accept-service', '--json']

/** The same with one account. */
function goWith(id: number): string[] {
  return [...go, '--account', String(id)]
}

/** A service that holds what was backed up last, and a copy of the archive to go on with. */
async function startWithArchive(kind: Kind): Promise<Trial> {
  const trial = await startKind(kind)
  const made = fileURLToPath(new URL(`format-1-kinds/${kind}`, import.meta.url))
  await cp(made, trial.archive, { recursive: true })
  return trial
}

/** Accounts whose objects are compared. */
const accountsIn: Record<Kind, readonly (typeof shopId | typeof stagingId)[]> = {
  plain: [shopId, stagingId],
  gzip: [stagingId],
  recipients: [shopId],
  passphrase: [shopId],
}

describe.each(kinds)('the archive "%s", made by commit 885cf6e', (kind) => {
  it('is listed and proven to the content of every file', async () => {
    await using trial = await startWithArchive(kind)
    const listed = await trial.run(['list', '--json'])
    const expected = kind === 'plain' ? 21 : 3
    expect(jsonLines(listed.stdout)).toHaveLength(expected)
    const { exitCode, stdout } = await trial.run(['verify', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ snapshots: expected, defects: 0, sealed: 0 })
  })

  it('is restored with every hit as it was', async () => {
    await using trial = await startWithArchive(kind)
    for (const id of accountsIn[kind]) {
      const folder = join(trial.folder, `restored-${id}`)
      const args = ['restore', 'latest', '--account', `${id}`, '--to', folder]
      expect((await trial.run(args)).exitCode).toBe(0)
      for (const [type, document] of Object.entries(finalObjects[id])) {
        const written = JSON.parse(await readFile(join(folder, `${type}.json`), 'utf8'))
        expect(written.hits).toEqual(JSON.parse(document).hits)
      }
    }
  })

  it('shares its files with a new snapshot of the same objects', async () => {
    await using trial = await startWithArchive(kind)
    const unchanged = await trial.run(go)
    expect(unchanged.exitCode).toBe(0)
    for (const { result, sameAs, warnings } of accountsOf(unchanged.stdout)) {
      expect({ result, warnings }).toEqual({ result: 'unchanged', warnings: [] })
      expect(sameAs).toMatch(kind === 'plain' ? /^2025010[67]T/ : /^20250103T/)
    }
  })
})

// A passphrase costs a tenth of a second for each file, and these cases do not depend on it.
describe.each(['plain', 'gzip', 'recipients'] as const)('a run after the archive "%s"', (kind) => {
  it('compares changed objects with it', async () => {
    await using trial = await startWithArchive(kind)
    const [id = 0] = accountsIn[kind]
    trial.sandbox.setObjects(id, 'search', exportBody('search', numbered(7)))
    const changed = await trial.run(goWith(id))
    expect(changed.exitCode).toBe(0)
    expect(accountsOf(changed.stdout)[0]).toMatchObject({
      result: 'changed',
      changes: expect.arrayContaining([
        expect.objectContaining({
          type: 'search',
          added: expect.arrayContaining([{ id: 'search:n6', title: 'Title 6' }]),
          removed: [],
          changed: [],
        }),
      ]),
    })
    expect((await trial.run(['verify', '--account', String(id)])).exitCode).toBe(0)
  })

  it('is suspect when it lost objects that the archive has', async () => {
    await using trial = await startWithArchive(kind)
    const [id = 0] = accountsIn[kind]
    trial.sandbox.setObjects(id, 'search', exportBody('search', {}))
    const { exitCode, stdout } = await trial.run(goWith(id))
    expect(exitCode).toBe(3)
    const before = id === shopId ? 6 : 3
    expect(accountsOf(stdout)[0]).toMatchObject({
      result: 'suspect',
      suspect: [expect.stringContaining(`down from ${before}`)],
    })
  })

  it('is suspect when all ids were replaced, of which the archive has no sample', async () => {
    await using trial = await startWithArchive(kind)
    const [id = 0] = accountsIn[kind]
    const count = id === shopId ? 6 : 3
    const others = Object.fromEntries(Object.keys(numbered(count)).map((name) => [`x${name}`, 'x']))
    trial.sandbox.setObjects(id, 'search', exportBody('search', others))
    for (const turn of ['changed', 'unchanged']) {
      const { exitCode, stdout } = await trial.run(goWith(id))
      expect([turn, exitCode]).toEqual([turn, 3])
      expect(accountsOf(stdout)[0]).toMatchObject({
        suspect: [`search: ${count} of ${count} objects are gone, others are in their place`],
        missing: [{ type: 'search', count }],
      })
    }
  })
})

describe('the archive "plain"', () => {
  it('has a good newest snapshot of each account', async () => {
    await using trial = await startWithArchive('plain')
    const { exitCode, stdout } = await trial.run(['status', '--json'])
    expect(exitCode).toBe(0)
    const states = accountsOf(stdout).map(({ accountId, state }) => [accountId, state])
    expect(states).toEqual([mainId, shopId, stagingId].map((id) => [id, 'good']))
  })

  it('keeps its pinned snapshot, and the one whose files the newest shares', async () => {
    await using trial = await startWithArchive('plain')
    const args = ['prune', '--keep-last', '1', '--account', `${shopId}`, '--json']
    const { accounts } = JSON.parse((await trial.run(args)).stdout)
    const kept = accounts[0].snapshots.filter(({ keep }: { keep: boolean }) => keep)
    const days = kept.map(({ snapshot }: { snapshot: string }) => snapshot.slice(0, 8))
    expect(days.toSorted()).toEqual(['20250103', '20250106', '20250107'])
  })

  it('gives a sub account its settings back', async () => {
    await using trial = await startWithArchive('plain')
    const [oldest] = (await trial.snapshots()).filter((name) => name.startsWith('20250106T'))
    const snapshot = oldest as string
    const args = ['accounts', 'restore', snapshot, '--account', 'main', '--only', `${stagingId}`]
    const { exitCode, stdout } = await trial.run([...args, '--yes', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).replaced).toEqual([stagingId])
    const staging = trial.sandbox.accounts().find(({ accountId }) => accountId === stagingId)
    expect(staging?.settings.retentionDays).toBe(5)
  })
})
