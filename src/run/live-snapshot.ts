import type { Manifest } from '../archive/manifest.ts'
import { takeSnapshot } from '../archive/take.ts'
import type { TakeProgress } from '../archive/take-options.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { connectAccount, scanLimitsOf, sourceOf } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** The current objects of an account, as a snapshot in memory. Disposing frees it. */
interface LiveSnapshot extends AsyncDisposable {
  readonly store: ObjectStore
  readonly manifest: Manifest
}

/**
 * Exports an account's objects into memory, compressed, with all checks of a backup. Throws when the
 * token belongs to another account than `accountId`, and when a backup would fail.
 */
export async function exportLive(
  account: AccountConfig,
  config: Config,
  options: {
    env: Environment
    log: Logger
    now: () => Date
    accountId: number
    types: readonly string[]
    signal?: AbortSignal | undefined
    onProgress?: ((progress: TakeProgress) => void) | undefined
  },
): Promise<LiveSnapshot> {
  const { now, accountId, types, signal, onProgress } = options
  await using service = await connectAccount(account, config, options)
  const { createMemoryStore } = await import('../store/memory.ts')
  const store = createMemoryStore()
  const { manifest } = await takeSnapshot(sourceOf(service), store, {
    takenAt: now(),
    now,
    types,
    expectedAccountId: accountId,
    exportAttempts: config.limits.attempts,
    retryBaseMs: config.limits.retryBaseMs,
    scanLimits: scanLimitsOf(config),
    signal,
    onProgress,
  })
  return { store, manifest, [Symbol.asyncDispose]: () => store.close() }
}
