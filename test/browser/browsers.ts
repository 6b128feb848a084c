import { leaveOut } from '../left-out.ts'

/** The programs of the browsers, such as `/usr/bin/chromium`; undefined when none is named. */
export const browsers = {
  chromium: process.env.DASHKEEP_TEST_CHROMIUM,
  firefox: process.env.DASHKEEP_TEST_FIREFOX,
} as const

/** Says that the pages are not tested in a browser, and how to include it. */
export function reportLeftOut(name: keyof typeof browsers): void {
  if (browsers[name] !== undefined) return
  const variable = `DASHKEEP_TEST_${name.toUpperCase()}`
  leaveOut(`the pages in ${name}`, `by naming its program in ${variable}`)
}
