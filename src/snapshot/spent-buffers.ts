import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Spent buffers may take up about this much. */
const MAX_SPENT_BYTES = 4 * 1024 * 1024
/** A process that has spent so much is a long one, and gives back what its start has taken. */
const LONG_RUN_BYTES = 96 * 1024 * 1024

let spentBytes = 0
let spentBefore = 0
let isNurseryKept = false
let collect: NodeJS.GCFunction | undefined

/**
 * Says that bytes have been streamed through buffers nobody looks at again; keeps V8's nursery as
 * small as it is, and has V8 clear it now and then.
 *
 * By itself V8 goes by the number of young objects, of which streams of large buffers make few: they
 * would pile up for tens of MB, and set off collections of the whole heap, which take a sixth of
 * all time. And a nursery that grows only holds more of what is dead. What has been compiled and
 * allocated for the start alone would stay as well: a long run has it collected once, which takes
 * 30 ms and returns 4 MB.
 *
 * The flags are set here and not at the start: from then on V8 refuses all compiled code it had in
 * store, that of Node's own modules included, since it was made under other flags.
 */
export function noteSpent(bytes: number): void {
  if (!isNurseryKept) {
    isNurseryKept = true
    setFlagsFromString('--semi-space-growth-factor=1')
  }
  spentBytes += bytes
  if (spentBytes < MAX_SPENT_BYTES) return
  collect ??= exposeCollector()
  const spent = spentBefore + spentBytes
  if (spentBefore < LONG_RUN_BYTES && spent >= LONG_RUN_BYTES) {
    collect({ type: 'major', flavor: 'last-resort' })
  } else {
    collect({ type: 'minor' })
  }
  spentBefore = spent
  spentBytes = 0
}

function exposeCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as NodeJS.GCFunction
}
