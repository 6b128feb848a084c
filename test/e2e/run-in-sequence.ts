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
const peakBytes = process.resourceUsage().maxRSS * 1024
process.stdout.write(JSON.stringify({ runs, peakBytes }))
