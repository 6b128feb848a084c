/** The oldest major version of Node that dashkeep runs on; `engines` in package.json names it too. */
const OLDEST_NODE = 24

/** What to say on a Node that is too old, given its version such as `20.11.1`; else undefined. */
export function explainOldNode(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return undefined
  return `error: Cannot run on Node ${version}: dashkeep needs Node ${OLDEST_NODE} or newer\n`
}
