import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import type { Environment } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { configSchema } from '../../src/config/schema.ts'
import { runDashkeep } from '../e2e/run-dashkeep.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-print-'))
  await mkdir(join(folder, 'elsewhere'))
})
afterAll(() => rm(folder, { recursive: true }))

const recipients = await Promise.all(
  [1, 2].map(async () => identityToRecipient(await generateIdentity())),
)

const url = fc.constantFrom('https://api.example.com', 'http://127.0.0.1:8080/some/path')
const prefix = fc.constantFrom('', '/v1', '/a/b')
const count = fc.integer({ min: 1, max: 1_000_000 })
const duration = fc.constantFrom('0s', '90m', '1d12h', '1w', '3h3h')
const someTime = fc.constantFrom('90s', '1d12h', '20d')
/** Never in a store. */
const historyFolder = fc.constantFrom('/run/history', './x y', 'folder/ü:#', '~/history')
const path = fc.constantFrom('/run/secrets/x', './x y', 'folder/ü:#', '~/x')
const secret = fc.oneof(
  fc.record({ env: fc.constantFrom('TOKEN', 'DASHKEEP_API_TOKEN', 'lower_case') }),
  fc.record({ file: path }),
)
const accountId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const optional = <Fields extends Record<string, fc.Arbitrary<unknown>>>(fields: Fields) =>
  fc.record(fields, { requiredKeys: [] })
const account = { baseUrl: url, pathPrefix: prefix, accountId }
const flag = fc.boolean()

/** What a bucket can be reached with. */
const bucket = {
  endpoint: url,
  region: fc.constant('eu-central-1'),
  pathStyle: flag,
  caBundle: path,
  tags: flag,
  lock: fc.record({
    mode: fc.constantFrom('governance', 'compliance'),
    duration: someTime,
  }),
  encryption: fc.record(
    { mode: fc.constant('sse-kms'), keyId: fc.constant('alias/x') },
    { requiredKeys: ['mode'] },
  ),
  profile: fc.constant('offsite'),
}

/** Whether two texts have a word in common, such as the name or the address of a copy. */
function sharesWord(one: string, other: string): boolean {
  const [name, address] = other.split(' ')
  return one.split(' ').some((word) => word === name || word === address)
}

/** Every setting that a file can hold. */
const document = fc.record(
  {
    service: optional({ baseUrl: url, pathPrefix: prefix, importPath: prefix }),
    accounts: fc.uniqueArray(
      fc.record(
        {
          name: fc.stringMatching(/^\w[\w .-]{0,20}$/),
          token: secret,
          include: fc.constant(['sub-accounts']),
          ...account,
        },
        { requiredKeys: ['name', 'token', 'baseUrl'] },
      ),
      { minLength: 1, maxLength: 3, selector: ({ name }) => name },
    ),
    management: fc.record({ token: secret, ...account }, { requiredKeys: ['token', 'baseUrl'] }),
    store: fc.oneof(
      optional({
        url: fc.constantFrom('s3://bucket', 's3://bucket/some/prefix'),
        ...bucket,
      }),
      fc.record({ url: fc.constantFrom('file:///var/backups', './a b', '../%41?#', '~/x') }),
    ),
    copies: fc.uniqueArray(
      fc.record(
        {
          name: fc.stringMatching(/^\w{1,20}$/),
          url: fc.stringMatching(/^s3:\/\/copy-[a-z]{1,8}$/),
          newerOnly: flag,
          deadline: fc.constantFrom('30m', '45s', '2h'),
          ...bucket,
        },
        { requiredKeys: ['name', 'url'] },
      ),
      { maxLength: 2, selector: ({ name, url }) => `${name} ${url}`, comparator: sharesWord },
    ),
    git: fc.record(
      { folder: historyFolder, push: flag, deadline: fc.constantFrom('30m', '45s') },
      { requiredKeys: ['folder'] },
    ),
    types: fc.uniqueArray(fc.constantFrom('search', 'dashboard', 'query', 'canvas'), {
      minLength: 1,
    }),
    compression: fc.constantFrom('zstd', 'gzip', 'none'),
    encryption: fc.oneof(
      fc.record(
        { recipients: fc.constant(recipients), identity: secret },
        { requiredKeys: ['recipients'] },
      ),
      fc.record({ passphrase: secret }),
    ),
    guard: optional({ maxFall: fc.double({ min: 0, max: 1, noNaN: true }), window: duration }),
    retention: optional({
      ...{ last: count, hourly: count, daily: count, weekly: count, monthly: count },
      ...{ yearly: count, within: duration },
    }),
    schedule: fc.record(
      {
        cron: fc.constantFrom('15 3 * * *', '@daily', '0 3 L * *'),
        timeZone: fc.constantFrom('Europe/Berlin', 'UTC'),
        jitter: duration,
        deadline: someTime,
        pruneAfter: flag,
      },
      { requiredKeys: ['cron'] },
    ),
    worker: optional({
      listen: fc.constantFrom(false, '127.0.0.1:0', '[::1]:9090'),
      grace: duration,
    }),
    metrics: optional({
      textfile: fc.constantFrom('/var/x.prom', 'x.prom'),
      pushgateway: url,
    }),
    notifications: fc.array(
      fc.oneof(
        fc.record(
          {
            kind: fc.constantFrom('webhook', 'slack'),
            url: secret,
            on: fc.constant(['failure', 'change']),
          },
          { requiredKeys: ['kind', 'url'] },
        ),
        fc.record(
          { kind: fc.constant('ping'), url: secret, exitStatus: flag },
          { requiredKeys: ['kind', 'url'] },
        ),
      ),
      { maxLength: 2 },
    ),
    limits: optional(Object.fromEntries(membersOf('limits').map((name) => [name, count]))),
    logLevel: fc.constantFrom('debug', 'silent'),
  },
  { requiredKeys: [] },
)

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly oneOf?: readonly JsonSchema[]
}

