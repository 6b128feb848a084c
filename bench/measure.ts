import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

/** Measurements of one run of a command. */
export interface Measurement {
  readonly seconds: number
  /** Processor time of all processes, in user and kernel mode. */
  readonly cpuSeconds: number
  /** Peak memory of the processes, from the kernel; undefined where the kernel has no count. */
  readonly peakBytes: number | undefined
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Processor cores for the command, in the format of `taskset`; all by default. */
  readonly cores?: string | undefined
  readonly signal?: AbortSignal | undefined
}

const pollMs = 10

/**
 * Runs a shell command and measures it from outside: time and processor time by bash, memory of every
 * process below bash by the kernel. Throws with the command's standard error when any part of it fails.
 */
export async function measure(command: string, options: RunOptions): Promise<Measurement> {
  // bash writes the times to file descriptor 3, so that they do not mix with the command's errors.
  const script = `set -o pipefail; TIMEFORMAT='%3R %3U %3S'; exec 4>&2 2>&3; time { ${command}; } 2>&4`
  const pinned = options.cores === undefined ? [] : ['taskset', '--cpu-list', options.cores]
  const [file = '', ...args] = [...pinned, 'bash', '-c', script]
  const child = spawn(file, args, {
    env: options.env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    ...(options.signal && { signal: options.signal }),
  })
  const peak = watchMemory(child.pid ?? 0)
  const [[code], errors, times] = await Promise.all([
    once(child, 'close'),
    text(child.stdio[2] as NodeJS.ReadableStream),
    text(child.stdio[3] as NodeJS.ReadableStream),
  ])
  if (code !== 0) throw new Error(`Cannot measure: exit code ${code} of ${command}\n${errors}`)
  const [seconds = Number.NaN, user = Number.NaN, system = Number.NaN] = times
    .split(/\s+/)
    .map(Number)
  return { seconds, cpuSeconds: user + system, peakBytes: await peak }
}

/** Polls the processes below `pid` until it ends. The kernel keeps the peak of each process. */
async function watchMemory(pid: number): Promise<number | undefined> {
  let peak: number | undefined
  while (readProcFile(pid, 'status') !== '') {
    const sum = descendants(pid).reduce((total, one) => total + peakOf(one), 0)
    if (sum > 0) peak = Math.max(peak ?? 0, sum)
    await wait(pollMs)
  }
  return peak
}

function descendants(pid: number): number[] {
  const children = readProcFile(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

function peakOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readProcFile(pid, 'status')) ?? []
  return Number(kilobytes) * 1024
}

function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
