import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

it('shows three weeks of snapshots and a deleted dashboard, until it is interrupted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-demo-'))
  try {
    await using demo = spawnDashkeep(['demo', '--web', '--folder', folder], { env: {} })
    await until('the address is printed', () => demo.stdout().includes('Ctrl-C'))
    const address = /http:\S+token=\S+/.exec(demo.stdout())?.[0] ?? ''
    const opened = await fetch(address, { redirect: 'manual' })
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
    const read = async (path: string) =>
      (await fetch(new URL(path, address), { headers: { cookie } })).text()
    expect(await read('/')).toContain('The account has a good backup.')
    expect(await read('/accounts/100001')).toMatch(/<dt>Snapshots<\/dt><dd>21<\/dd>/)
    const versions = await read('/accounts/100001/history?id=dashboard:shop-overview')
    expect(versions).toMatch(/disappeared[\s\S]*changed[\s\S]*appeared/)
    expect(demo.stdout()).toContain('The pages can restore objects')
    demo.kill('SIGINT')
    expect((await demo.finished).exitCode).toBe(130)
  } finally {
    await rm(folder, { recursive: true })
  }
})
