/** A signal that aborts with a `TimeoutError` after some time. */
interface Deadline extends Disposable {
  /** Aborts with the reason of the original signal, or with a `TimeoutError`. */
  readonly signal: AbortSignal
  /** Starts the time again. */
  restart(): void
  /** Stops the time until `restart`, while the reader is busy. */
  pause(): void
}

/** Starts a deadline that also aborts with `signal`. Disposing it stops both. */
export function startDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const expire = () => controller.abort(timeIsUp())
  const passOn = () => controller.abort(signal?.reason)
  let timer = setTimeout(expire, timeoutMs)
  if (signal?.aborted) passOn()
  signal?.addEventListener('abort', passOn, { once: true })
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer)
      timer = setTimeout(expire, timeoutMs)
    },
    pause() {
      clearTimeout(timer)
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', passOn)
    },
  }
}

/** The error of a wait that took too long. */
export function timeIsUp(): Error {
  return new DOMException('The time is up', 'TimeoutError')
}
