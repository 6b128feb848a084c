import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'rolldown'

/** Writes the licences of every package in the bundle beside it, as most of them ask. */
export function collectLicenses(): Plugin {
  return {
    name: 'collect-licenses',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle).flatMap((one) =>
        'moduleIds' in one ? one.moduleIds : [],
      )
      const folders = new Set(files.filter((file) => file.includes('node_modules')).map(packageOf))
      const source = [...folders].map(describe).toSorted().join('\n')
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source })
    },
  }
}

/** The folder of the package that a file belongs to. */
function packageOf(file: string): string {
  const folder = dirname(file)
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && readManifest(folder).name ? folder : packageOf(folder)
}

function describe(folder: string): string {
  const { name, version, license } = readManifest(folder)
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}

function readManifest(folder: string): Record<'name' | 'version' | 'license', string> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
