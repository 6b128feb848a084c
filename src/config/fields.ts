import { z } from 'zod'
import { isRecipient } from '../datafile/encryption.ts'
import { addUp, durationPattern, maxDurationMs, maxTimerMs } from './duration.ts'
import { pathPattern } from './paths.ts'

/** A name that people give, such as that of an account. */
export const name = z
  .string()
  .regex(/^[\w][\w .-]{0,99}$/, 'expected letters, digits, space and . _ -')

/** The name of a copy. `--store` takes it in place of an address. */
export const copyName = z.string().regex(/^[\w][\w-]{0,99}$/, 'expected letters, digits, - and _')

/** An address without anything secret in it. */
export const url = z
  .url({ protocol: /^https?$/, error: 'expected an http:// or https:// address' })
  .refine(isPlainAddress, 'expected an address without user, password, query and fragment')

/** Prefix of the paths of the service; may be empty. */
export const pathPrefix = z
  .string()
  .regex(/^((\/[\w.~-]+)+)?$/, 'expected a path such as /v1, without a slash at its end')

const storePattern = new RegExp(`^s3:\\/\\/[^/@]+(\\/|$)|^file:\\/\\/\\/.|${pathPattern.source}`)

/** The address of a store, or the path of a folder. */
export const storeUrl = z
  .string()
  .regex(storePattern, 'expected s3://bucket/prefix, file:///folder or a path such as ./backups')

/** The problem of an invalid `listen`. */
export const listenForm = 'expected host:port such as 0.0.0.0:5337, or false'

/** Where a server listens: a host and a port. */
export const listen = z
  .string()
  .regex(/^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d+$/, listenForm)
  .refine((text) => Number(/\d+$/.exec(text)?.[0]) <= 65_535, 'expected a port up to 65535')

/** A whole number from 1 on. */
export const positive = z.int().min(1)

const timerLimit = `expected at most ${maxTimerMs} ms (24 days), the longest that a timer can wait`

/** A time that a timer can wait, in milliseconds. */
export const timerMs = positive.max(maxTimerMs, timerLimit)

/** A duration such as `30d`. */
export const duration = z
  .string()
  .regex(durationPattern, 'expected a duration such as 30d or 26h')
  .refine((text) => addUp(text) <= maxDurationMs, `expected at most ${maxDurationMs / 86_400_000}d`)

/** A duration that a timer can wait. */
export const timerDuration = duration.refine((text) => addUp(text) <= maxTimerMs, timerLimit)

/** Refuses durations of 0, such as `0s`. */
export function longerThanNothing(field: typeof duration): typeof duration {
  return field.refine((text) => addUp(text) > 0, 'expected a duration above 0')
}

/** The public key of an age identity. */
export const recipient = z
  .string()
  .regex(/^age1[a-z0-9]+$/, { error: ({ input }) => describeRecipient(input) })
  .refine(isRecipient, { error: ({ input }) => describeRecipient(input) })

/** The variable or the file that a secret is read from. */
export const secretSource = z.union(
  [
    z.strictObject({
      env: z.string().regex(/^[A-Za-z_]\w*$/, 'expected the name of a variable such as API_TOKEN'),
    }),
    z.strictObject({ file: z.string().min(1) }),
  ],
  { error: 'expected env: NAME_OF_VARIABLE or file: /path, never the secret itself' },
)

/** Whether a server can listen there: a host and a port, such as 0.0.0.0:5337. */
export function isListenAddress(text: string): boolean {
  return listen.safeParse(text).success
}

/** Whether an address has no part that can hold a secret. Such an address may be printed and stored. */
function isPlainAddress(address: string): boolean {
  const { username, password, search, hash } = URL.parse(address) ?? {}
  return [username, password, search, hash].every((part) => !part)
}

function describeRecipient(input: unknown): string {
  return typeof input === 'string' && /^AGE-SECRET-KEY/i.test(input)
    ? 'expected an age recipient, and this is a private key; age-keygen -y prints its recipient'
    : 'expected an age recipient as age-keygen prints it'
}
