import { createHash } from 'node:crypto'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  maxManifestBytes,
} from '../../src/archive/manifest.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import { type VerifiedSnapshot, verifySnapshots } from '../../src/archive/verify.ts'
import { StoreError } from '../../src/store/errors.ts'
import { createMemoryStore, flipBit, type MemoryStore } from './memory-store.ts'
import { exportBody, scriptSource } from './scripted-source.ts'

const types = ['search', 'dashboard']

function day(number: number): Date {
  return new Date(Date.UTC(2026, 10, number, 3, 4, 5))
}

/** An archive of three days: everything, nothing new, one search less. */
async function archive() {
  const store = createMemoryStore()
  const search = (objects: Record<string, string>) => exportBody('search', objects)
  const all = search({ a: 'Errors', b: 'Slow' })
  const dashboard = exportBody('dashboard', { x: 'Shop' })
  const source = scriptSource({ search: [all, all, search({ a: 'Errors' })], dashboard })
  const take = async (number: number) => {
    const { manifest } = await takeSnapshot(source, store, { takenAt: day(number), types })
    return { manifest, folder: `10/${manifest.snapshot}` }
  }
  const [first, second, third] = [await take(1), await take(2), await take(3)]
  expect([second.manifest.sameAs, third.manifest.sameAs]).toEqual([
    first.manifest.snapshot,
    undefined,
  ])
  store.calls.length = 0
  return { store, first, second, third }
}

function verify(store: MemoryStore, accountId?: number): Promise<VerifiedSnapshot[]> {
  return Array.fromAsync(verifySnapshots(store, listFolders(store, { accountId })))
}

/** Every defect as `<snapshot's place>: <key>: <problem>`. */
async function defects(store: MemoryStore): Promise<string[]> {
  const verified = await verify(store)
  return verified.flatMap((one, place) => {
    for (const defect of one.defects) {
      expect([defect.accountId, defect.snapshot]).toEqual([one.accountId, one.snapshot])
    }
    return one.defects.map(({ key, problem }) => `${place}: ${key}: ${problem}`)
  })
}

function bytesOf(store: MemoryStore, key: string): Uint8Array {
  return store.objects.get(key) ?? expect.fail(`${key} is not there`)
}

function edit(store: MemoryStore, key: string, change: (manifest: Manifest) => Manifest): void {
  store.objects.set(key, encodeManifest(change(decodeManifest(bytesOf(store, key), key))))
}

function withExport(manifest: Manifest, change: Partial<Manifest['exports'][number]>): Manifest {
  const [first, ...others] = manifest.exports
  if (first === undefined) return manifest
  return { ...manifest, exports: [{ ...first, ...change }, ...others] }
}

describe('a sound archive', () => {
  it('has no defects, and every byte of it has been read once', async () => {
    const { store, first, second, third } = await archive()
    const verified = await verify(store)
    expect(verified.map(({ snapshot }) => snapshot)).toEqual(
      [first, second, third].map(({ manifest }) => manifest.snapshot),
    )
    expect(verified.flatMap((one) => one.defects)).toEqual([])
    expect(verified.map(({ manifest }) => manifest)).toEqual(
      [first, second, third].map(({ manifest }) => manifest),
    )
    const opened = store.calls.filter(({ action }) => action === 'open').map(({ key }) => key)
    expect(opened.toSorted()).toEqual(store.keys().filter((key) => key.endsWith('.zst')))
    const bytes = [...store.objects.values()].reduce((sum, { length }) => sum + length, 0)
    expect(verified.reduce((sum, { bytesRead }) => sum + bytesRead, 0)).toBe(bytes)
  })

  it('is read, never written', async () => {
    const { store } = await archive()
    await verify(store)
    const actions = new Set(store.calls.map(({ action }) => action))
    expect([...actions].toSorted()).toEqual(['get', 'list', 'open'])
  })

  it('stays sound when a snapshot that no other rests on is gone', async () => {
    const { store, second } = await archive()
    for (const key of store.keys()) if (key.startsWith(second.folder)) store.objects.delete(key)
    expect(await verify(store)).toHaveLength(2)
    expect(await defects(store)).toEqual([])
  })

  it('may hold remains of a run, which are no snapshot', async () => {
    const { store } = await archive()
    store.objects.set('10/20261104T000000Z-aaaaaa/search.json.zst', Buffer.from('half'))
    expect(await verify(store)).toHaveLength(3)
    expect(await defects(store)).toEqual([])
  })

  it('may be verified account by account, and snapshot by snapshot', async () => {
    const { store, third } = await archive()
    expect(await verify(store, 10)).toHaveLength(3)
    expect(await verify(store, 1)).toEqual([])
    const folders = await Array.fromAsync(listFolders(store))
    const [verified] = await Array.fromAsync(verifySnapshots(store, folders.slice(-1)))
    expect(verified).toMatchObject({ snapshot: third.manifest.snapshot, defects: [] })
  })
})

