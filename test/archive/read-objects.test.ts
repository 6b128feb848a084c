import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyExport, readObjects } from '../../src/archive/read-objects.ts'
import { createSealer } from '../../src/datafile/encryption.ts'
import { fillArchive, hitOf } from './archive-of.ts'
import { flipBit, type MemoryStore } from './memory-store.ts'

const many = Array.from({ length: 500 }, (_, at) =>
  hitOf(`search:n${at}`, { title: `Title ${at}`, text: 'x'.repeat(2000) }),
)

function dataKey(store: MemoryStore): string {
  return store.keys().find((key) => key.endsWith('.zst')) ?? ''
}

describe('objects of the archive', () => {
  it('are read in their own bytes and in the order received', async () => {
    const { store, manifests } = await fillArchive([{ search: many }])
    store.chunkBytes = 777
    const hits = await Array.fromAsync(readObjects(store, manifests[0], 'search'))
    expect(hits.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))).toEqual(many)
    expect(hits[7]).toMatchObject({ id: 'search:n7', title: 'Title 7' })
  })

  it('are all read, at any size and in any chunks', async () => {
    const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(150_000)), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 20, max: 70_000 }), async (lengths, chunkBytes) => {
        const objects = lengths.map((length, at) =>
          hitOf(`search:n${at}`, { text: 'x'.repeat(length) }),
        )
        const { store, manifests } = await fillArchive([{ search: objects }])
        store.chunkBytes = chunkBytes
        const hits = await Array.fromAsync(readObjects(store, manifests[0], 'search'))
        expect(hits.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))).toEqual(objects)
      }),
      { numRuns: 40 },
    )
  })

  it('end in an error when they are not as many as the manifest names', async () => {
    const { store, manifests } = await fillArchive([{ search: many.slice(1) }])
    const exports = manifests[0].exports.map((entry) => ({ ...entry, objects: 500 }))
    const reading = Array.fromAsync(readObjects(store, { ...manifests[0], exports }, 'search'))
    await expect(reading).rejects.toMatchObject({ kind: 'unverified' })
    await expect(reading).rejects.toThrow(/it holds 499 objects instead of 500/)
  })

  it('can be left early, which is no error and ends the reading', async () => {
    const { store, manifests } = await fillArchive([{ search: many }])
    for await (const { id } of readObjects(store, manifests[0], 'search')) {
      expect(id).toBe('search:n0')
      break
    }
    expect(await Array.fromAsync(readObjects(store, manifests[0], 'search'))).toHaveLength(500)
  })

  it('end in an error when the file is not what its manifest says', async () => {
    const { store, manifests } = await fillArchive([{ search: many }])
    const key = dataKey(store)
    const bytes = store.objects.get(key) as Uint8Array
    store.objects.set(key, flipBit(bytes, bytes.length * 7))
    const reading = Array.fromAsync(readObjects(store, manifests[0], 'search'))
    await expect(reading).rejects.toMatchObject({ kind: 'unverified' })
    await expect(reading).rejects.toThrow(`Cannot read the archive: ${key}: `)
    store.objects.delete(key)
    await expect(Array.fromAsync(readObjects(store, manifests[0], 'search'))).rejects.toThrow(
      /it is not there/,
    )
  })

  it('are not read of a type that the snapshot lacks', async () => {
    const { store, manifests } = await fillArchive([{ search: [] }])
    const reading = Array.fromAsync(readObjects(store, manifests[0], 'query'))
    await expect(reading).rejects.toMatchObject({ kind: 'usage', hint: 'it holds search' })
  })

  it('are not read without the key they are encrypted for', async () => {
    const sealer = await createSealer({ passphrase: 'five words' })
    const { store, manifests } = await fillArchive([{ search: [] }], { sealer })
    const reading = Array.fromAsync(readObjects(store, manifests[0], 'search'))
    await expect(reading).rejects.toMatchObject({ kind: 'usage' })
    await expect(reading).rejects.toThrow(/it is encrypted, and no key is configured/)
  })

  it('stop coming when the run is interrupted', async () => {
    const { store, manifests } = await fillArchive([{ search: many }])
    store.chunkBytes = 100
    const interruption = new AbortController()
    const reading = (async () => {
      const options = { signal: interruption.signal }
      for await (const _ of readObjects(store, manifests[0], 'search', options)) {
        interruption.abort(new Error('enough'))
      }
    })()
    await expect(reading).rejects.toThrow('enough')
  })
})

describe('an export of the archive', () => {
  const body = '{ "hits" : [] , "kibanaVersion":"7" }\n'

  it('is copied byte for byte', async () => {
    const { store, manifests } = await fillArchive([{ search: body }])
    const chunks: Uint8Array[] = []
    await copyExport(store, manifests[0], 'search', {
      onContent: async (chunk) => void chunks.push(Uint8Array.from(chunk)),
    })
    expect(Buffer.concat(chunks).toString()).toBe(body)
  })

  it('are copied as a whole up to the error when they are not as many as the manifest names', async () => {
    const { store, manifests } = await fillArchive([{ search: many.slice(1) }])
    const exports = manifests[0].exports.map((entry) => ({ ...entry, objects: 500 }))
    let bytes = 0
    const copying = copyExport(store, { ...manifests[0], exports }, 'search', {
      onContent: async (chunk) => {
        bytes += chunk.length
      },
    })
    await expect(copying).rejects.toMatchObject({ kind: 'unverified' })
    await expect(copying).rejects.toThrow(/it holds 499 objects instead of 500/)
    expect(bytes).toBe(manifests[0].exports[0]?.file.content.bytes)
  })

  it('is not copied without an error when it is damaged', async () => {
    const { store, manifests } = await fillArchive([{ search: body }])
    const key = dataKey(store)
    store.objects.set(key, Buffer.from('damaged'))
    const copying = copyExport(store, manifests[0], 'search', { onContent: async () => {} })
    await expect(copying).rejects.toMatchObject({ kind: 'unverified' })
  })
})
