import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { createExportScanner } from '../../src/export/export-scanner.ts'
import { parseLossless } from '../../src/objects/lossless-json.ts'
import { sampleAccount } from '../../src/sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { jsonLines } from '../e2e/run-dashkeep.ts'
import { startTrial, type Trial, types } from '../e2e/trial.ts'
import { corpus, reportLeftOut } from './corpus.ts'

if (corpus === '') reportLeftOut('restoring 25 accounts of real saved objects')

const names = corpus && readdirSync(corpus).filter((name) => /^account-\d\d$/.test(name))
const accounts = [...names].map((name, place) => ({ name, accountId: 1001 + place, token: name }))

/** The 25 accounts in an archive. */
async function backUpAll(changes: Record<string, string> = {}) {
  const trial = await startTrial({
    accounts: accounts.map(({ name, accountId, token }) => ({
      ...{ accountId, accountName: name, apiTokens: [token] },
      objects: { folder: join(corpus, name) },
    })),
  })
  const config = await trial.write('dashkeep.yaml', {
    accounts: accounts.map(({ name, accountId }) => ({
      ...{ name, accountId },
      token: { env: `TOKEN_${accountId}` },
    })),
    limits: { retryBaseMs: 1 },
  })
  const env = {
    ...Object.fromEntries(accounts.map(({ accountId, token }) => [`TOKEN_${accountId}`, token])),
    ...{ DASHKEEP_CONFIG: config, DASHKEEP_API_TOKEN: undefined, ...changes },
  }
  const run: Trial['run'] = async (args, others) => {
    const finished = await trial.run(args, { ...env, ...others })
    expect(finished.exitCode, finished.stderr + finished.stdout).toBe(0)
    return finished
  }
  await run(['backup'])
  return { trial, run }
}

/** The hits of a document in their own bytes, by `_id`. */
function hitsOf(document: Uint8Array): Map<string, string> {
  const hits = new Map<string, string>()
  const scanner = createExportScanner(({ bytes }) => {
    const text = Buffer.from(bytes).toString()
    hits.set((JSON.parse(text) as { _id: string })._id, text)
  })
  scanner.feed(document)
  scanner.end()
  return hits
}

/** Every account of the corpus, empty, in a service of the deployed form. */
function startEmpty(): Promise<Sandbox> {
  return startSandbox({
    form: 'deployed',
    accounts: accounts.map(({ name, accountId, token }) => ({
      ...sampleAccount(),
      ...{ accountId, accountName: name, apiTokens: [token], subAccounts: [] },
      objects: { documents: {} },
    })),
  })
}

