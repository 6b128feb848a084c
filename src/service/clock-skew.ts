/**
 * How far the service's clock is ahead of this machine's, in milliseconds, by the headers of a new
 * answer. Undefined without a `Date` header in the form of RFC 9110. Adds the `Age` of an answer from a
 * cache to its `Date`.
 */
export function clockSkewOf(
  header: (name: string) => string | undefined,
  now: Date,
): number | undefined {
  const text = header('date')?.trim()
  const date = new Date(text ?? '')
  // JavaScript also parses texts that are no HTTP dates, such as `0` as the year 2000.
  if (Number.isNaN(date.getTime()) || date.toUTCString() !== text) return undefined
  const age = /^\d{1,10}$/.test(header('age') ?? '') ? Number(header('age')) : 0
  return date.getTime() + age * 1000 - now.getTime()
}
