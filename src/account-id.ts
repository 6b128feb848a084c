// Tested by test/e2e/bad-input.test.ts

/**
 * Reads an account id from a key, a variable or a command line. Returns undefined for any text that is
 * not a safe integer (up to 2^53 - 1) in plain decimal notation, so that each id has exactly one folder
 * in the archive.
 */
export function readAccountId(text: string): number | undefined {
  const id = Number(text)
  return Number.isSafeInteger(id) && String(id) === text ? id : undefined
}
