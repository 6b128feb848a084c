/** Checks what the documentation says: links, anchors, examples of JSON, YAML and TypeScript, messages. */

import { access, glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findProblems } from '../../src/config/load.ts'
import { readMapFile } from '../../src/config/map-file.ts'
import { startTrial } from '../e2e/trial.ts'
import { checkout, type Fence, fences, listPages, readPage } from './blocks.ts'
import { runShell } from './shell.ts'

const pages = await listPages()
const blocks = await fences()

function blocksOf(...languages: string[]): Fence[] {
  return blocks.filter(({ language }) => languages.includes(language))
}

/** The text of a page without its fenced blocks. */
async function proseOf(page: string): Promise<string> {
  return (await readPage(page)).replace(/^```.*?^```$/gms, '')
}

/** The anchors of a page, made from its headings as GitHub does. */
async function anchorsOf(page: string): Promise<string[]> {
  const headings = (await proseOf(page)).matchAll(/^#+ (.*)$/gm)
  const seen = new Map<string, number>()
  return [...headings].map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  })
}

async function isBroken(page: string, target: string): Promise<boolean> {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  const isThere = await access(join(checkout, file)).then(
    () => true,
    () => false,
  )
  if (!isThere || anchor === undefined) return !isThere
  return !(await anchorsOf(file)).includes(anchor)
}

describe('the pages of the documentation', () => {
  it.each(pages)('have links and anchors that lead somewhere: %s', async (page) => {
    const links = [...(await proseOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    )
    const local = links.filter((link) => !/^https:\/\//.test(link))
    const checked = local.map(async (link) => ((await isBroken(page, link)) ? [link] : []))
    expect((await Promise.all(checked)).flat()).toEqual([])
  })

  it('can all be reached from the README', async () => {
    const readme = await proseOf('README.md')
    const others = pages.filter((page) => page !== 'README.md' && !page.startsWith('src/'))
    expect(others.filter((page) => !readme.includes(`](${page})`))).toEqual([])
  })

  it('begin with a README of at most 2,500 words', async () => {
    const words = (await readPage('README.md')).split(/\s+/).filter((word) => word !== '')
    expect(words.length).toBeLessThanOrEqual(2500)
  })

  it.each(['CONTRIBUTING.md', 'docs/decisions.md'])('name files that exist: %s', async (page) => {
    const named = (await readPage(page)).matchAll(
      /(?<=`|^)(src|test|bench|k8s)\/[\w./-]*(?=`|\s)/gm,
    )
    const checked = [...named].map(async ([path]) => ((await isBroken('.', path)) ? [path] : []))
    expect((await Promise.all(checked)).flat()).toEqual([])
  })

  it('have blocks in known languages only', () => {
    const known = ['', 'sh', 'json', 'yaml', 'toml', 'ini', 'ts']
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([])
  })
})

describe('the examples in the documentation', () => {
  it.each(blocksOf('json'))('are JSON: $place', ({ text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })

  // The YAML of docs/kubernetes.md and docs/monitoring.md is tried by test/k8s/documented.test.ts.
  const configurations = blocksOf('yaml').filter(
    ({ place }) => !/^docs\/(kubernetes|monitoring|promotion)\.md/.test(place),
  )
  it.each(configurations)('are a valid configuration: $place', async ({ text }) => {
    const document = { service: { baseUrl: 'https://api.example.com' }, ...parse(text) }
    expect((await findProblems(document, (place) => place)).problems).toEqual([])
  })

  const maps = blocksOf('yaml').filter(({ place }) => place.startsWith('docs/promotion.md'))
  it.each(maps)('are a valid map: $place', async ({ text }) => {
    await using trial = await startTrial()
    const read = await readMapFile(await trial.write('map.yaml', text), ['team-a', 'team-b'])
    expect(read('team-a').indexPatterns.get('shop-*')).toMatchObject({ id: 'team-shop-*' })
  })

  it.each(blocksOf('ts'))('are programs that work: $place', async ({ text }) => {
    await using trial = await startTrial({ form: 'deployed' })
    const client = pathToFileURL(join(checkout, 'src/service/client.ts')).href
    const program = text
      .replace("'dashkeep/service'", `'${client}'`)
      .replace('https://api.example.com', `${trial.env.DASHKEEP_BASE_URL}`)
    const path = await trial.write('program.mts', program)
    const { exitCode, output } = await runShell(`'${process.execPath}' '${path}'`, {
      env: { API_TOKEN: `${trial.env.DASHKEEP_API_TOKEN}` },
      folder: dirname(path),
      signal: AbortSignal.timeout(20_000),
    })
    expect(exitCode, output).toBe(0)
  })
})

describe('docs/troubleshooting.md', () => {
  it('quotes messages that occur in the source', async () => {
    const files = await Array.fromAsync(glob('src/**/*.ts', { cwd: checkout }))
    const texts = files.map((file) => readFile(join(checkout, file), 'utf8'))
    const lines = (await Promise.all(texts)).join('\n').replaceAll("\\'", "'").split('\n')
    const quoted = (await proseOf('docs/troubleshooting.md')).matchAll(/^\| `([^`]+)` \|/gm)
    const messages = [...quoted].map(([, message = '']) => message)
    expect(messages.length).toBeGreaterThan(100)
    const unknown = messages.filter((message) => {
      const pattern = patternOf(message)
      return !lines.some((line) => pattern.test(line))
    })
    expect(unknown).toEqual([])
  })
})

/** Matches a message in the source, where each `…` is an expression or a part of the text. */
function patternOf(message: string): RegExp {
  return new RegExp(message.split('…').map(RegExp.escape).join('.*'))
}