describe.skipIf(corpus === '')('restoring 25 accounts of real saved objects', () => {
  it('brings every object back byte for byte, and none besides', async () => {
    const { trial, run } = await backUpAll()
    await using _ = trial
    await using sandbox = await startEmpty()
    const elsewhere = { DASHKEEP_BASE_URL: sandbox.url, DASHKEEP_PATH_PREFIX: sandbox.pathPrefix }
    for (const { name, accountId } of accounts) {
      const args = [
        'restore',
        '--account',
        String(accountId),
        '--to-service',
        '--any-version',
        '-y',
      ]
      await run(args, elsewhere)
      for (const type of types) {
        const expected = hitsOf(await readFile(join(corpus, name, `${type}.json`)))
        expect(hitsOf(sandbox.objects(accountId, type)), `${type} of ${name}`).toEqual(expected)
      }
    }
  }, 300_000)

  it.each([
    ['in the clear', async () => ({})],
    [
      'encrypted',
      async () => {
        const identity = await generateIdentity()
        const recipient = await identityToRecipient(identity)
        return { DASHKEEP_RECIPIENTS: recipient, DASHKEEP_IDENTITY: identity }
      },
    ],
  ])(
    'is proven by a drill, %s',
    async (_how, makeKeys) => {
      const { trial, run } = await backUpAll(await makeKeys())
      await using _ = trial
      const { stdout } = await run(['restore', '--drill', '--json'])
      const drilled = (JSON.parse(stdout) as { accounts: { objects: number }[] }).accounts
      expect(drilled).toMatchObject(
        accounts.map(({ accountId }) => ({ accountId, result: 'restored', differing: [] })),
      )
      expect(drilled.reduce((sum, { objects }) => sum + objects, 0)).toBe(3240)
    },
    300_000,
  )

  it('goes into files for git and back', async () => {
    const { trial, run } = await backUpAll()
    await using _ = trial
    for (const { name, accountId } of accounts) {
      const [opened, back] = [join(trial.folder, name), join(trial.folder, `${name}-back`)]
      await run(['restore', '--account', String(accountId), '--pretty', opened])
      await run(['restore', '--from', opened, '--to', back])
      for (const type of types) {
        const expected = hitsOf(await readFile(join(corpus, name, `${type}.json`)))
        const found = hitsOf(await readFile(join(back, `${type}.json`)))
        expect([...found].map(stable).sort()).toEqual([...expected].map(stable).sort())
      }
    }
  }, 300_000)

  it('goes into NDJSON that names everything an import asks for', async () => {
    const { trial, run } = await backUpAll()
    await using _ = trial
    for (const { name, accountId } of accounts) {
      const file = join(trial.folder, `${name}.ndjson`)
      const args = ['restore', '--account', String(accountId), '--ndjson', file, '--json']
      const { stdout } = await run(args)
      const text = await readFile(file, 'utf8')
      const lines = jsonLines(text) as unknown as Line[]
      const sources = await Promise.all(
        types.map(async (type) => hitsOf(await readFile(join(corpus, name, `${type}.json`)))),
      )
      const hits = new Map(sources.flatMap((map) => [...map]))
      expect(lines.map(({ type, id }) => `${type}:${id}`)).toEqual([...hits.keys()])
      for (const [place, { id, type, attributes }] of lines.entries()) {
        const source = JSON.parse(hits.get(`${type}:${id}`) as string)._source
        expect(attributes).toEqual(source[type])
        const exact = (value: string) => parseLossless(value) as Map<string, unknown>
        const hit = exact(hits.get(`${type}:${id}`) as string).get('_source') as Map<
          string,
          unknown
        >
        expect(exact(text.split('\n')[place] as string).get('attributes')).toEqual(hit.get(type))
      }
      checkReferences(lines, JSON.parse(stdout))
    }
  }, 300_000)
})

interface Line {
  readonly id: string
  readonly type: string
  readonly attributes: Record<string, unknown>
  readonly references: { name: string; type: string; id: string }[]
}

interface Listed {
  readonly type: string
  readonly objectId: string
}

/** Every reference resolves within the file or is listed, and every old-style id has become one. */
function checkReferences(
  lines: readonly Line[],
  listed: { missing: Listed[]; indexPatterns: Listed[]; others: Listed[] },
): void {
  const { missing, indexPatterns, others } = listed
  const known = new Set([
    ...lines.map(({ type, id }) => `${type}:${id}`),
    ...[...missing, ...indexPatterns, ...others].map(({ type, objectId }) => `${type}:${objectId}`),
  ])
  for (const { id, type, attributes, references } of lines) {
    for (const reference of references) {
      expect(known).toContain(`${reference.type}:${reference.id}`)
      expect(Object.keys(reference).sort()).toEqual(['id', 'name', 'type'])
    }
    expect(new Set(references.map(({ name }) => name)).size).toBe(references.length)
    const pointed = new Set(references.map((reference) => `${reference.type}:${reference.id}`))
    for (const wanted of oldStyleIds(type, attributes)) expect(pointed, id).toContain(wanted)
  }
}

/** What the attributes point to by ids of their own, read without dashkeep. */
function oldStyleIds(type: string, attributes: Record<string, unknown>): string[] {
  const parse = (text: unknown) => {
    try {
      return JSON.parse(String(text))
    } catch {
      return undefined
    }
  }
  const ids: string[] = []
  if (type === 'dashboard') {
    for (const panel of parse(attributes.panelsJSON) ?? []) {
      if (panel.id && panel.type) ids.push(`${panel.type}:${panel.id}`)
    }
  }
  if (attributes.savedSearchId) ids.push(`search:${attributes.savedSearchId}`)
  const meta = attributes.kibanaSavedObjectMeta as { searchSourceJSON?: unknown } | undefined
  const source = parse(meta?.searchSourceJSON)
  if (source?.index) ids.push(`index-pattern:${source.index}`)
  return ids
}

/** What an export says besides the object: its index and score. */
function stable([, hit]: [string, string]): string {
  const { _index, _score, ...others } = JSON.parse(hit)
  return JSON.stringify(others)
}