describe('damage to a data file is found', () => {
  it('when it is missing, for each snapshot that rests on it', async () => {
    const { store, first } = await archive()
    const key = `${first.folder}/search.json.zst`
    store.objects.delete(key)
    expect(await defects(store)).toEqual([
      `0: ${key}: ${key}: it is not there`,
      `1: ${key}: ${key}: it is not there`,
    ])
  })

  it('when any of its bits has changed, for each snapshot that rests on it', async () => {
    const { store, first } = await archive()
    const key = `${first.folder}/search.json.zst`
    const sound = bytesOf(store, key)
    for (let bit = 0; bit < sound.length * 8; bit += 37) {
      store.objects.set(key, flipBit(sound, bit))
      expect(await defects(store)).toEqual([
        expect.stringMatching(`^0: ${key}: .*SHA-256`),
        expect.stringMatching(`^1: ${key}: .*SHA-256`),
      ])
    }
  })

  it('when it is of another snapshot', async () => {
    const { store, first, third } = await archive()
    const key = `${third.folder}/search.json.zst`
    store.objects.set(key, bytesOf(store, `${first.folder}/search.json.zst`))
    expect(await defects(store)).toEqual([expect.stringContaining(`2: ${key}: `)])
  })

  it('when one file is damaged the others are still read', async () => {
    const { store, first, third } = await archive()
    for (const { folder } of [first, third]) {
      for (const type of types) store.objects.set(`${folder}/${type}.json.zst`, new Uint8Array(9))
    }
    expect(await defects(store)).toHaveLength(6)
  })

  it('when it is as described but no export document', async () => {
    const { store, third } = await archive()
    const content = Buffer.from('{"code":403,"message":"Insufficient privileges"}')
    const stored = zlib.zstdCompressSync(content)
    const key = `${third.folder}/search.json.zst`
    store.objects.set(key, stored)
    const print = (bytes: Uint8Array) => ({
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const file = {
      name: 'search.json.zst',
      compression: 'zstd' as const,
      stored: print(stored),
      content: print(content),
    }
    edit(store, `${third.folder}/manifest.json`, (manifest) => withExport(manifest, { file }))
    expect(await defects(store)).toEqual([
      `2: ${key}: ${key}: Cannot read the export: it has no hits array`,
    ])
  })

  it('and a file that nothing describes is found beside the files', async () => {
    const { store, first, second } = await archive()
    store.objects.set(`${first.folder}/notes.txt`, Buffer.from('hello'))
    const copy = bytesOf(store, `${first.folder}/search.json.zst`)
    store.objects.set(`${second.folder}/search.json.zst`, copy)
    expect(await defects(store)).toEqual([
      `0: ${first.folder}/notes.txt: no manifest describes this file`,
      `1: ${second.folder}/search.json.zst: no manifest describes this file`,
    ])
  })

  it('but a store that cannot answer is no damage', async () => {
    const { store } = await archive()
    store.intercept = ({ action }) => {
      if (action === 'open') throw new StoreError('Cannot read: no answer', { transient: true })
    }
    await expect(verify(store)).rejects.toThrow('Cannot read: no answer')
    store.intercept = ({ action }) => {
      if (action === 'get') throw new StoreError('Cannot read: no answer', { transient: true })
    }
    await expect(verify(store)).rejects.toThrow('Cannot read: no answer')
  })

  it('until a signal stops the reading', async () => {
    const { store } = await archive()
    const controller = new AbortController()
    store.intercept = ({ action }) => {
      if (action === 'open') controller.abort(new Error('stop'))
    }
    const verified = verifySnapshots(store, listFolders(store), { signal: controller.signal })
    await expect(Array.fromAsync(verified)).rejects.toThrow('stop')
  })
})

describe('damage to a manifest is found', () => {
  it('when any of its bits has changed, by itself or by the snapshot after it', async () => {
    const { store, first, second } = await archive()
    const keys = [first, second].map(({ folder }) => `${folder}/manifest.json`)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...keys), fc.nat(), async (key, number) => {
        const sound = bytesOf(store, key)
        store.objects.set(key, flipBit(sound, number % (sound.length * 8)))
        const found = await defects(store)
        store.objects.set(key, sound)
        expect(found.length).toBeGreaterThan(0)
      }),
      { numRuns: 60 },
    )
    expect(await defects(store)).toEqual([])
  })

  it('when it is larger than any manifest, there and by the snapshot after it', async () => {
    const { store, first } = await archive()
    const key = `${first.folder}/manifest.json`
    store.objects.set(key, Buffer.alloc(maxManifestBytes + 1, ' '))
    expect(await defects(store)).toEqual([
      expect.stringContaining(`0: ${key}: `),
      expect.stringMatching(/^1: .* has been changed since$/),
    ])
  })

  it('when it was rewritten, by the snapshot after it', async () => {
    const { store, first, second } = await archive()
    edit(store, `${first.folder}/manifest.json`, (manifest) => ({
      ...manifest,
      account: { ...manifest.account, name: 'Another' },
    }))
    const expected = [
      `${second.folder}/manifest.json: the manifest of the previous snapshot ${first.manifest.snapshot} has been changed since`,
    ]
    expect(await defects(store)).toEqual([`1: ${expected[0]}`])
    const folders = await Array.fromAsync(listFolders(store))
    const [verified] = await Array.fromAsync(verifySnapshots(store, folders.slice(1, 2)))
    expect(verified?.defects).toHaveLength(1)
  })

  it.each([
    ['its number of objects', { objects: 3 }, 'it holds 1 objects instead of 3'],
    [
      'an impossible number of objects',
      { objects: Number.MAX_SAFE_INTEGER },
      'it holds 1 objects instead of 9007199254740991',
    ],
    ['its kibanaVersion', { kibanaVersion: '8' }, 'it is of kibanaVersion 7.9.1 instead of 8'],
    [
      'its contentDigest',
      { contentDigest: 'a'.repeat(64) },
      'its objects do not match the contentDigest of the manifest',
    ],
  ])('when it says wrongly %s', async (_name, change, problem) => {
    const { store, third } = await archive()
    const key = `${third.folder}/manifest.json`
    edit(store, key, (manifest) => withExport(manifest, change))
    expect(await defects(store)).toEqual([`2: ${third.folder}/search.json.zst: ${problem}`])
  })

  it.each([
    ['a second later', '2026-11-03T03:04:06.000Z'],
    ['a second earlier', '2026-11-03T03:04:04.999Z'],
    ['a year later', '2027-11-03T03:04:05.678Z'],
  ])('when it says another time than the name: %s', async (_name, takenAt) => {
    const { store, third } = await archive()
    const key = `${third.folder}/manifest.json`
    edit(store, key, (manifest) => ({ ...manifest, takenAt }))
    expect(await defects(store)).toEqual([
      `2: ${key}: its takenAt ${takenAt} differs from the time in the snapshot's name`,
    ])
  })

  it('when it says wrongly what another snapshot holds', async () => {
    const { store, first, second } = await archive()
    edit(store, `${second.folder}/manifest.json`, (manifest) =>
      withExport(manifest, { objects: 3 }),
    )
    expect(await defects(store)).toContain(
      `1: ${first.folder}/search.json.zst: it holds 2 objects instead of 3`,
    )
  })

  it('when the snapshot that it points to is gone', async () => {
    const { store, first, second } = await archive()
    for (const key of store.keys()) if (key.startsWith(first.folder)) store.objects.delete(key)
    const found = await defects(store)
    expect(found).toHaveLength(2)
    expect(found[0]).toBe(
      `0: ${first.folder}/search.json.zst: ${first.folder}/search.json.zst: it is not there`,
    )
    expect((await verify(store))[0]?.snapshot).toBe(second.manifest.snapshot)
  })

  it('when it is the manifest of another snapshot', async () => {
    const { store, first, third } = await archive()
    store.objects.set(
      `${third.folder}/manifest.json`,
      bytesOf(store, `${first.folder}/manifest.json`),
    )
    expect(await defects(store)).toEqual([
      expect.stringContaining(`it is the manifest of snapshot ${first.manifest.snapshot}`),
    ])
  })

  it('when it is the manifest of another account', async () => {
    const { store, first } = await archive()
    for (const key of store.keys()) {
      if (key.startsWith(first.folder)) store.objects.set(`9${key}`, bytesOf(store, key))
    }
    const found = await defects(store)
    expect(found).toEqual([expect.stringMatching(/^3: 910\/.* of account 10$/)])
  })
})

