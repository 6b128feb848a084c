import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { writeSbom } from '../../build/sbom.ts'

/** Bundles a small module and returns its SBOM as text. */
async function sbomText(): Promise<string> {
  const input = fileURLToPath(new URL('../../src/cli/print/table.ts', import.meta.url))
  await using bundle = await rolldown({ input, platform: 'node', plugins: [writeSbom()] })
  const { output } = await bundle.generate()
  const asset = output.find(({ fileName }) => fileName === 'sbom.cdx.json')
  return asset !== undefined && 'source' in asset ? String(asset.source) : ''
}

it('writes a CycloneDX document of the packages in the bundle', async () => {
  const text = await sbomText()
  expect(JSON.parse(text)).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'dashkeep', type: 'application' } },
    components: [
      { name: 'fast-string-truncated-width', hashes: [{ alg: 'SHA-512' }] },
      { name: 'fast-string-width', purl: expect.stringMatching(/^pkg:npm\/fast-string-width@/) },
    ],
    dependencies: [
      { ref: expect.stringMatching(/^dashkeep@/), dependsOn: [expect.stringMatching(/-width@/)] },
      { ref: expect.stringMatching(/^fast-string-truncated-width@/), dependsOn: [] },
      { ref: expect.stringMatching(/^fast-string-width@/), dependsOn: [expect.any(String)] },
    ],
  })
  expect(text).not.toMatch(/serialNumber|timestamp|https?:\/\/(?!cyclonedx\.org)/)
  expect(await sbomText()).toBe(text)
})
