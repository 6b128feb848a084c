import { glob, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVirtualFileSystem } from 'typescript/unstable/fs'
import { describe, expect, it } from 'vitest'
import { findEarlyReturns } from './early-returns.ts'
import { type Import, readImports } from './imports.ts'

const root = fileURLToPath(new URL('../src/', import.meta.url))

/**
 * Which part may import which. A part is a folder of src or a file beside them. An arrow that is
 * missing here is a decision, and so is one that nobody uses.
 */
const arrows: Record<string, readonly string[]> = {
  main: ['cli', 'errors'],
  cli: [
    'account-id',
    'accounts',
    'archive',
    'clean-text',
    'config',
    'copy',
    'datafile',
    'errors',
    'exporter',
    'http',
    'local-files',
    'log',
    'objects',
    'open',
    'proofs',
    'report',
    'restore',
    'run',
    'sandbox',
    'store port',
    'version',
    'web',
    'wording',
    'worker',
  ],
  web: [
    'accounts',
    'account-id',
    'archive',
    'clean-text',
    'errors',
    'log',
    'objects',
    'order',
    'proofs',
    'restore',
    'run',
    'store port',
    'wording',
  ],
  report: [
    'archive',
    'config',
    'errors',
    'log',
    'proofs',
    'run',
    'store port',
    'version',
    'wording',
  ],
  exporter: ['archive', 'config', 'errors', 'log', 'open', 'proofs', 'run', 'worker'],
  worker: ['archive', 'config', 'errors', 'log', 'open', 'proofs', 'run', 'store port'],
  run: [
    'account-id',
    'archive',
    'clean-text',
    'config',
    'copy',
    'errors',
    'http',
    'local-files',
    'log',
    'objects',
    'open',
    'restore',
    'store',
    'store port',
    'version',
    'wording',
  ],
  open: [
    'accounts',
    'archive',
    'config',
    'datafile',
    'errors',
    'export',
    'log',
    'service',
    'store',
    'store port',
  ],
  restore: [
    'archive',
    'clean-text',
    'errors',
    'export',
    'local-files',
    'objects',
    'order',
    'parse-json',
    'reported-error',
    'store port',
    'wording',
  ],
  copy: ['archive', 'datafile', 'order', 'store port'],
  proofs: ['account-id', 'archive', 'errors', 'store port', 'version', 'wording'],
  archive: [
    'account-id',
    'datafile',
    'errors',
    'export',
    'objects',
    'order',
    'store port',
    'version',
  ],
  accounts: ['errors', 'local-files', 'parse-json'],
  sandbox: ['account-id', 'buffers', 'errors', 'export'],
  datafile: ['buffers', 'errors', 'store port'],
  export: ['errors', 'export-limit', 'objects'],
  objects: ['errors', 'order'],
  service: ['errors', 'export-limit', 'http', 'parse-json', 'reported-error'],
  store: [
    'buffers',
    'clean-text',
    'errors',
    'http',
    'local-files',
    'node-version',
    'order',
    'store port',
  ],
  'store port': ['errors'],
  config: [
    'account-id',
    'archive',
    'datafile',
    'errors',
    'export',
    'http',
    'local-files',
    'service',
  ],
  log: ['clean-text', 'config'],
  errors: ['clean-text'],
  http: [],
  'account-id': [],
  buffers: [],
  'clean-text': [],
  'export-limit': [],
  'local-files': [],
  'node-version': [],
  order: [],
  'parse-json': [],
  'reported-error': [],
  version: [],
  wording: [],
}

/** Files of the store that everybody may know: the port, and the error that it throws. */
const storePort = ['store/object-store.ts', 'store/errors.ts']

/** The files whose text the pattern fits, sorted. */
async function filesWith(pattern: RegExp): Promise<string[]> {
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const found = await Promise.all(
    files.map(async (file) => (pattern.test(await readFile(join(root, file), 'utf8')) ? file : [])),
  )
  return found.flat().sort()
}

