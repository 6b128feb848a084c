import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))

/** An import that remains once types are stripped, with the name of its package. */
const packageImport =
  /(?:^(?:import|export) (?!type )[^'"]*?from |import\()'((?:@[^/']+\/)?[^./'][^/']*)/gms

/** The packages that the files of src import at run time. */
async function importedPackages(): Promise<Set<string>> {
  const files = await readdir(join(root, 'src'), { recursive: true })
  const texts = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFile(join(root, 'src', file), 'utf8'))
  const names = (await Promise.all(texts)).flatMap((text) =>
    [...text.matchAll(packageImport)].map(([, name = '']) => name),
  )
  return new Set(names.filter((name) => !name.startsWith('node:')))
}

describe('package.json', () => {
  it('lists under dependencies what src imports, and nothing else', async () => {
    const imported = [...(await importedPackages())].toSorted()
    expect(Object.keys(manifest.dependencies).toSorted()).toEqual(imported)
  })

  it('agrees with the lock file', () => {
    const { dependencies, devDependencies, version } = lock.packages['']
    expect({ dependencies, devDependencies, version }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      version: manifest.version,
    })
  })

  it("has the version of the image's label", async () => {
    const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
    expect(dockerfile).toMatch(`ARG VERSION=${manifest.version}\n`)
  })

  it('has a lock file without addresses of a registry', () => {
    expect(JSON.stringify(lock)).not.toContain('"resolved"')
  })
})
