/**
 * How far the service's clock is ahead of this machine's, in milliseconds, by the headers of an
 * answer that has just arrived. Undefined without a `Date` of the form that RFC 9110 prescribes.
 * The `Age` of an answer that comes from a cache is added to its `Date`.
 */
export function clockSkewOf(
  header: (name: string) => string | undefined,
  now: Date,
): number | undefined {
  const text = header('date')?.trim()
  const date = new Date(text ?? '')
  // `Date` reads much that is not a date of HTTP, such as `0` as the year 2000.
  if (Number.isNaN(date.getTime()) || date.toUTCString() !== text) return undefined
  const age = /^\d{1,10}$/.test(header('age') ?? '') ? Number(header('age')) : 0
  return date.getTime() + age * 1000 - now.getTime()
}