describe('a hostile manifest', () => {
  const outside = '../11/20261101T030405Z-aaaaaa'
  const file = (change: object) => (manifest: Manifest) => {
    const [entry] = manifest.exports
    return { ...manifest, exports: [{ ...entry, file: { ...entry?.file, ...change } }] }
  }
  const entry = (change: object) => (manifest: Manifest) => ({
    ...manifest,
    exports: [{ ...manifest.exports[0], ...change }],
  })
  const whole = (change: object) => (manifest: Manifest) => ({ ...manifest, ...change })
  const print = { bytes: 5, sha256: 'a'.repeat(64) }
  const previous = { snapshot: outside, manifestSha256: 'a'.repeat(64) }

  const hostile: [string, (manifest: Manifest) => unknown][] = [
    ['a file name with ..', file({ name: `${outside}/search.json.zst` })],
    ['a file name from the root', file({ name: '/11/search.json.zst' })],
    ['a file name with a folder', file({ name: 'a.json/../b.json' })],
    ['a file name with a backslash', file({ name: '..\\a.json' })],
    ['a file name with a NUL', file({ name: 'a.json\0' })],
    ['a file name with a line feed', file({ name: 'search.json.zst\n' })],
    ['an empty file name', file({ name: '' })],
    ['a file name that is a list', file({ name: ['search.json.zst'] })],
    ['its own name for a file', file({ name: 'manifest.json' })],
    ['the name of a file that is not there', file({ name: 'other.json.zst' })],
    ['an unknown compression', file({ compression: 'br' })],
    ['another compression', file({ compression: 'gzip' })],
    ['a compression from the prototype', file({ compression: 'constructor' })],
    ['a size beyond 2^53', file({ stored: { ...print, bytes: 1e21 } })],
    ['the largest size', file({ stored: { ...print, bytes: Number.MAX_SAFE_INTEGER } })],
    ['the largest content', file({ content: { ...print, bytes: Number.MAX_SAFE_INTEGER } })],
    ['a negative size', file({ stored: { ...print, bytes: -1 } })],
    ['a broken size', file({ content: { ...print, bytes: 1.5 } })],
    ['a size in words', file({ content: { ...print, bytes: '5' } })],
    ['a short SHA-256', file({ stored: { ...print, sha256: 'abc' } })],
    ['a SHA-256 in capitals', file({ stored: { ...print, sha256: 'A'.repeat(64) } })],
    ['no file', entry({ file: null })],
    ['a number of objects beyond 2^53', entry({ objects: 1e300 })],
    ['less than no objects', entry({ objects: -1 })],
    ['a type with ..', entry({ type: '../search' })],
    ['a type from the prototype', entry({ type: '__proto__' })],
    ['a type that is a number', entry({ type: 7 })],
    ['a kibanaVersion that is a number', entry({ kibanaVersion: 7 })],
    ['remarks that are no numbers', entry({ remarks: { 'no-id': 'many' } })],
    ['a time that is none', entry({ exportedAt: 'yesterday' })],
    ['no exports', whole({ exports: [] })],
    ['a type twice', ({ exports: [one], ...rest }) => ({ ...rest, exports: [one, one] })],
    [
      'one file for two types',
      ({ exports: [one], ...rest }) => ({ ...rest, exports: [one, { ...one, type: 'other' }] }),
    ],
    ['exports that are an object', whole({ exports: { length: 1, 0: {} } })],
    ['exports that hold null', whole({ exports: [null] })],
    ['sameAs with ..', whole({ sameAs: outside })],
    ['sameAs with a folder', whole({ sameAs: '20261101T030405Z-aaaaaa/..' })],
    ['sameAs with a line feed', whole({ sameAs: '20261101T030405Z-aaaaaa\n' })],
    ['sameAs that is not there', whole({ sameAs: '20261101T030405Z-aaaaaa' })],
    ['a previous snapshot with ..', whole({ previous })],
    ['a last good snapshot with ..', whole({ suspect: { reasons: ['x'], lastGood: outside } })],
    ['another account', whole({ account: { id: 11, name: 'Other' } })],
    ['an account in words', whole({ account: { id: '10', name: 'Shop' } })],
    ['an account with ..', whole({ account: { id: '../11', name: 'Shop' } })],
    ['another snapshot', whole({ snapshot: '20261101T030405Z-aaaaaa' })],
    ['a snapshot with ..', whole({ snapshot: outside })],
    ['format 0', whole({ formatVersion: 0 })],
    ['format 1 in words', whole({ formatVersion: '1' })],
    ['format 2', whole({ formatVersion: 2 })],
    ['no format', whole({ formatVersion: undefined })],
    ['null', () => null],
    ['a list', () => []],
    ['a text', () => 'manifest'],
    ['a number', () => 1],
  ]

  /** Whoever writes a hostile manifest also writes the SHA-256 it ends with. */
  const sealed = (document: unknown) =>
    document instanceof Object && !Array.isArray(document)
      ? encodeManifest(document as Manifest)
      : Buffer.from(JSON.stringify(document))

  const bodies: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ...hostile.map(([name, change]): [string, (bytes: Uint8Array) => Uint8Array] => [
      name,
      (bytes) => sealed(change(decodeManifest(bytes, 'it'))),
    ]),
    [
      'no SHA-256 of its own',
      (bytes) => Buffer.from(`${JSON.stringify(decodeManifest(bytes, 'it'), undefined, 2)}\n`),
    ],
    [
      'the SHA-256 of others',
      (bytes) => Buffer.from(Buffer.from(bytes).toString().replace('Shop', 'Shed')),
    ],
    ['more after its SHA-256', (bytes) => Buffer.concat([bytes, Buffer.from('\n')])],
    ['nothing', () => new Uint8Array()],
    ['more than a manifest may be', () => Buffer.alloc(1024 * 1024 + 1, ' ')],
    ['half a million brackets', () => Buffer.alloc(500_000, '[')],
    ['half a million objects', () => Buffer.from('{"a":'.repeat(100_000))],
    ['bytes that are not UTF-8', () => Uint8Array.of(0x7b, 0xff, 0x7d)],
    ['a byte order mark and nothing else', () => Uint8Array.of(0xef, 0xbb, 0xbf)],
  ]

  it.each(bodies)('with %s is a defect, and leads nowhere', async (_name, rewrite) => {
    const { store, third } = await archive()
    // What a reader must not be led to.
    store.objects.set(`11/20261101T030405Z-aaaaaa/search.json.zst`, Buffer.from('secret'))
    const key = `${third.folder}/manifest.json`
    store.objects.set(key, rewrite(bytesOf(store, key)))
    const found = await defects(store)
    expect(found.length).toBeGreaterThan(0)
    for (const defect of found) expect(defect).toMatch(/^2: 10\//)
    const followed = store.calls.filter(({ action }) => action !== 'list')
    for (const { key: asked } of followed) {
      expect(asked).toMatch(/^10\/\d{8}T\d{6}Z-[0-9a-f]{6}\/[a-z.-]+$/)
    }
  })

  it.each(bodies)('with %s does not lead the next run astray', async (_name, rewrite) => {
    const { store, third } = await archive()
    const key = `${third.folder}/manifest.json`
    store.objects.set(key, rewrite(bytesOf(store, key)))
    const source = scriptSource({
      search: exportBody('search', { a: 'Errors' }),
      dashboard: exportBody('dashboard', { x: 'Shop' }),
    })
    const { manifest } = await takeSnapshot(source, store, { takenAt: day(4), types })
    for (const { key: asked } of store.calls) {
      expect(asked).toMatch(/^10\/(\d{8}T\d{6}Z-[0-9a-f]{6}\/[a-z.-]*)?$/)
    }
    const found = await defects(store)
    expect(found.filter((defect) => defect.includes(manifest.snapshot))).toEqual([])
    expect(found.length).toBeGreaterThan(0)
  })
})
