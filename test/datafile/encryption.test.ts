import { createHash } from 'node:crypto'
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { createDataFile, type DataFile, proveDataFile } from '../../src/datafile/data-file.ts'
import { createOpener, createSealer, OpenError } from '../../src/datafile/encryption.ts'
import { createMemoryStore } from '../archive/memory-store.ts'

const key = '7/20260101T000000Z-000000/search.json.zst.age'
const content = Buffer.from('{"kibanaVersion":"7.10.2","hits":[]}'.repeat(5000))

async function store(sealer: Awaited<ReturnType<typeof createSealer>>) {
  const memory = createMemoryStore()
  await using writer = await createDataFile(memory, key, {
    compression: 'zstd',
    sealer,
    metadata: () => ({}),
  })
  await writer.write(content.subarray(0, 70_000))
  await writer.write(content.subarray(70_000))
  const file = await writer.finish()
  await writer.commit()
  return { memory, file }
}

async function readAll(
  { memory, file }: Awaited<ReturnType<typeof store>>,
  opener: Awaited<ReturnType<typeof createOpener>> | undefined,
) {
  const chunks: Uint8Array[] = []
  const defect = await proveDataFile(memory, key, file, {
    opener,
    onContent: (chunk) => chunks.push(Buffer.from(chunk)),
  })
  return { defect, content: Buffer.concat(chunks) }
}

async function keyPair() {
  const identity = await generateX25519Identity()
  return { identity, recipient: await identityToRecipient(identity) }
}

/** A file in the store with these bytes, described as they are. */
function planted(stored: Uint8Array) {
  const memory = createMemoryStore()
  memory.objects.set(key, Buffer.from(stored))
  const sha256 = createHash('sha256').update(stored).digest('hex')
  const file: DataFile = {
    name: 'search.json.zst.age',
    compression: 'zstd',
    encryption: { format: 'age', recipients: ['passphrase'] },
    stored: { bytes: stored.length, sha256 },
    content: { bytes: content.length, sha256 },
  }
  return { memory, file }
}

describe('an encrypted file that asks for much memory', () => {
  const passphrase = 'correct horse battery'

  it('is not decrypted when a key of 64 MB or more would have to be derived', async () => {
    for (const logN of [16, 18, 20]) {
      const encrypter = new Encrypter()
      encrypter.setPassphrase(passphrase)
      encrypter.setScryptWorkFactor(10)
      const text = Buffer.from(await encrypter.encrypt(content)).toString('latin1')
      const stored = Buffer.from(text.replace(/(-> scrypt \S+) 10\n/, `$1 ${logN}\n`), 'latin1')
      const { defect } = await readAll(planted(stored), await createOpener({ passphrase }))
      expect(defect?.detail).toBe(
        `it cannot be decoded (its passphrase needs ${2 ** (logN - 10)} MB of memory)`,
      )
      const sealer = await createSealer({ passphrase })
      expect(await sealer.hasSealed?.(stored)).toBe(false)
    }
  })

  it('is not decrypted when its header does not end', async () => {
    const lines = `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`.repeat(50_000)
    const endless = planted(Buffer.from(`age-encryption.org/v1\n${lines}`))
    const memory = { ...endless.memory, open: async () => inPieces(endless.memory.objects) }
    const { defect } = await readAll({ ...endless, memory }, await createOpener({ passphrase }))
    expect(defect?.detail).toBe('it cannot be decoded (its age header is larger than 1 MiB)')
  })

  async function* inPieces(objects: Map<string, Uint8Array>): AsyncGenerator<Uint8Array> {
    const bytes = objects.get(key) as Uint8Array
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  }
})

describe('an encrypted data file', () => {
  it('opens to the content with the identity of any recipient', async () => {
    const [one, two] = [await keyPair(), await keyPair()]
    const recipients = [one.recipient, two.recipient]
    const stored = await store(await createSealer({ recipients }))
    for (const { identity } of [one, two]) {
      const read = await readAll(stored, await createOpener({ identity }))
      expect(read.defect).toBeUndefined()
      expect(read.content.equals(content)).toBe(true)
    }
    expect(stored.file.encryption).toEqual({ format: 'age', recipients: recipients.toSorted() })
  })

  it('opens with its passphrase', async () => {
    const stored = await store(await createSealer({ passphrase: 'correct horse battery' }))
    const read = await readAll(stored, await createOpener({ passphrase: 'correct horse battery' }))
    expect(read.defect).toBeUndefined()
    expect(read.content.equals(content)).toBe(true)
    expect(stored.file.encryption?.recipients).toEqual(['passphrase'])
  })

  it('is proven as stored, and not read, without a key', async () => {
    const { recipient } = await keyPair()
    const stored = await store(await createSealer({ recipients: [recipient] }))
    const read = await readAll(stored, undefined)
    expect(read.defect).toBeUndefined()
    expect(read.content.length).toBe(0)
  })

  it('fails for a wrong key with another error than for damage', async () => {
    const { recipient } = await keyPair()
    const { identity } = await keyPair()
    const stored = await store(await createSealer({ recipients: [recipient] }))
    await expect(readAll(stored, await createOpener({ identity }))).rejects.toThrow(OpenError)
    const wrong = await createOpener({ passphrase: 'wrong' })
    await expect(readAll(stored, wrong)).rejects.toThrow(
      `Cannot decrypt ${key}: the configured key does not open it`,
    )
  })

  it('reports damage as damage, whether or not the key fits', async () => {
    const { recipient, identity } = await keyPair()
    const stored = await store(await createSealer({ recipients: [recipient] }))
    const bytes = (await stored.memory.get(key, { maxBytes: 1e9 })) as Uint8Array
    for (const place of [10, bytes.length >> 1, bytes.length - 1]) {
      const damaged = Buffer.from(bytes)
      damaged[place] = (damaged[place] as number) ^ 1
      await stored.memory.put(key, damaged)
      for (const opener of [undefined, await createOpener({ identity })]) {
        expect((await readAll(stored, opener)).defect?.problem).toBe('stored-bytes')
      }
    }
  })
})

describe('a key that is none', () => {
  it('is refused without being shown', async () => {
    await expect(createSealer({ recipients: ['age1nonsense'] })).rejects.toThrow(
      'Cannot encrypt for age1nonsense: it is not an age recipient',
    )
    for (const identity of ['', '# only a comment', 'AGE-SECRET-KEY-1NONSENSE']) {
      const opening = createOpener({ identity })
      await expect(opening).rejects.toThrow('it is not a private key of age')
      await expect(opening).rejects.not.toThrow('NONSENSE')
    }
  })
})
