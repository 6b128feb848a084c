import { runCli } from './cli/run.ts'
import { DashkeepError } from './errors.ts'

const interruption = new AbortController()

for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    // Once only: the same signal again ends the process at once, as people expect.
    interruption.abort(new DashkeepError(`Interrupted by ${name}`, { kind: 'interrupted' }))
    process.exitCode = name === 'SIGINT' ? 130 : 143
  })
}

// Who reads the results may have seen enough (`| head`): no failure, and a backup goes on without.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

void runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  signal: interruption.signal,
  now: () => new Date(),
}).then((exitCode) => {
  process.exitCode ??= exitCode
  // Told to stop, and everything is tidied up: nothing that still holds a connection keeps it alive.
  if (interruption.signal.aborted) process.exit()
})
