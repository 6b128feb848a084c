import { execFileSync } from 'node:child_process'
import type { Plugin } from 'rolldown'
import { type BundledPackage, bundledPackages } from './packages.ts'

/** The members of a CycloneDX document that are read or replaced here. */
interface Sbom {
  readonly serialNumber?: string
  readonly metadata: {
    readonly timestamp?: string
    readonly component: { readonly 'bom-ref': string }
  }
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * Writes a software bill of materials (CycloneDX) beside the bundle, at `sbom.cdx.json`.
 *
 * It lists the packages in the bundle, not all that npm installs: the bundler leaves out what
 * nothing uses. The same bundle has the same document, so it holds no serial number and no time.
 */
export function writeSbom(): Plugin {
  return {
    name: 'write-sbom',
    generateBundle(_options, bundle) {
      const sbom = restrictTo(bundledPackages(bundle), readInstalled())
      const source = `${JSON.stringify(sbom, undefined, 2)}\n`
      this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source })
    },
  }
}

/** Everything in the lock file. `--omit dev` also omits what both need, such as undici. */
function readInstalled(): Sbom {
  const format = ['--sbom-format=cyclonedx', '--sbom-type=application']
  const options = [...format, '--package-lock-only', '--include=dev']
  return JSON.parse(execFileSync('npm', ['sbom', ...options], { encoding: 'utf8', stdio: 'pipe' }))
}

function restrictTo(packages: readonly BundledPackage[], sbom: Sbom): object {
  const { serialNumber, metadata, components, dependencies, ...rest } = sbom
  const { timestamp, component, ...stable } = metadata
  const root = component['bom-ref']
  const bundled = new Set(packages.map(({ name, version }) => `${name}@${version}`))
  const listed = components.filter((one) => bundled.has(one['bom-ref']))
  if (listed.length < bundled.size) {
    throw new Error('Cannot write the SBOM: node_modules and package-lock.json differ; run npm ci')
  }
  return {
    ...rest,
    // npm names the project after its folder.
    metadata: {
      ...stable,
      lifecycles: [{ phase: 'build' }],
      component: { ...component, name: root.replace(/@[^@]*$/, '') },
    },
    components: listed,
    dependencies: dependencies
      .filter(({ ref }) => ref === root || bundled.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => bundled.has(to)) })),
  }
}
