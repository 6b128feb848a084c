import { chmod } from 'node:fs/promises'
import { defineConfig, type Plugin } from 'rolldown'
import { embedScript } from './build/embed-script.ts'
import { collectLicenses } from './build/licenses.ts'
import { writeSbom } from './build/sbom.ts'

/** `npm link` puts a symbolic link to the program on the path, which each build writes anew. */
const makeExecutable: Plugin = {
  name: 'make-executable',
  writeBundle: () => chmod('dist/main.js', 0o755),
}

export default defineConfig({
  input: {
    main: 'build/main.ts',
    health: 'build/health.ts',
    'service/client': 'src/service/client.ts',
  },
  platform: 'node',
  // By default the AWS SDK comes as CommonJS, whole.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [embedScript(), collectLicenses(), writeSbom(), makeExecutable],
  output: { dir: 'dist', cleanDir: true, chunkFileNames: 'program/[name]-[hash].js' },
})
