// Tested by test/e2e/process.test.ts

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** The nearest package.json in a parent folder. The bundle may move this file. */
const packageFile = findPackageJSON(import.meta.url) ?? ''

/** The version of dashkeep, from its package. */
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
