import { readFileSync } from 'node:fs'
import { runDashkeep } from './run-dashkeep.ts'

/**
 * Runs command lines one after the other in this process and prints how they ended and the most
 * memory that the process ever had: what is measured must not share memory with the tests.
 * Its argument is a JSON array of command lines; the environment is that of dashkeep.
 */
const runs = []
for (const args of JSON.parse(process.argv[2] ?? '[]') as string[][]) {
  runs.push({ args, ...(await runDashkeep(args, { env: process.env })) })
}
process.stdout.write(JSON.stringify({ runs, peakBytes: findPeakBytes() }))

/** Linux counts what the parent had as well in `maxRSS`, so there the program's own figure is read. */
function findPeakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) * 1024
}