function partOf(file: string): string {
  if (storePort.includes(file)) return 'store port'
  const [first = ''] = file.split('/')
  return first.replace(/\.ts$/, '')
}

/** Everything that is loaded with a file, before any lazy import. */
function loadedWith(imports: readonly Import[], file: string): Set<string> {
  const loaded = new Set([file])
  for (const one of loaded) {
    for (const { from, to, kind } of imports) {
      if (from === one && kind === 'static') loaded.add(to)
    }
  }
  return loaded
}

/** Files that import each other: what is left once all files that import no other left are gone. */
function circles(all: readonly Import[]): string[] {
  const left = Map.groupBy(all, ({ from }) => from)
  for (let size = -1; size !== left.size; ) {
    size = left.size
    for (const [from, its] of left) if (!its.some(({ to }) => left.has(to))) left.delete(from)
  }
  return [...left.keys()]
}

const imports = await readImports(root)
const ownImports = imports.filter(({ to }) => to.endsWith('.ts'))

describe('the architecture', () => {
  it('finds the imports that it judges', () => {
    expect(imports).toContainEqual({ from: 'main.ts', to: 'cli/run.ts', kind: 'static' })
    expect(imports).toContainEqual({
      from: 'cli/program/archive.ts',
      to: 'cli/verbs/list.ts',
      kind: 'lazy',
    })
    expect(imports).toContainEqual({
      from: 'store/s3/store.ts',
      to: '@aws-sdk/client-s3',
      kind: 'static',
    })
  })

  it('follows the arrows', () => {
    const wrong = ownImports.filter(({ from, to }) => {
      const [source, target] = [partOf(from), partOf(to)]
      return source !== target && !arrows[source]?.includes(target)
    })
    expect(wrong).toEqual([])
  })

  it('uses each arrow', () => {
    const used = new Set(ownImports.map(({ from, to }) => `${partOf(from)} → ${partOf(to)}`))
    const unused = Object.entries(arrows).flatMap(([source, targets]) =>
      targets.map((target) => `${source} → ${target}`).filter((arrow) => !used.has(arrow)),
    )
    expect(unused).toEqual([])
  })

  it('has no files that import each other, not even in a circle', () => {
    expect(circles(ownImports)).toEqual([])
  })

  it('keeps each large package in one place', () => {
    const users = (name: string) => [
      ...new Set(imports.filter(({ to }) => to.startsWith(name)).map(({ from }) => partOf(from))),
    ]
    expect(users('@aws-sdk/')).toEqual(['store'])
    expect(users('undici')).toEqual(['http'])
    expect(users('@smithy/')).toEqual(['store'])
    expect(users('hono').toSorted()).toEqual(['sandbox', 'web'])
    expect(users('diff')).toEqual(['objects'])
    expect(users('age-encryption')).toEqual(['datafile'])
    expect(users('commander')).toEqual(['cli'])
    expect(users('prom-client').toSorted()).toEqual(['exporter', 'run', 'worker'])
  })

  it('exports only what another file names', async () => {
    const project = fileURLToPath(new URL('../', import.meta.url))
    const files = await Array.fromAsync(
      glob('{src,test,bench,build,docs}/**/*.ts', { cwd: project }),
    )
    const texts = await Promise.all(files.map((file) => readFile(join(project, file), 'utf8')))
    const naming = new Map<string, number>()
    for (const word of texts.flatMap((text) => [...new Set(text.match(/\w+/g))])) {
      naming.set(word, (naming.get(word) ?? 0) + 1)
    }
    const declared = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm
    const unused = files.flatMap((file, place) => {
      // The package exports the client, so its users may need every name.
      if (!file.startsWith('src/') || file === 'src/service/client.ts') return []
      const names = [...(texts[place] ?? '').matchAll(declared)].map(([, name = '']) => name)
      return names.filter((name) => naming.get(name) === 1).map((name) => `${file}: ${name}`)
    })
    expect(unused).toEqual([])
  })

  it('reads the environment at one place', async () => {
    expect(await filesWith(/[^`]process\.env/)).toEqual(['main.ts'])
  })

  it('writes to the terminal at one place, which cleans what it writes', async () => {
    expect(await filesWith(/\bstdout\b/)).toEqual(['cli/terminal.ts', 'main.ts'])
    // The log goes to standard error as well, and is cleaned where it begins.
    const naming = ['cli/context.ts', 'cli/terminal.ts', 'main.ts']
    expect(await filesWith(/\bstderr\b/)).toEqual(naming)
    expect(await filesWith(/\bconsole\.|process\.(_rawDebug|emitWarning)/)).toEqual([])
    expect(await filesWith(/\bwriteRaw\b/)).toEqual(['cli/terminal.ts', 'cli/verbs/cat.ts'])
  })

  it('logs and notifies at one place each, which clean what they tell', async () => {
    expect(await filesWith(/import.*\bpino\b.*from 'pino'/)).toEqual(['log.ts'])
    expect(await filesWith(/\bcreateLog\(/)).toEqual(['cli/context.ts', 'log.ts'])
    const posting = imports.filter(({ to }) => to === 'run/post.ts').map(({ from }) => from)
    expect(posting.toSorted()).toEqual(['run/metrics/export.ts', 'run/notify/delivery.ts'])
    expect(await filesWith(/\bcompose(Text|Markup|Json)\(/)).toEqual([
      'run/notify/message.ts',
      'run/notify/receivers.ts',
    ])
  })

  it('loads nothing for --help that it can do without', () => {
    const packages = [...loadedWith(imports, 'main.ts')].filter((file) => !file.endsWith('.ts'))
    const ours = packages.filter((name) => !name.startsWith('node:'))
    expect(ours.toSorted()).toEqual(['commander'])
  })

  it('loads nothing to list a folder that it can do without', () => {
    const loaded = ['main.ts', 'cli/verbs/list.ts', 'store/directory/store.ts'].flatMap((file) => [
      ...loadedWith(imports, file),
    ])
    const needless = ['yaml', 'node-cron', 'pino-pretty', 'age-encryption', 'prom-client']
    for (const heavy of ['@aws-sdk/client-s3', 'undici', 'hono', ...needless]) {
      expect(loaded).not.toContain(heavy)
    }
  })

  it('loads no code of copies and git for a backup that has neither', () => {
    for (const start of ['cli/verbs/backup.ts', 'worker/perform-run.ts']) {
      const loaded = [...loadedWith(imports, start)]
      expect(loaded).toContain('run/follow-up.ts')
      expect(loaded.filter((file) => /^(copy|restore)\/|copy-backups|commit-/.test(file))).toEqual(
        [],
      )
    }
  })
})

describe('a function that returns from inside `using` or `try`', () => {
  it('awaits the promise that it returns', () => {
    expect(findEarlyReturns(fileURLToPath(new URL('../', import.meta.url)))).toEqual([])
  })

  it('is found when it does not', () => {
    const source = `
const load = async () => 1
const maybe = (): Promise<number> | number => 1
async function* many() { yield 1 }
declare const file: AsyncDisposable
export async function awaited() { await using _ = file; return await load() }
export async function before() { { await using _ = file } return load() }
export async function inner() { using _ = { [Symbol.dispose]() {} }; return () => load() }
export async function inCatch() { try { await load() } catch { return load() } }

export async function disposed() { await using _ = file; return load() }
export async function sometimes() { using _ = { [Symbol.dispose]() {} }; return maybe() }
export async function nested() { await using _ = file; if (maybe()) { return load() } }
export async function lazy() { await using _ = file; return many() }
export async function inTry() { try { return load() } finally { await load() } }
`
    const options = { target: 'es2024', lib: ['esnext'], types: [], noEmit: true }
    const files = {
      '/planted/tsconfig.json': JSON.stringify({ compilerOptions: options }),
      '/planted/source.ts': source,
    }
    const found = findEarlyReturns('/planted', createVirtualFileSystem(files))
    expect(found).toEqual([11, 12, 13, 14, 15].map((line) => `source.ts:${line}`))
  })
})
