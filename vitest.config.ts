import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Much of a test is waiting for a process or a socket.
    maxWorkers: availableParallelism() + 1,
  },
})
