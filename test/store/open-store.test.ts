import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { ownAuthority } from '../http/tls-front.ts'

it('refuses a bundle with a damaged certificate, which TLS would ignore', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-bundle-'))
  const caBundle = join(folder, 'bundle.pem')
  const damaged = '-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n'
  await writeFile(caBundle, `${ownAuthority}\n${damaged}`)
  await expect(openStore('s3://bucket', { caBundle })).rejects.toThrow(
    `Cannot use the certificates in ${caBundle}: certificate 2 of 2 is damaged`,
  )
  await rm(folder, { recursive: true })
})

describe('opening a store by its address', () => {
  for (const [url, shown] of [
    ['file:///var/backups', 'file:///var/backups'],
    ['file:///var/my%20backups/', 'file:///var/my%20backups'],
    ['s3://bucket', 's3://bucket'],
    ['s3://bucket/', 's3://bucket'],
    ['s3://my.bucket-1/some/prefix/', 's3://my.bucket-1/some/prefix'],
  ] as const) {
    it(`opens ${url}`, async () => {
      const store = await openStore(url, { region: 'eu-central-1' })
      expect(store.url).toBe(shown)
      await store.close()
    })
  }

  for (const [url, state] of [
    ['', 'it begins with neither s3:// nor file://'],
    ['/var/backups', 'it begins with neither s3:// nor file://'],
    ['./backups', 'it begins with neither s3:// nor file://'],
    ['https://bucket.example.com', 'it begins with neither s3:// nor file://'],
    ['file:backups', 'the folder is not absolute'],
    ['file://backups/daily', 'the folder is not absolute'],
    ['file:///', 'it has no folder name'],
    ['file:///a?b', 'must be written %3F or %23'],
    ['file:///a%2Fb', 'its percent signs do not encode a path'],
    ['file:///a%ff', 'its percent signs do not encode a path'],
    ['s3:', 'it has no bucket name'],
    ['s3://', 'it has no bucket name'],
    ['s3:///prefix', 'it has no bucket name'],
    ['s3://no spaces', '"no spaces" is not a valid bucket name'],
    ['s3://ab', '"ab" is not a valid bucket name'],
    ['s3://bucket?region=x', '"bucket?region=x" is not a valid bucket name'],
    ['s3://bucket/a//b', '"a//b" is not a valid prefix'],
    ['s3://bucket/../b', '"../b" is not a valid prefix'],
    ['s3://bucket/a?b=c', '"a?b=c" is not a valid prefix'],
  ] as const) {
    it(`refuses ${url}`, async () => {
      await expect(openStore(url)).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining(state),
        hint: 'write s3://bucket/prefix or file:///absolute/folder',
      })
    })
  }

  it('does not print credentials that an address contains', async () => {
    const opening = openStore('s3://key:hunter2@bucket/prefix')
    await expect(opening).rejects.toThrow('it must not contain credentials')
    await expect(opening).rejects.not.toThrow('hunter2')
    const endpoint = 'https://key:hunter2@s3.example.com'
    await expect(openStore('s3://bucket', { endpoint })).rejects.toThrow(
      /^Cannot use the S3 endpoint: it must be an http:\/\/ or https:\/\/ address without credentials$/,
    )
    await expect(openStore('s3://bucket', { endpoint: 's3.example.com' })).rejects.toThrow(
      'it must be an http:// or https:// address without credentials',
    )
  })

  it('loads no S3 client for a folder', () => {
    const module = new URL('../../src/store/open-store.ts', import.meta.url).href
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) })
      const { openStore } = await import(${JSON.stringify(module)})
      await openStore('file:///nowhere')
      console.log(JSON.stringify(loaded))`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program])
    const loaded = (JSON.parse(stdout.toString()) as string[]).filter((name) => name !== module)
    expect(loaded).toContain('./directory/open.ts')
    expect(loaded.filter((name) => /aws|smithy|s3/.test(name))).toEqual([])
  })
})
