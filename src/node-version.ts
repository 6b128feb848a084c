/** The oldest major version of Node that dashkeep runs on; `engines` in package.json names it too. */
const OLDEST_NODE = 24

/** The error for a version of Node that is too old, such as `20.11.1`; undefined for others. */
export function explainOldNode(version: string): string | undefined {
  if (isNode(version, { major: OLDEST_NODE, minor: 0 })) return undefined
  return `error: Cannot run on Node ${version}: dashkeep needs Node ${OLDEST_NODE} or newer\n`
}

/** Whether Node's own HTTP agents can use a proxy. Older versions ignore it silently. */
export function hasProxyAgents(version: string): boolean {
  return isNode(version, { major: 24, minor: 5 })
}

/** Whether a version is at least `oldest`. */
function isNode(version: string, oldest: { major: number; minor: number }): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor)
}
