import { chmod } from 'node:fs/promises'
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown'
import { embedScript } from './build/embed-script.ts'
import { collectLicenses } from './build/licenses.ts'
import { writeSbom } from './build/sbom.ts'

/** `npm link` puts a symbolic link to the program on the path, which each build writes anew. */
const makeExecutable: Plugin = {
  name: 'make-executable',
  writeBundle: () => chmod('dist/main.cjs', 0o755),
}

const common: RolldownOptions = {
  platform: 'node',
  // By default the AWS SDK comes as CommonJS, whole.
  resolve: { mainFields: ['module', 'main'] },
}

const library: RolldownOptions = {
  ...common,
  input: { 'service/client': 'src/service/client.ts' },
  output: { dir: 'dist', cleanDir: true },
}

/** The program comes as CommonJS, which Node loads in less time than ES modules. */
export const program = {
  ...common,
  input: { main: 'build/main.ts', health: 'build/health.ts' },
  plugins: [embedScript(), collectLicenses(), writeSbom(), makeExecutable],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'program/[name]-[hash].cjs',
    // A single other character can double the memory that Node takes for the source of a file.
    charset: 'ascii',
    comments: false,
    codeSplitting: {
      groups: [
        // All that every verb needs, which would otherwise be fifteen files.
        { name: 'cli', test: /\/src\/cli\/run\.ts$/ },
        // Its modules call each other for every member of a hit. A call to another file takes longer.
        { name: 'export', test: /\/src\/export\// },
      ],
    },
  },
} satisfies RolldownOptions

export default defineConfig([library, program])
