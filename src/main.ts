#!/usr/bin/env node
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

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  signal: interruption.signal,
  now: () => new Date(),
})
process.exitCode ??= exitCode
