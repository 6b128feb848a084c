import { Writable } from 'node:stream'
import type { Environment } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { InterruptedError } from '../../src/errors.ts'
import { runExporter } from '../../src/exporter/exporter.ts'
import { createLog } from '../../src/log.ts'
import { jsonLines, until } from '../e2e/run-dashkeep.ts'
import { createSteppedClock, hours, minutes, type SteppedClock } from '../worker/stepped-clock.ts'

/** An exporter in this process, whose time the test steps. */
export interface StartedExporter extends AsyncDisposable {
  readonly clock: SteppedClock
  /** What it has logged so far. */
  log(): Record<string, unknown>[]
  /** Waits until it has logged a message so many times since the start. */
  untilLogged(message: string, times?: number): Promise<void>
  /** Asks its HTTP server. */
  ask(path: string): Promise<{ status: number; text: string }>
  /** The samples that it serves: values by name with labels. */
  samples(): Promise<Record<string, number>>
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>
}

/** Looks every 15 minutes; a good snapshot is stale after 26 hours. */
export async function startExporter(options: {
  env: Environment
  start: string
  /** A newest proof is too old after this time; never by default. */
  maxProofAgeMs?: number
}): Promise<StartedExporter> {
  const { env } = options
  const clock = createSteppedClock(options.start)
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  const log = await createLog({ level: 'info', stream, readable: false, colors: false })
  const lines = () => jsonLines(Buffer.concat(chunks).toString())
  const stopping = new AbortController()
  const ended = runExporter({
    load: () => loadConfig(env, {}, ['accounts', 'store']),
    listen: '127.0.0.1:0',
    intervalMs: 15 * minutes,
    maxAgeMs: 26 * hours,
    maxProofAgeMs: options.maxProofAgeMs,
    env,
    log,
    clock,
    signal: stopping.signal,
  })
  ended.catch(() => {})
  const untilLogged = (message: string, times = 1) =>
    until(
      `${message} is logged`,
      () => lines().filter(({ msg }) => msg === message).length >= times,
    )
  await Promise.race([untilLogged('exporter started'), ended])
  const url = lines().find(({ msg }) => msg === 'exporter started')?.url as string
  const ask = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, text: await response.text() }
  }
  const stop = async () => {
    stopping.abort(new InterruptedError('SIGTERM'))
    await ended
  }
  return {
    clock,
    log: lines,
    untilLogged,
    ask,
    async samples() {
      return samplesOf((await ask('/metrics')).text)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** The samples in the text format of Prometheus: values by name with labels. */
export function samplesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  )
}
