import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'

/** An import of one file. Paths are relative to the folder that was read. */
export interface Import {
  readonly from: string
  /** A file, or the name of a package. */
  readonly to: string
  readonly kind: 'static' | 'type' | 'lazy'
}

const importPattern =
  /^(?:import|export)\s(type\s)?[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gms

/** Reads the imports of all TypeScript files below a folder. */
export async function readImports(root: string): Promise<Import[]> {
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const found = files.map(async (from) => {
    const text = await readFile(join(root, from), 'utf8')
    return [...text.matchAll(importPattern)].map(([, type, named, bare, lazy]): Import => {
      const target = named ?? bare ?? lazy ?? ''
      const to = target.startsWith('.') ? normalize(join(dirname(from), target)) : target
      const staticKind = type ? 'type' : 'static'
      return { from, to, kind: lazy ? 'lazy' : staticKind }
    })
  })
  return (await Promise.all(found)).flat()
}
