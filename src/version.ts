import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** The nearest package.json above, wherever the bundle has put this file. */
const packageFile = findPackageJSON(import.meta.url) ?? ''

/** The version of this dashkeep, as its package names it. */
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
