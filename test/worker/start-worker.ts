import { Writable } from 'node:stream'
import { chooseAccounts } from '../../src/cli/select/choose-account.ts'
import type { Environment } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { DashkeepError } from '../../src/errors.ts'
import { createLog, createLogTail } from '../../src/log.ts'
import { runWorker } from '../../src/worker/worker.ts'
import { jsonLines, until } from '../e2e/run-dashkeep.ts'
import type { Trial } from '../e2e/trial.ts'
import { createSteppedClock, type SteppedClock } from './stepped-clock.ts'

/** A worker in this process. The test steps its clock. */
export interface StartedWorker extends AsyncDisposable {
  readonly clock: SteppedClock
  /** Its log so far. */
  log(): Record<string, unknown>[]
  /** Steps the clock, then waits until this number of runs has ended since the start. */
  stepUntilEnded(ms: number, runs: number): Promise<void>
  /** Waits until this number of runs has ended since the start. */
  untilEnded(runs: number): Promise<void>
  /** Waits until a message has been logged this number of times since the start. */
  untilLogged(message: string, times?: number): Promise<void>
  /** Sends a request to its HTTP server. */
  ask(path: string): Promise<{ status: number; text: string }>
  /** The value of a metric, named with its labels. */
  metric(name: string): Promise<number | undefined>
  /** Stops the worker and waits for its end. */
  stop(): Promise<void>
}

export async function startWorker(options: {
  /** Its service uses the worker's clock. */
  trial: Pick<Trial, 'setServiceClock'>
  env: Environment
  start: string
  random?: () => number
  /** Values of `--account`. */
  account?: readonly string[]
}): Promise<StartedWorker> {
  const clock = createSteppedClock(options.start)
  options.trial.setServiceClock(clock.now)
  const env: Record<string, string | undefined> = { DASHKEEP_LISTEN: '127.0.0.1:0', ...options.env }
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  const tail = createLogTail()
  const log = await createLog({ level: 'info', stream, readable: false, colors: false, tail })
  const lines = () => jsonLines(Buffer.concat(chunks).toString())
  const stopping = new AbortController()
  const state = { ended: false }
  const ended = runWorker({
    async load() {
      const config = await loadConfig(env, {}, ['accounts', 'store'])
      return chooseAccounts(config, options.account)
    },
    env,
    log,
    tail,
    clock,
    signal: stopping.signal,
    random: options.random ?? (() => 0),
    retryBaseMs: 1,
  }).finally(() => {
    state.ended = true
  })
  ended.catch(() => {})
  await until(
    'the schedule has started',
    () => state.ended || lines().some(({ msg }) => msg === 'schedule started'),
  )
  if (state.ended) await ended
  const url = lines().find(({ msg }) => msg === 'worker started')?.url as string
  const untilEnded = (runs: number) =>
    until(`${runs} runs have ended`, async () => {
      const ended = lines().filter(({ msg }) => msg === 'run ended')
      return ended.length >= runs && (await metric('dashkeep_run_in_progress')) === 0
    })
  const ask = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, text: await response.text() }
  }
  async function metric(name: string): Promise<number | undefined> {
    const { text } = await ask('/metrics')
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length))
  }
  const stop = async () => {
    stopping.abort(new DashkeepError('Interrupted by the test', { kind: 'interrupted' }))
    await ended
  }
  return {
    clock,
    log: lines,
    async stepUntilEnded(ms, runs) {
      await clock.step(ms)
      await untilEnded(runs)
    },
    untilEnded,
    untilLogged: (message, times = 1) =>
      until(`${message} is logged`, () => {
        const logged = lines().filter(({ msg }) => msg === message)
        return logged.length >= times
      }),
    ask,
    metric,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
