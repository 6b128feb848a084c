/**
 * The oldest version of Node that dashkeep runs on; `engines` in package.json names it too. Agents
 * know proxies from it on.
 */
const OLDEST_NODE = { major: 24, minor: 5 }

/** What to say on a Node that is too old, given its version such as `20.11.1`; else undefined. */
export function explainOldNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const oldest = OLDEST_NODE
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return undefined
  return `error: Cannot run on Node ${version}: dashkeep needs Node ${oldest.major}.${oldest.minor} or newer\n`
}
