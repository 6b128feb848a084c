// Tested by test/e2e/git-attributes.test.ts

import { DashkeepError } from '../../errors.ts'
import type { Git } from './git.ts'

/** Where a folder is in its repository. `prefix` is its path from the root, with a final slash, or empty. */
interface Location {
  readonly root: string
  readonly prefix: string
  readonly path: string
}

/**
 * Throws a `usage` error when git would commit other bytes of a file than the file has. The attributes
 * `filter`, `ident` and `working-tree-encoding` do that (git-scm.com/docs/gitattributes).
 */
export async function refuseConverted(
  git: Git,
  { root, prefix, path }: Location,
  names: readonly string[],
): Promise<void> {
  const input = names.map((name) => `${prefix}${name}\n`).join('')
  // Git reads the names from the root in any folder. Without -w, it stores nothing.
  const hashAll = async (...options: string[]) => {
    const output = await git.run(['hash-object', ...options, '--stdin-paths'], input)
    return output.split('\n')
  }
  const [plain, converted] = [await hashAll('--no-filters'), await hashAll()]
  const other = names.find((_name, index) => plain[index] !== converted[index])
  if (other === undefined) return
  throw new DashkeepError(
    `Cannot commit to ${path}: a git attribute changes what is committed of ${other}`,
    {
      kind: 'usage',
      hint: `\`git -C ${root} check-attr --all ${prefix}${other}\` shows the attribute; the line \`* !filter !ident !working-tree-encoding\` in ${path}/.gitattributes switches it off`,
    },
  )
}
