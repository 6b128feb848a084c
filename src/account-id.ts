/**
 * Reads an account id as it stands in keys, variables and command lines. Returns undefined for any
 * text that is not a safe integer (up to 2^53 - 1) in its only plain spelling, so that an id and
 * its folder in the archive always lead to each other.
 */
export function readAccountId(text: string): number | undefined {
  const id = Number(text)
  return Number.isSafeInteger(id) && String(id) === text ? id : undefined
}
