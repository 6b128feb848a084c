import { readFileSync } from 'node:fs'

const packageFile = new URL('../package.json', import.meta.url)

/** The version of this dashkeep, as its package names it. */
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
