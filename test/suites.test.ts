import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readImports } from './imports.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
/** All but the program itself, which tests start in a process of its own. */
const sources = (await Array.fromAsync(glob('src/**/*.ts', { cwd: root }))).filter(
  (source) => source !== 'src/main.ts',
)
const suites = await Array.fromAsync(glob('test/**/*.test.ts', { cwd: root }))
const importsByFile = await readImportsByFile()

async function readImportsByFile(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = ['src', 'test'].map(async (folder) =>
    (await readImports(join(root, folder))).map(({ from, to }) => ({
      from: join(folder, from),
      to: join(folder, to),
    })),
  )
  const byFile = new Map<string, Set<string>>()
  for (const { from, to } of (await Promise.all(found)).flat()) {
    byFile.set(from, (byFile.get(from) ?? new Set()).add(to))
  }
  return byFile
}

/** Everything that these files import, and what that imports. */
function reachedBy(files: readonly string[]): Set<string> {
  const reached = new Set(files)
  for (const file of reached) {
    for (const imported of importsByFile.get(file) ?? []) reached.add(imported)
  }
  return reached
}

/** The tests of its folder, or the suite that its first line names. */
async function suitesOf(source: string): Promise<string[]> {
  const text = await readFile(`${root}${source}`, 'utf8')
  const [, named] = /^\/\/ Tested by (\S+)$/m.exec(text) ?? []
  if (named !== undefined) return suites.filter((suite) => suite === named)
  const [, part = '', inFolder] = source.split('/')
  if (inFolder !== undefined) return suites.filter((suite) => suite.startsWith(`test/${part}/`))
  return suites.filter((suite) => suite === `test/${part.replace(/\.ts$/, '.test.ts')}`)
}

it('every source file is tested in the folder of the same name, or by the suite that it names', async () => {
  const reachedByPart = new Map<string, Set<string>>()
  const untested: string[] = []
  for (const source of sources) {
    const own = await suitesOf(source)
    const key = own.join()
    const reached = reachedByPart.get(key) ?? reachedBy(own)
    reachedByPart.set(key, reached)
    if (!reached.has(source)) untested.push(source)
  }
  expect(untested).toEqual([])
})
