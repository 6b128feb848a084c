import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AccountSeed, GeneratedObjects } from '../src/sandbox/options.ts'

/** A sandbox in a separate process. Disposing stops it. */
export interface Service extends AsyncDisposable {
  readonly url: string
}

const program = fileURLToPath(new URL('serve.ts', import.meta.url))

/** Starts the service with these accounts; `cores` as in `measure`. */
export async function startService(
  accounts: readonly AccountSeed[],
  { cores }: { cores?: string | undefined } = {},
): Promise<Service> {
  const pinned = cores === undefined ? [] : ['taskset', '--cpu-list', cores]
  const options = JSON.stringify({ accounts })
  const [file = '', ...args] = [...pinned, process.execPath, program, options]
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const [url] = await Promise.race([
    once(child.stdout, 'data'),
    closed.then(() => Promise.reject(new Error('Cannot start the sandbox'))),
  ])
  return {
    url: String(url).trim(),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

export const firstAccountId = 100_001

/** Generated accounts, with ids from `firstAccountId` on and tokens of `tokenOf`. */
export function makeAccounts(
  count: number,
  objects: Omit<GeneratedObjects, 'seed'>,
): AccountSeed[] {
  return Array.from({ length: count }, (_, number) => {
    const accountId = firstAccountId + number
    return {
      accountId,
      accountName: `Account ${accountId}`,
      apiTokens: [tokenOf(accountId)],
      objects: { generated: { seed: 1 + number, ...objects } },
    }
  })
}

export function tokenOf(accountId: number): string {
  return `token-${accountId}`
}
