import { chmod } from 'node:fs/promises'
import { defineConfig, type Plugin } from 'rolldown'
import { leaveOut } from './build/leave-out.ts'
import { collectLicenses } from './build/licenses.ts'

// By default the AWS SDK comes as CommonJS, whole.
const resolve = { mainFields: ['module', 'main'] }

const unused = leaveOut([
  // No verb is a program of its own.
  { from: /\/commander\//, what: /^node:child_process$/ },
  // Logs go to a stream of ours, neither to a worker nor to a file.
  { from: /\/pino\//, what: /\/transport$|^sonic-boom$|^worker_threads$/ },
])

/** `npm link` puts a symbolic link to the program on the path, which each build writes anew. */
const makeExecutable: Plugin = {
  name: 'make-executable',
  writeBundle: () => chmod('dist/main.js', 0o755),
}

export default defineConfig([
  {
    input: {
      main: 'build/main.ts',
      health: 'build/health.ts',
      'service/client': 'src/service/client.ts',
    },
    platform: 'node',
    resolve,
    plugins: [unused, collectLicenses(), makeExecutable],
    output: { dir: 'dist', cleanDir: true },
  },
  {
    input: { main: 'src/main.ts', run: 'src/cli/run.ts' },
    platform: 'node',
    resolve,
    plugins: [unused, collectLicenses()],
    output: {
      dir: 'dist/program',
      // CommonJS is what the loader runs; Node's own modules load faster from it, too.
      format: 'cjs',
      dynamicImportInCjs: false,
      // One character beyond Latin-1 doubles what a file takes in memory.
      charset: 'ascii',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
    },
  },
])
