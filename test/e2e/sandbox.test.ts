import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runDashkeep } from './run-dashkeep.ts'

/** Starts a sandbox that ends as soon as it has said how it can be used. */
function startOnce(args: readonly string[]) {
  return runDashkeep(['sandbox', ...args], { env: {}, signal: AbortSignal.abort() })
}

/** A folder with the objects of one account in `production`. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-sandbox-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'production'))
  const document = '{"kibanaVersion":"7.10.2","hits":[]}'
  await writeFile(join(folder, 'production/search.json'), document)
  return folder
}

describe('the sandbox verb', () => {
  it('names the admins of its accounts, one of whom a create needs', async () => {
    const objects = ['--objects', join(await makeFolder(), 'production')]
    const plain = await startOnce(objects)
    expect(plain.stdout).toContain(
      'account 200001 (production), token sandbox-token-200001, admin admin@example.com',
    )
    const chosen = await startOnce([...objects, '--admin-email', 'a@x.org', 'b@x.org', '--json'])
    expect(JSON.parse(chosen.stdout).accounts).toMatchObject([
      { accountId: 200001, adminEmails: ['a@x.org', 'b@x.org'] },
    ])
    const sample = await startOnce(['--admin-email', 'a@x.org'])
    expect(sample.exitCode).toBe(2)
    expect(sample.stderr).toContain('--admin-email needs --objects or --generate')
  })

  it('names a port that there cannot be', async () => {
    const { exitCode, stderr } = await startOnce(['--port', '99999'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Cannot start the sandbox: the port 99999 is larger than 65535\n')
  })

  it('names a fault that there cannot be, with its value', async () => {
    const { exitCode, stderr } = await startOnce(['--fault', 'export status=99999'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Cannot add the fault: status: expected at most 599, found 99999\n')
  })

  it('keeps its database to its own user', async () => {
    const database = join(await makeFolder(), 'sandbox.sqlite')
    await startOnce(['--database', database])
    expect((await stat(database)).mode & 0o777).toBe(0o600)
  })
})
