import { DashkeepError } from '../errors.ts'
import type { Clock } from './clock.ts'

/** Aborts its signal with an error after `ms`. Disposing cancels the deadline. */
export function startDeadline(
  clock: Clock,
  ms: number,
  { message, hint }: { message: string; hint: string },
): Disposable & { readonly signal: AbortSignal } {
  const passed = new AbortController()
  const over = new AbortController()
  void clock.sleep(ms, over.signal).then(() => {
    if (!over.signal.aborted) passed.abort(new DashkeepError(message, { hint }))
  })
  return { signal: passed.signal, [Symbol.dispose]: () => over.abort() }
}
