import { afterAll, expect, vi } from 'vitest'

/** What a test can change for the whole process, and so for the files that come after it. */
function processState() {
  return { folder: process.cwd(), umask: process.umask(), hasFakeTimers: vi.isFakeTimers() }
}

const env = { ...process.env }
const found = processState()

// Runs after the hooks of the file itself.
afterAll(() => {
  const names = Object.keys({ ...env, ...process.env })
  // Names alone, since a value may be a secret.
  const changedVariables = names.filter((name) => process.env[name] !== env[name])
  expect(
    { changedVariables, ...processState() },
    'the process is as the test file found it',
  ).toEqual({ changedVariables: [], ...found })
})
