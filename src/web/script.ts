import { readFileSync } from 'node:fs'

/** The script of all pages. The build puts its text here. */
export const script = readFileSync(new URL('client/script.js', import.meta.url), 'utf8')
