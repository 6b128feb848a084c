import { describe, expect, it } from 'vitest'
import { jsonLines, runDashkeep } from '../e2e/run-dashkeep.ts'
import { identity } from './key.ts'

const env = { DASHKEEP_STORE: new URL('format-1', import.meta.url).href }

/** Later than every snapshot of the archive, whatever this machine's clock shows. */
const now = new Date('2026-11-20T12:00:00Z')

describe('an archive of format 1, made in November 2026', () => {
  it('is listed', async () => {
    const { exitCode, stdout } = await runDashkeep(['list', '--json'], { env })
    expect(exitCode).toBe(0)
    const days = jsonLines(stdout).map(({ accountId, takenAt }) => [accountId, takenAt])
    expect(days).toEqual([1, 2, 3, 4, 5, 6].map((day) => [10, `2026-11-0${day}T03:15:00.000Z`]))
  })

  it('is proven, to the content of every file', async () => {
    const { exitCode, stdout } = await runDashkeep(['verify', '--json'], {
      env: { ...env, DASHKEEP_IDENTITY: identity },
    })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ snapshots: 6, defects: 0, sealed: 0 })
  })

  it('is shown with its objects', async () => {
    const { stdout } = await runDashkeep(['list', '--json'], { env })
    const manifests = []
    for (const { snapshot } of jsonLines(stdout)) {
      const shown = await runDashkeep(['show', String(snapshot), '--json'], { env })
      manifests.push(JSON.parse(shown.stdout))
    }
    const objects = manifests.map(({ exports }) => exports[0].objects)
    expect(objects).toEqual([5, 5, 6, 7, 8, 1])
    expect(manifests[1].sameAs).toBe(manifests[0].snapshot)
    expect(manifests.map(({ exports }) => exports[0].file.name)).toEqual([
      'search.json.zst',
      'search.json.zst',
      'search.json.gz',
      'search.json',
      'search.json.zst.age',
      'search.json.zst',
    ])
    expect(manifests[5].suspect).toMatchObject({ lastGood: manifests[4].snapshot })
    expect(manifests.slice(1).map(({ previous }) => previous.snapshot)).toEqual(
      manifests.slice(0, -1).map(({ snapshot }) => snapshot),
    )
  })

  it('can be read by status, which names its newest good snapshot', async () => {
    const { exitCode, stdout } = await runDashkeep(['status', '--json'], { env, now })
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      accounts: [{ accountId: 10, state: 'suspect', takenAt: '2026-11-05T03:15:00.000Z' }],
    })
  })
})
