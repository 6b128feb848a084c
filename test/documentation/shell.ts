import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { program } from '../e2e/spawn-dashkeep.ts'

/** How commands are run. */
export interface ShellOptions {
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** Ends everything at once, such as when a test takes too long. */
  readonly signal: AbortSignal
  /** Ctrl-C is pressed once the output holds this, and `meanwhile` has been done. */
  readonly until?: RegExp | undefined
  readonly meanwhile?: (() => Promise<void>) | undefined
}

/** Runs commands in bash, which stops at the first that fails, and returns how that ended. */
export async function runShell(
  script: string,
  { env, folder, signal, until, meanwhile }: ShellOptions,
): Promise<{ exitCode: number; output: string }> {
  // A group of its own, so that a signal reaches all that it starts, as a terminal sends it.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
  }
  const end = () => kill('SIGKILL')
  signal.addEventListener('abort', end)
  let output = ''
  let waiting = until
  const listen = async (chunk: Buffer) => {
    output += chunk
    if (!waiting?.test(output)) return
    waiting = undefined
    await meanwhile?.().catch((error: unknown) => {
      output += `\nmeanwhile: ${error}\n`
    })
    kill('SIGINT')
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const [code] = (await once(child, 'close')) as [number | null]
  signal.removeEventListener('abort', end)
  return { exitCode: code ?? -1, output }
}

/** Puts `dashkeep` into a folder for the path: this checkout, built and run by this Node. */
export async function putOnPath(folder: string): Promise<void> {
  const path = join(folder, 'dashkeep')
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  await chmod(path, 0o755)
}

/** Whether a program is on the path. */
export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0
}
