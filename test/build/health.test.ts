import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../../build/health.ts', import.meta.url))

/** Starts a process with these arguments and `DASHKEEP_LISTEN`, and returns the exit code of its check. */
async function check(args: readonly string[], listen: string): Promise<number> {
  const running = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'ignore'] })
  try {
    await once(running.stdout, 'data')
    const env = { ...process.env, DASHKEEP_LISTEN: listen }
    const health = spawn(process.execPath, [script, String(running.pid)], { env })
    const [exitCode] = await once(health, 'close')
    return exitCode
  } finally {
    running.kill()
  }
}

let folder: string
let program: string
const server = createServer(({ url }, response) => {
  response.writeHead(url === '/healthz' ? 200 : 404).end()
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-health-'))
  program = join(folder, 'main.cjs')
  await writeFile(program, "process.stdout.write('runs'); process.stdin.resume()")
  await once(server.listen(0, '127.0.0.1'), 'listening')
})

afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true })
})

describe.skipIf(process.platform !== 'linux')("the image's health check", () => {
  const nowhere = '127.0.0.1:1'

  it('asks a worker at the address that is configured', async () => {
    const { port } = server.address() as AddressInfo
    expect(await check(['worker', '--shard', '0/8'], `0.0.0.0:${port}`)).toBe(0)
    expect(await check(['worker'], nowhere)).toBe(1)
  })

  it('asks `status --listen` and `web` at the address of their option', async () => {
    const { port } = server.address() as AddressInfo
    const here = `127.0.0.1:${port}`
    expect(await check(['status', '--max-age', '26h', '--listen', here], nowhere)).toBe(0)
    expect(await check(['status', `--listen=0.0.0.0:${port}`], nowhere)).toBe(0)
    expect(await check(['status', '--listen', nowhere], here)).toBe(1)
    expect(await check(['web', '--listen', here], nowhere)).toBe(0)
    expect(await check(['web', '-l', here], nowhere)).toBe(0)
    expect(await check(['web', `--listen=${nowhere}`], here)).toBe(1)
  })

  it('counts `status` without --listen as healthy while it runs', async () => {
    expect(await check(['status', '--max-age', '26h'], nowhere)).toBe(0)
  })

  it('counts a worker that serves nowhere as healthy while it runs', async () => {
    expect(await check(['worker'], 'false')).toBe(0)
  })

  it('does not mistake an account named worker for the verb', async () => {
    expect(await check(['backup', '--account', 'worker'], nowhere)).toBe(0)
  })
})
