// Tested by test/e2e/process.test.ts

import { runCli } from './cli/run.ts'
import { InterruptedError, stopSignals } from './errors.ts'

/** How long a finished process waits for remaining work, such as a credentials command. */
const LINGER_MS = 1000

const interruption = new AbortController()
/** The exit code of the command, once a signal can no longer change it. */
let finalExitCode: number | undefined

for (const name of Object.keys(stopSignals) as (keyof typeof stopSignals)[]) {
  process.once(name, () => {
    // Handled once: a second signal of the same name ends the process at once.
    interruption.abort(new InterruptedError(name))
    process.exitCode = finalExitCode ?? stopSignals[name]
  })
}

// The reader of the results may stop early (`| head`). This is not a failure: a backup continues.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || process.exitCode === 1) return
  process.stderr.write(`error: Cannot write the results: ${message}\n`)
  process.exitCode = 1
})
// A worker continues when nothing reads its log.
process.stderr.on('error', () => {})

void runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  signal: interruption.signal,
  now: () => new Date(),
  onExitCode: (exitCode) => {
    finalExitCode = exitCode
  },
}).then((exitCode) => {
  process.exitCode ??= exitCode
  // After a stop signal, an open connection must not keep the process alive.
  if (interruption.signal.aborted) process.exit()
  setTimeout(() => process.exit(), LINGER_MS).unref()
})
