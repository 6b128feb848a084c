import { readFileSync } from 'node:fs'

// The image's health check. A worker is healthy when it answers; any other verb while it runs.
// DASHKEEP_LISTEN says where: the image sets it, and it goes over `worker.listen` of a file. Without
// an address there is nobody to ask.

const [pid = '1'] = process.argv.slice(2)
const { DASHKEEP_LISTEN = '' } = process.env
const listen = DASHKEEP_LISTEN === 'false' ? '' : DASHKEEP_LISTEN

const isHealthy = verbOf(pid) !== 'worker' || listen === '' || (await answers(listen))
process.exitCode = isHealthy ? 0 : 1

/** The word after dashkeep's own file on the command line of a process. */
function verbOf(id: string): string | undefined {
  const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0')
  const program = words.findIndex((word) => /(^|\/)(main\.[jt]s|dashkeep)$/.test(word))
  return program === -1 ? undefined : words[program + 1]
}

async function answers(address: string): Promise<boolean> {
  const reachable = address.replace('0.0.0.0:', '127.0.0.1:').replace('[::]:', '[::1]:')
  try {
    const signal = AbortSignal.timeout(8000)
    return (await fetch(`http://${reachable}/healthz`, { signal })).ok
  } catch {
    return false
  }
}
