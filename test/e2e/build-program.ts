import { copyFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type InputOptions, rolldown } from 'rolldown'
import { embedScript } from '../../build/embed-script.ts'
import { program } from '../../rolldown.config.ts'
import { checkout } from '../documentation/blocks.ts'

/**
 * Bundles the program as the build does, but for the licenses and the SBOM. The folder is there once
 * it is complete.
 */
export async function buildProgram(folder: string): Promise<void> {
  const { output, ...options } = program
  const input: InputOptions = {
    ...options,
    cwd: checkout,
    input: { main: 'build/main.ts' },
    plugins: [embedScript()],
  }
  await using bundle = await rolldown(input)
  const dir = `${folder}.unfinished`
  await bundle.write({ ...output, dir })
  // It says the version.
  await copyFile(join(checkout, 'package.json'), join(dir, 'package.json'))
  await rename(dir, folder)
}
