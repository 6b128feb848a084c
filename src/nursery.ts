import { setFlagsFromString } from 'node:v8'

let kept = false

/**
 * Keeps V8's nursery as small as it is: what streams through lives for a moment, and a nursery that
 * grows only holds more of what is dead, 70 MB more at an export of 1 GiB for no time gained.
 *
 * To be called when something large is about to stream and not before: from then on V8 refuses all
 * compiled code it had in store, that of Node's own modules included, since it was made under other
 * flags.
 */
export function keepNurserySmall(): void {
  if (kept) return
  kept = true
  setFlagsFromString('--semi-space-growth-factor=1')
}
