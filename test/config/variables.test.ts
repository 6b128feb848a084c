import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountOf,
  findUnknownVariables,
  notificationsOf,
  overridesOf,
  readVariables,
} from '../../src/config/variables.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-variables-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function fileWith(text: string): Promise<string> {
  const path = join(folder, 'value')
  await writeFile(path, text)
  return path
}

describe('a variable', () => {
  it('gives its value without white space around it', async () => {
    const { given } = await readVariables({ DASHKEEP_BASE_URL: ' https://api.example.com\n' })
    expect(given.get('BASE_URL')).toMatchObject({
      value: 'https://api.example.com',
      source: 'DASHKEEP_BASE_URL',
    })
  })

  it('can name a file, which is read again as the source of a secret', async () => {
    const path = await fileWith('token-of-a-file\n')
    const variables = await readVariables({ DASHKEEP_API_TOKEN_FILE: path })
    expect(variables.given.get('API_TOKEN')).toMatchObject({ value: 'token-of-a-file' })
    expect(accountOf(variables)).toMatchObject({ name: 'default', token: { file: path } })
  })

  it('counts as unset when it is empty, except for recipients', async () => {
    const { given, problems } = await readVariables({
      DASHKEEP_STORE: '',
      DASHKEEP_RECIPIENTS: '',
    })
    expect(given.size).toBe(0)
    expect([...problems.keys()]).toEqual(['RECIPIENTS'])
  })

  it('is a problem when it is set twice, or its file is empty, missing or too long', async () => {
    const problemOf = async (env: Record<string, string>) =>
      [...(await readVariables(env)).problems.values()].join()
    const path = await fileWith('one\ntwo\n')
    expect(await problemOf({ DASHKEEP_STORE: 'a', DASHKEEP_STORE_FILE: path })).toBe(
      'DASHKEEP_STORE and DASHKEEP_STORE_FILE are both set: unset one',
    )
    expect(await problemOf({ DASHKEEP_STORE_FILE: path })).toContain('several lines')
    expect(await problemOf({ DASHKEEP_TYPES_FILE: path })).toBe('')
    expect(await problemOf({ DASHKEEP_STORE_FILE: await fileWith(' \n') })).toContain('is empty')
    const missing = join(folder, 'missing')
    expect(await problemOf({ DASHKEEP_STORE_FILE: missing })).toMatch(
      /^DASHKEEP_STORE_FILE: .*missing/,
    )
  })

  it('sets one place of the file, and names itself as its source', async () => {
    const env = { DASHKEEP_TYPES: 'search, query', DASHKEEP_LISTEN: 'false', DASHKEEP_STORE: '/x' }
    expect(overridesOf(await readVariables(env), env)).toEqual([
      { place: 'store.url', value: 'file:///x', source: 'DASHKEEP_STORE' },
      { place: 'types', value: ['search', 'query'], source: 'DASHKEEP_TYPES' },
      { place: 'worker.listen', value: false, source: 'DASHKEEP_LISTEN' },
    ])
  })

  it('of AWS for S3 alone goes over the one for all services', async () => {
    const env = { AWS_ENDPOINT_URL: 'http://all', AWS_ENDPOINT_URL_S3: 'http://s3' }
    expect(overridesOf(await readVariables(env), env)).toEqual([
      { place: 'store.endpoint', value: 'http://s3', source: 'AWS_ENDPOINT_URL_S3' },
    ])
  })

  it('can describe a notification of each kind', async () => {
    const env = { DASHKEEP_SLACK_URL: 'https://x', DASHKEEP_PING_URL: 'https://y' }
    expect(notificationsOf(await readVariables(env))).toEqual([
      { kind: 'ping', url: { env: 'DASHKEEP_PING_URL' }, source: 'DASHKEEP_PING_URL' },
      { kind: 'slack', url: { env: 'DASHKEEP_SLACK_URL' }, source: 'DASHKEEP_SLACK_URL' },
    ])
  })
})

describe('an unknown variable', () => {
  it('is named, with the one that was probably meant', () => {
    expect(findUnknownVariables({ DASHKEEP_STOER: 'x', DASHKEEP_STORE: 'y' }, [])).toEqual([
      'DASHKEEP_STOER: unknown variable; did you mean DASHKEEP_STORE?',
    ])
  })

  it('is not one that the file names, or that Kubernetes and the tests set', () => {
    const env = {
      DASHKEEP_TOKEN_OF_A: 'x',
      DASHKEEP_TEST_CONTAINERS: '1',
      DASHKEEP_SERVICE_HOST: '10.0.0.1',
      DASHKEEP_SERVICE_PORT: '80',
      DASHKEEP_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    expect(findUnknownVariables(env, ['DASHKEEP_TOKEN_OF_A'])).toEqual([])
  })
})
