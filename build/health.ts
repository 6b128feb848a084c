import { readFileSync } from 'node:fs'

// The image's health check. A verb that serves HTTP is healthy when it answers at its own address.
// Any other verb is healthy while it runs, and so is a worker with DASHKEEP_LISTEN=false.

const [pid = '1'] = process.argv.slice(2)
void isHealthy(addressOf(wordsOf(pid))).then((healthy) => {
  process.exitCode = healthy ? 0 : 1
})

/** Whether the program answers at its address, or has none. */
async function isHealthy(address: string | undefined): Promise<boolean> {
  return address === undefined || (await answers(address))
}

/** The words after dashkeep's own file on the command line of a process. */
function wordsOf(id: string): string[] {
  const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0')
  const program = words.findIndex((word) => /(^|\/)(main\.(cjs|ts)|dashkeep)$/.test(word))
  return program === -1 ? [] : words.slice(program + 1)
}

/** The address that the verb listens on; undefined when it listens on none. */
function addressOf([verb, ...options]: readonly string[]): string | undefined {
  if (verb === 'status') return listenOption(options)
  if (verb === 'web') return listenOption(options) ?? '127.0.0.1:5338'
  // The image sets this variable, which takes precedence over `worker.listen` of a file.
  const { DASHKEEP_LISTEN: listen } = process.env
  return verb === 'worker' && listen !== 'false' ? listen || undefined : undefined
}

/** The value of `--listen ADDRESS`, `--listen=ADDRESS` or, for `web`, `-l ADDRESS`. */
function listenOption(options: readonly string[]): string | undefined {
  const index = options.findLastIndex((word) => /^(--listen(=.*)?|-l.*)$/.test(word))
  const [, value] = /^(?:--listen=|-l)(.+)$/.exec(options[index] ?? '') ?? []
  return value ?? (index < 0 ? undefined : options[index + 1])
}

/** Whether a server answers, with any status: `web` refuses a request without a token. */
async function answers(listen: string): Promise<boolean> {
  const reachable = listen.replace('0.0.0.0:', '127.0.0.1:').replace('[::]:', '[::1]:')
  try {
    const signal = AbortSignal.timeout(8000)
    const response = await fetch(`http://${reachable}/healthz`, { signal })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
