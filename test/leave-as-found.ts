import { getCACertificates } from 'node:tls'
import { afterAll, expect, vi } from 'vitest'

/** What a test can change for the whole process, and so for the files that come after it. */
function processState() {
  return {
    env: { ...process.env },
    folder: process.cwd(),
    umask: process.umask(),
    authorities: getCACertificates('default').length,
    signalListeners: ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => process.listenerCount(name)),
    hasFakeTimers: vi.isFakeTimers(),
  }
}

const found = processState()

// Runs after the hooks of the file itself.
afterAll(() => {
  expect(processState(), 'the process is as the test file found it').toEqual(found)
})