function membersOf(...places: string[]): string[] {
  let schema: JsonSchema | undefined = configSchema() as JsonSchema
  for (const place of places) schema = schema?.properties?.[place]
  return Object.keys(schema?.properties ?? {})
}

/** Every place in a document or in the schema, list entries as `*`. */
function placesIn(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => placesIn(one, `${place}.*`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [
    `${place}.${key}`,
    ...placesIn(one, `${place}.${key}`),
  ])
}

function placesOf(schema: JsonSchema, place = ''): string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, one]) => [
    `${place}.${key}`,
    ...placesOf(one, `${place}.${key}`),
  ])
  const entries = [schema.items ?? [], schema.oneOf ?? []].flat()
  const below = schema.items ? `${place}.*` : place
  return [...members, ...entries.flatMap((one) => placesOf(one, below))]
}

/** Adds what other settings need: a retention for pruning, and the key of what is committed to git. */
function withNeeds(file: { schedule?: object; git?: object; encryption?: object }): object {
  const { schedule, git, encryption } = file
  const needsKey = git !== undefined && encryption !== undefined && 'recipients' in encryption
  return {
    ...(schedule !== undefined && { retention: { last: 1 } }),
    ...file,
    ...(needsKey && { encryption: { identity: { env: 'IDENTITY' }, ...encryption } }),
  }
}

/** What `config print` prints, and whether the printed file, elsewhere, means the same. */
async function printAndRead(env: Environment, { args, file }: { args: string[]; file?: object }) {
  const given = join(folder, 'given.yaml')
  const printed = join(folder, 'elsewhere', 'printed.yaml')
  if (file !== undefined) await writeFile(given, stringify(file))
  const flags = file === undefined ? {} : { config: given }
  const option = file === undefined ? [] : ['--config', given]
  const { exitCode, stdout, stderr } = await runDashkeep(['config', 'print', ...option, ...args], {
    env,
  })
  expect([exitCode, stderr]).toEqual([0, ''])
  await writeFile(printed, stdout)
  const { findProxy: _before, ...before } = await loadConfig(env, flags)
  const { findProxy: _after, ...after } = await loadConfig(env, { config: printed })
  expect(after).toEqual(before)
  return stdout
}

describe('config print', () => {
  it('is tried with every setting that there is', () => {
    const tried = new Set<string>()
    for (const one of fc.sample(document, { numRuns: 2000, seed: 1 })) {
      for (const place of placesIn(one)) tried.add(place)
    }
    const known = [...new Set(placesOf(configSchema()))]
    expect(known.length).toBeGreaterThan(60)
    expect(known.filter((place) => !tried.has(place))).toEqual([])
  })

  it.each([[[]], [['--json']]])(
    'prints a file that means the same, without any secret: %j',
    async (args: string[]) => {
      const env = { TOKEN: 'secret-1', lower_case: 'secret-2' }
      await fc.assert(
        fc.asyncProperty(document, async (file) => {
          const printed = await printAndRead(env, { args, file: withNeeds(file) })
          expect(printed).not.toMatch(/secret-\d/)
        }),
        { numRuns: 40 },
      )
    },
  )

  it('prints what variables say as a file for the same environment', async () => {
    const identity = await generateIdentity()
    const token = join(folder, 'token')
    await writeFile(token, 'secret-1\n')
    const variables = {
      DASHKEEP_BASE_URL: 'https://api.example.com',
      DASHKEEP_PATH_PREFIX: '/v1',
      DASHKEEP_API_TOKEN: 'secret-1',
      DASHKEEP_ACCOUNT_ID: '100001',
      DASHKEEP_STORE: './backups',
      DASHKEEP_RECIPIENTS: recipients.join(),
      DASHKEEP_IDENTITY: identity,
      DASHKEEP_SCHEDULE: '15 3 * * *',
      DASHKEEP_TIME_ZONE: 'Europe/Berlin',
      DASHKEEP_LISTEN: 'false',
      DASHKEEP_PING_URL: 'https://ping.example.com/secret-2',
      DASHKEEP_SLACK_URL: 'https://hooks.example.com/secret-3',
      DASHKEEP_TYPES: 'dashboard,search',
      AWS_REGION: 'eu-central-1',
    }
    const { DASHKEEP_API_TOKEN: _, ...others } = variables
    for (const env of [variables, { ...others, DASHKEEP_API_TOKEN_FILE: token }]) {
      const printed = await printAndRead(env, { args: [] })
      expect(printed).not.toMatch(/secret-\d|AGE-SECRET-KEY/)
      expect(parse(printed).accounts).toMatchObject([{ name: 'default', accountId: 100001 }])
    }
  })
})
