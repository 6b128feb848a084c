import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { accountsOf } from './run-dashkeep.ts'
import { shopId, startTrial, types } from './trial.ts'

async function startWithKey() {
  const identity = await generateX25519Identity()
  const recipients = { DASHKEEP_RECIPIENTS: await identityToRecipient(identity) }
  const trial = await startTrial()
  const sealed = await trial.run(['backup', '--json'], recipients)
  return { trial, identity, recipients, sealed }
}

describe('an encrypted archive', () => {
  it('holds files that end in .age, and nothing of their content in the clear', async () => {
    const { trial, sealed } = await startWithKey()
    await using _trial = trial
    expect(sealed.exitCode).toBe(0)
    const files = [...(await trial.files())].filter(([key]) => !key.endsWith('manifest.json'))
    expect(files.map(([key]) => key.split('/').at(-1)).sort()).toEqual(
      types.map((type) => `${type}.json.zst.age`).sort(),
    )
    for (const [, bytes] of files) {
      expect(bytes.subarray(0, 22).toString()).toBe('age-encryption.org/v1\n')
    }
  })

  it('is unchanged when nothing changed, without a private key', async () => {
    const { trial, recipients } = await startWithKey()
    await using _trial = trial
    const { stdout } = await trial.run(['backup', '--json'], recipients)
    expect(accountsOf(stdout)[0]).toMatchObject({ result: 'unchanged' })
    expect((await trial.files()).size).toBe(5)
  })

  it('is proven as stored without the key, and in full with it', async () => {
    const { trial, identity } = await startWithKey()
    await using _trial = trial
    const without = await trial.run(['verify'])
    expect(without.exitCode).toBe(0)
    expect(without.stdout).toContain(
      '3 encrypted files checked only as stored bytes: no key is configured',
    )
    const withKey = await trial.run(['verify'], { DASHKEEP_IDENTITY: identity })
    expect(withKey.exitCode).toBe(0)
    expect(withKey.stdout).not.toContain('only as stored bytes')
  })

  it('names what is wrong when the key is another, or none', async () => {
    const { trial } = await startWithKey()
    await using _trial = trial
    const other = await generateX25519Identity()
    for (const key of [other, 'AGE-SECRET-KEY-1NONSENSE']) {
      const { exitCode, stderr } = await trial.run(['verify'], { DASHKEEP_IDENTITY: key })
      expect(exitCode).toBe(2)
      expect(stderr).toMatch(/^error: Cannot .*\nhint: /)
      expect(stderr).not.toContain(key)
    }
  })

  it('shows damage with and without the key', async () => {
    const { trial, identity } = await startWithKey()
    await using _trial = trial
    const [key, bytes] = [...(await trial.files())].find(([name]) => name.endsWith('.age')) as [
      string,
      Buffer,
    ]
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1
    await trial.write(`archive/${key}`, bytes)
    for (const env of [{}, { DASHKEEP_IDENTITY: identity }]) {
      expect((await trial.run(['verify'], env)).exitCode).toBe(5)
    }
  })

  it('begins with the next snapshot where it is turned on, and older ones stay readable', async () => {
    const identity = await generateX25519Identity()
    await using trial = await startTrial()
    await trial.run(['backup'])
    const { stdout } = await trial.run(['backup', '--json'], {
      DASHKEEP_RECIPIENTS: await identityToRecipient(identity),
    })
    expect(accountsOf(stdout)[0]).toMatchObject({ result: 'full' })
    const names = [...(await trial.files()).keys()].map((key) => key.split('/').at(-1))
    expect(names.filter((name) => name?.endsWith('.zst'))).toHaveLength(3)
    expect(names.filter((name) => name?.endsWith('.age'))).toHaveLength(3)
    expect((await trial.run(['verify'], { DASHKEEP_IDENTITY: identity })).exitCode).toBe(0)
  })

  it('keeps no secret in its manifests: neither passphrase nor title nor id', async () => {
    await using trial = await startTrial()
    const passphrase = 'correct horse battery'
    const config = await trial.write('sealed.yaml', {
      encryption: { passphrase: { env: 'BACKUP_PASSPHRASE' } },
    })
    const env = { DASHKEEP_CONFIG: config, BACKUP_PASSPHRASE: passphrase }
    expect((await trial.run(['backup'], env)).exitCode).toBe(0)
    const files = await trial.files()
    const manifest = String([...files].find(([key]) => key.endsWith('manifest.json'))?.[1])
    const dashboards = JSON.parse(
      Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString(),
    )
    for (const { _id, _source } of dashboards.hits) {
      expect(manifest).not.toContain(_id)
      expect(manifest).not.toContain(_source.dashboard.title)
    }
    expect(manifest).not.toContain(passphrase)
    expect((await trial.run(['verify'], env)).stdout).not.toContain('only as stored bytes')
  })
})
