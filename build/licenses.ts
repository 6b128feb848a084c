import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'
import { type BundledPackage, bundledPackages } from './packages.ts'

/** Writes the licences of every package in the bundle beside it, as most of them ask. */
export function collectLicenses(): Plugin {
  return {
    name: 'collect-licenses',
    generateBundle(_options, bundle) {
      const source = bundledPackages(bundle).map(describe).toSorted().join('\n')
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source })
    },
  }
}

function describe({ name, version, license, folder }: BundledPackage): string {
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${name} ${version} (${license})`, ...texts, ''].join('\n\n')
}
