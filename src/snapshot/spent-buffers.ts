import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Spent buffers may take up about this much. */
const MAX_SPENT_BYTES = 4 * 1024 * 1024

let spentBytes = 0
let collectYoung: (() => void) | undefined

/**
 * Says that bytes have been streamed through buffers nobody looks at again, and has V8 free them now
 * and then. By itself it goes by the number of young objects, of which streams of large buffers make
 * few: they would pile up for tens of MB, and set off collections of the whole heap, which take
 * a sixth of all time.
 */
export function noteSpent(bytes: number): void {
  spentBytes += bytes
  if (spentBytes < MAX_SPENT_BYTES) return
  spentBytes = 0
  collectYoung ??= exposeCollector()
  collectYoung()
}

function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NodeJS.GCFunction
  return () => collect({ type: 'minor' })
}
