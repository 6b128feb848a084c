import { runCli } from './cli/run.ts'
import { InterruptedError, stopSignals } from './errors.ts'

/** How long whatever hangs, such as a command for credentials, may keep a finished process alive. */
const LINGER_MS = 1000

const interruption = new AbortController()
/** What the work itself came to, once that is certain. */
let settled: number | undefined

for (const name of Object.keys(stopSignals) as (keyof typeof stopSignals)[]) {
  process.once(name, () => {
    // Once only: the same signal again ends the process at once, as people expect.
    interruption.abort(new InterruptedError(name))
    process.exitCode = settled ?? stopSignals[name]
  })
}

// The reader of the results may have seen enough (`| head`). That is not a failure: a backup goes on.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || process.exitCode === 1) return
  process.stderr.write(`error: Cannot write the results: ${message}\n`)
  process.exitCode = 1
})
// Without a reader of the log there is nobody to tell, and a worker must not end for that.
process.stderr.on('error', () => {})

void runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  signal: interruption.signal,
  now: () => new Date(),
  settle: (exitCode) => {
    settled = exitCode
  },
}).then((exitCode) => {
  process.exitCode ??= exitCode
  // Told to stop, and everything is tidied up: nothing that still holds a connection keeps it alive.
  if (interruption.signal.aborted) process.exit()
  setTimeout(() => process.exit(), LINGER_MS).unref()
})
