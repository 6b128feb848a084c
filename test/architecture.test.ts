import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../src/', import.meta.url))

/** Who may import whom. An arrow that is missing here is a decision. */
const arrows: Record<string, readonly string[]> = {
  main: ['cli', 'errors'],
  cli: [
    'account-id',
    'accounts',
    'app',
    'clean-text',
    'config',
    'errors',
    'exporter',
    'http',
    'log',
    'local-files',
    'notify',
    'objects',
    'owners',
    'reporting',
    'restore',
    'sandbox',
    'shard',
    'snapshot',
    'store port',
    'version',
    'wording',
    'worker',
  ],
  worker: [
    'app',
    'config',
    'errors',
    'log',
    'metrics',
    'reporting',
    'snapshot',
    'store port',
    'version',
  ],
  exporter: ['app', 'config', 'errors', 'log', 'metrics', 'snapshot', 'version', 'worker'],
  reporting: [
    'app',
    'config',
    'errors',
    'log',
    'metrics',
    'notify',
    'outcome',
    'snapshot',
    'store port',
  ],
  notify: ['clean-text', 'config', 'errors', 'http', 'log', 'outcome', 'post', 'shard', 'wording'],
  metrics: ['http', 'local-files', 'outcome', 'post', 'snapshot'],
  outcome: [],
  owners: ['config', 'errors', 'snapshot'],
  post: ['errors', 'http', 'version'],
  wording: [],
  app: [
    'owners',
    'accounts',
    'config',
    'errors',
    'log',
    'objects',
    'service',
    'snapshot',
    'store',
    'store port',
  ],
  config: ['account-id', 'errors', 'http', 'local-files', 'shard', 'snapshot'],
  log: ['clean-text', 'config'],
  snapshot: ['account-id', 'buffers', 'errors', 'objects', 'store port', 'version'],
  objects: ['errors'],
  restore: ['errors', 'local-files', 'objects', 'reported-error', 'snapshot', 'store port'],
  service: ['errors', 'http', 'reported-error', 'version'],
  accounts: ['errors', 'local-files'],
  store: ['buffers', 'clean-text', 'errors', 'http', 'local-files', 'node-version', 'store port'],
  'store port': ['store'],
  sandbox: ['account-id', 'errors', 'snapshot'],
  'account-id': [],
  buffers: [],
  'clean-text': [],
  errors: ['clean-text'],
  'local-files': [],
  'reported-error': [],
  http: [],
  shard: [],
  version: [],
}

/** Single imports of the arrows above that are all there may be of them. */
const only: Record<string, readonly string[]> = {
  'config → snapshot': ['snapshot/encryption.ts'],
  'exporter → worker': ['worker/clock.ts', 'worker/deadline.ts', 'worker/server.ts'],
  'store port → store': ['store/errors.ts'],
  'sandbox → snapshot': [
    'snapshot/export-scanner.ts',
    'snapshot/hit-members.ts',
    'snapshot/hit-reader.ts',
  ],
}

interface Import {
  readonly from: string
  /** A file of src, or the name of a package. */
  readonly to: string
  readonly kind: 'static' | 'type' | 'lazy'
}

const importPattern =
  /^(?:import|export)\s(type\s)?[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gms

async function readImports(): Promise<Import[]> {
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const found = files.map(async (from) => {
    const text = await readFile(join(root, from), 'utf8')
    return [...text.matchAll(importPattern)].map(([, type, named, bare, lazy]): Import => {
      const target = named ?? bare ?? lazy ?? ''
      const to = target.startsWith('.') ? normalize(join(dirname(from), target)) : target
      return { from, to, kind: lazy ? 'lazy' : type ? 'type' : 'static' }
    })
  })
  return (await Promise.all(found)).flat()
}

/** The files whose text the pattern fits, sorted. */
async function filesWith(pattern: RegExp): Promise<string[]> {
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'))
  const found = await Promise.all(
    files.map(async (file) => (pattern.test(await readFile(join(root, file), 'utf8')) ? file : [])),
  )
  return found.flat().sort()
}

function partOf(file: string): string {
  if (file === 'store/object-store.ts') return 'store port'
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

const imports = await readImports()

describe('the architecture', () => {
  it('finds the imports that it judges', () => {
    expect(imports).toContainEqual({ from: 'main.ts', to: 'cli/run.ts', kind: 'static' })
    expect(imports).toContainEqual({ from: 'cli/program.ts', to: 'cli/list.ts', kind: 'lazy' })
    expect(imports).toContainEqual({
      from: 'store/s3.ts',
      to: '@aws-sdk/client-s3',
      kind: 'static',
    })
  })

  it('has arrows that go one way', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (!to.endsWith('.ts')) return false
      const [source, target] = [partOf(from), partOf(to)]
      const few = only[`${source} → ${target}`]
      if (few !== undefined) return !few.includes(to)
      return source !== target && !arrows[source]?.includes(target)
    })
    expect(wrong).toEqual([])
  })

  it('names no part that is gone', () => {
    const parts = new Set(imports.flatMap(({ from, to }) => [partOf(from), partOf(to)]))
    for (const part of Object.keys(arrows)) expect(parts).toContain(part)
  })

  it('keeps each large package in one place', () => {
    const users = (name: string) => [
      ...new Set(imports.filter(({ to }) => to.startsWith(name)).map(({ from }) => partOf(from))),
    ]
    expect(users('@aws-sdk/')).toEqual(['store'])
    expect(users('undici')).toEqual(['http'])
    expect(users('@smithy/')).toEqual(['store'])
    expect(users('hono')).toEqual(['sandbox'])
    expect(users('age-encryption')).toEqual(['snapshot'])
    expect(users('commander')).toEqual(['cli'])
    expect(users('prom-client').toSorted()).toEqual(['exporter', 'metrics', 'worker'])
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
    expect(await filesWith(/\bwriteRaw\b/)).toEqual(['cli/cat.ts', 'cli/terminal.ts'])
  })

  it('logs and notifies at one place each, which clean what they tell', async () => {
    expect(await filesWith(/import.*\bpino\b.*from 'pino'/)).toEqual(['log.ts'])
    expect(await filesWith(/\bcreateLog\(/)).toEqual(['cli/context.ts', 'log.ts'])
    const posting = imports.filter(({ to }) => to === 'post.ts').map(({ from }) => from)
    expect(posting.toSorted()).toEqual(['metrics/export.ts', 'notify/notifier.ts'])
    expect(await filesWith(/\bcompose(Text|Markup|Json)\(/)).toEqual([
      'notify/message.ts',
      'notify/notifier.ts',
    ])
  })

  it('loads nothing for --help that it can do without', () => {
    const packages = [...loadedWith(imports, 'main.ts')].filter((file) => !file.endsWith('.ts'))
    const ours = packages.filter((name) => !name.startsWith('node:'))
    expect(ours.toSorted()).toEqual(['commander'])
  })

  it('loads nothing to list a folder that it can do without', () => {
    const loaded = ['main.ts', 'cli/list.ts', 'store/directory.ts'].flatMap((file) => [
      ...loadedWith(imports, file),
    ])
    const needless = ['yaml', 'node-cron', 'pino-pretty', 'age-encryption', 'prom-client']
    for (const heavy of ['@aws-sdk/client-s3', 'undici', 'hono', ...needless]) {
      expect(loaded).not.toContain(heavy)
    }
  })
})
