import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { type Finished, until } from './run-dashkeep.ts'

const folder = inject('programFolder')

/**
 * Where processes of the tests keep compiled code, for each other: loading the program takes half
 * the time then.
 */
export const compileCache = join(folder, 'compile-cache')

/** The file of the built program, which starts in two thirds of the time that the source takes. */
export const program = join(await buildOnce(), 'main.cjs')

/** Builds the program unless another worker does. Returns its folder once it is there. */
async function buildOnce(): Promise<string> {
  const built = join(folder, 'program')
  const isFirst = (await mkdir(join(folder, 'lock'), { recursive: true })) !== undefined
  if (isFirst) {
    const { buildProgram } = await import('./build-program.ts')
    await buildProgram(built)
  }
  await until('the program is built', () => existsSync(built))
  return built
}

/** A process of its own. Disposing kills it if it still runs. */
export interface Spawned extends AsyncDisposable {
  readonly pid: number
  readonly finished: Promise<Finished & { signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  /** What it has written to standard output so far. */
  stdout(): string
  /** The same of standard error. */
  stderr(): string
}

/**
 * Starts the built program with pipes for its output; `node` are options for Node itself, and
 * `withoutReader` closes the reading end of standard error at once.
 */
export function spawnDashkeep(
  args: readonly string[],
  options: { env: Environment; node?: readonly string[]; withoutReader?: boolean },
): Spawned {
  const { env, node = [], withoutReader } = options
  return spawnProcess(process.execPath, [...node, program, ...args], { env, withoutReader })
}

/** Starts a program with pipes for its output. */
export function spawnProcess(
  file: string,
  args: readonly string[],
  { env, withoutReader }: { env: Environment; withoutReader?: boolean | undefined },
): Spawned {
  const child = spawn(file, args, {
    env: { NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  if (withoutReader) child.stderr.destroy()
  const stdout = () => Buffer.concat(out).toString()
  const stderr = () => Buffer.concat(err).toString()
  const finished = once(child, 'close').then(([code, signal]) => ({
    exitCode: (code as number | null) ?? -1,
    signal: signal as NodeJS.Signals | null,
    stdout: stdout(),
    stderr: stderr(),
  }))
  return {
    pid: child.pid ?? 0,
    finished,
    kill: (signal) => void child.kill(signal),
    stdout,
    stderr,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await finished
    },
  }
}
