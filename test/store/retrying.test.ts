import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRetrier, type FailedAttempt } from '../../src/store/retrying.ts'

class Busy extends Error {}
class Wrong extends Error {}

const retrier = createRetrier({
  isTransient: (error) => error instanceof Busy || (error as Error).name === 'TimeoutError',
  isTimeout: (error) => (error as Error).name === 'TimeoutError',
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Sends a request whose attempts fail with these errors, and then succeed. */
async function send(
  errors: Error[],
  { signal, attempt }: { signal?: AbortSignal; attempt?: () => Promise<string> } = {},
) {
  const failed: FailedAttempt[] = []
  const answer = retrier
    .send(attempt ?? (async () => throwNext(errors)), {
      timeoutMs: 60_000,
      signal,
      onRetry: (one) => failed.push(one),
    })
    .catch((error: Error) => error)
  await vi.runAllTimersAsync()
  return { answer: await answer, failed }
}

function throwNext(errors: Error[]): string {
  const error = errors.shift()
  if (error) throw error
  return 'done'
}

describe('a request to a store', () => {
  it('is repeated after a transient failure, and each repetition is reported', async () => {
    const { answer, failed } = await send([new Busy('one'), new Busy('two')])
    expect(answer).toBe('done')
    expect(failed.map(({ attempt, error }) => [attempt, error.message])).toEqual([
      [1, 'one'],
      [2, 'two'],
    ])
  })

  it('waits twice as long before each repetition, up to ten seconds', async () => {
    const { failed } = await send([1, 2, 3, 4].map(() => new Busy()))
    const [first = 0, , third = 0, fourth = 0] = failed.map(({ delayMs }) => delayMs)
    expect(first).toBeGreaterThanOrEqual(500)
    expect(first).toBeLessThan(1000)
    expect(third).toBeGreaterThanOrEqual(2000)
    expect(fourth).toBeLessThanOrEqual(10_000)
  })

  it('fails after five attempts with the last failure', async () => {
    const last = new Busy('last')
    const { answer, failed } = await send([...[1, 2, 3, 4].map(() => new Busy()), last])
    expect(answer).toBe(last)
    expect(failed).toHaveLength(4)
  })

  it('is not repeated after a failure that is not transient', async () => {
    const { answer, failed } = await send([new Wrong()])
    expect(answer).toBeInstanceOf(Wrong)
    expect(failed).toEqual([])
  })

  it('fails after three attempts that the store does not answer in time', async () => {
    const attempt = vi.fn((signal: AbortSignal) => {
      const { promise, reject } = Promise.withResolvers<string>()
      signal.addEventListener('abort', () => reject(signal.reason))
      return promise
    })
    const { answer } = await send([], { attempt: attempt as unknown as () => Promise<string> })
    expect(answer).toMatchObject({ name: 'TimeoutError' })
    expect(attempt).toHaveBeenCalledTimes(3)
  })

  it('ends with the reason of its signal, also during the wait', async () => {
    const stop = new AbortController()
    const reason = new Error('stop')
    const attempt = async () => {
      stop.abort(reason)
      throw new Busy()
    }
    const { answer } = await send([], { signal: stop.signal, attempt })
    expect(answer).toBe(reason)
  })
})

describe('something that its caller repeats', () => {
  it('may be repeated four times after transient failures', () => {
    const failed: FailedAttempt[] = []
    const watch = retrier.watch({ signal: undefined, onRetry: (one) => failed.push(one) })
    const answers = [1, 2, 3, 4, 5].map(() => watch.mayRepeat(new Busy()))
    expect(answers).toEqual([true, true, true, true, false])
    expect(failed.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ])
  })

  it('is not repeated once its signal has aborted', () => {
    const watch = retrier.watch({ signal: AbortSignal.abort(), onRetry: () => {} })
    expect(watch.mayRepeat(new Busy())).toBe(false)
  })
})
