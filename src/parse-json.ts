// Tested by test/restore/folder-source.test.ts

/** Parses a JSON text; undefined when it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
