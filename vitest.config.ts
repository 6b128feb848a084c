import { availableParallelism, tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { gatherLeftOut } from './test/left-out.ts'
import { findMemoryFolder } from './test/memory-folder.ts'

// A store flushes every file to disk, which takes half the time of a backup of few objects.
process.env.TMPDIR ??= findMemoryFolder() ?? tmpdir()

const { onConsoleLog, reporter } = gatherLeftOut()

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Much of a test is waiting for a process or a socket.
    maxWorkers: availableParallelism() + 1,
    // Files share a worker: to load everything anew for each of them takes a quarter of all time. No
    // test replaces a module, and `leave-as-found.ts` fails a file that leaves the process changed.
    isolate: false,
    globalSetup: ['test/program-folder.ts'],
    setupFiles: ['test/leave-as-found.ts'],
    onConsoleLog,
    reporters: ['default', reporter],
  },
})
