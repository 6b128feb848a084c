import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OutputBundle } from 'rolldown'

/** A package of which the bundle contains at least one file. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** SPDX expression, as the package states it. */
  readonly license: string
  readonly folder: string
}

/** Lists the packages in a bundle, sorted by folder. */
export function bundledPackages(bundle: OutputBundle): BundledPackage[] {
  const files = Object.values(bundle).flatMap((one) => ('moduleIds' in one ? one.moduleIds : []))
  const folders = new Set(files.filter((file) => file.includes('node_modules')).map(folderOf))
  return [...folders].toSorted().map((folder) => ({ ...readManifest(folder), folder }))
}

/** The folder of the package that a file belongs to. */
function folderOf(file: string): string {
  const folder = dirname(file)
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && readManifest(folder).name ? folder : folderOf(folder)
}

function readManifest(folder: string): Omit<BundledPackage, 'folder'> {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { name, version, license }
}
