import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Compression, dataFileName } from '../../src/datafile/compression.ts'
import { createDataFile, type DataFile, proveDataFile } from '../../src/datafile/data-file.ts'
import { StoreError } from '../../src/store/errors.ts'
import { createMemoryStore, flipBit, type MemoryStore } from '../archive/memory-store.ts'
import { zstdFrames } from '../archive/zstd-frames.ts'

const compressions: Compression[] = ['zstd', 'gzip', 'none']
const mebibyte = 1024 * 1024

const decompress: Record<Compression, (bytes: Uint8Array) => Buffer> = {
  zstd: (bytes) => Buffer.concat(splitFrames(bytes).map((frame) => zlib.zstdDecompressSync(frame))),
  gzip: (bytes) => zlib.gunzipSync(bytes),
  none: (bytes) => Buffer.from(bytes),
}

/** The frames of a zstd file; Node decompresses no more than the first of what it is given. */
function splitFrames(file: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = []
  let at = 0
  for (const { bytes } of zstdFrames(file)) {
    frames.push(file.subarray(at, at + bytes))
    at += bytes
  }
  return frames
}

/** Bytes that do not compress, the same on every run. */
function noise(length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update('noise').digest()
}

/** Half text as in an export, half noise. */
function sample(length: number): Buffer {
  const text = Buffer.alloc(length, '{"_id":"dashboard:a","_source":{"title":"Shop"}},')
  noise(length >> 1).copy(text)
  return text
}

function fingerprint(bytes: Uint8Array) {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function keyFor(compression: Compression): string {
  return `10/20261120T163100Z-4f2a1c/${dataFileName('search', compression, { encrypted: false })}`
}

async function storeFile(
  store: MemoryStore,
  compression: Compression,
  content: Uint8Array,
  chunkBytes = 64 * 1024,
): Promise<DataFile> {
  const options = { compression, metadata: () => ({ type: 'search' }) }
  await using writer = await createDataFile(store, keyFor(compression), options)
  for (let at = 0; at < content.length; at += chunkBytes) {
    await writer.write(content.subarray(at, at + chunkBytes))
  }
  const file = await writer.finish()
  expect(store.keys()).toEqual([])
  await writer.commit()
  return file
}

function stored(store: MemoryStore, compression: Compression): Uint8Array {
  return store.objects.get(keyFor(compression)) ?? expect.fail('nothing is stored')
}

describe.each(compressions)('a data file (%s)', (compression) => {
  const key = keyFor(compression)

  it.each([
    [0, 1],
    [1, 1],
    [5000, 1],
    [5000, 777],
    [2 * mebibyte, 65_537],
    [2 * mebibyte + 1, 65_537],
    [3 * mebibyte, 100_003],
    [3 * mebibyte, 1_999_993],
    [5 * mebibyte, 5 * mebibyte],
  ])('holds %i bytes that come %i at a time, and says so', async (length, chunkBytes) => {
    const store = createMemoryStore()
    const content = sample(length)
    const file = await storeFile(store, compression, content, chunkBytes)
    const bytes = stored(store, compression)
    expect(decompress[compression](bytes).equals(content)).toBe(true)
    expect(file).toEqual({
      name: dataFileName('search', compression, { encrypted: false }),
      compression,
      stored: fingerprint(bytes),
      content: fingerprint(content),
    })
    expect(store.metadata.get(key)).toEqual({ type: 'search' })
    expect(store.unfinished()).toBe(0)
    if (compression === 'zstd') {
      const frames = zstdFrames(bytes)
      expect(frames).toHaveLength(Math.max(Math.ceil(length / (2 * mebibyte)), 1))
      expect(frames.every(({ hasChecksum }) => hasChecksum)).toBe(true)
      expect(frames[0]?.saysSize).toBe(length <= 2 * mebibyte)
    }
  })

  it('is proven whole, and read, in chunks of any size', async () => {
    const store = createMemoryStore()
    const content = sample(3000)
    const file = await storeFile(store, compression, content)
    for (store.chunkBytes of [1, 13, 100_000]) {
      const read: Uint8Array[] = []
      const defect = await proveDataFile(store, key, file, {
        onContent: (chunk) => read.push(Uint8Array.from(chunk)),
      })
      expect(defect).toBeUndefined()
      expect(Buffer.concat(read).equals(content)).toBe(true)
    }
  })

  it('of many blocks is proven whole, and read, in chunks of any size', async () => {
    const store = createMemoryStore()
    const content = sample(9 * mebibyte + 1)
    const file = await storeFile(store, compression, content)
    for (store.chunkBytes of [9999, 20 * mebibyte]) {
      const read: Uint8Array[] = []
      const onContent = (chunk: Uint8Array) => read.push(Uint8Array.from(chunk))
      expect(await proveDataFile(store, key, file, { onContent })).toBeUndefined()
      expect(Buffer.concat(read).equals(content)).toBe(true)
    }
  })

  it('is found to be missing', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(100))
    await store.remove(key)
    const defect = await proveDataFile(store, key, file)
    expect(defect).toEqual({ problem: 'missing', detail: 'it is not there' })
  })

  it('is found to be damaged when any single bit has changed', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(80))
    const sound = stored(store, compression)
    for (let bit = 0; bit < sound.length * 8; bit += 1) {
      store.objects.set(key, flipBit(sound, bit))
      const defect = await proveDataFile(store, key, file)
      if (defect?.problem !== 'stored-bytes') expect.fail(`bit ${bit}: ${defect?.problem}`)
    }
  })

  it('is never taken for another content, also when its stored bytes are as described', async () => {
    const store = createMemoryStore()
    const content = sample(80)
    const file = await storeFile(store, compression, content)
    const sound = stored(store, compression)
    for (let bit = 0; bit < sound.length * 8; bit += 1) {
      const damaged = flipBit(sound, bit)
      store.objects.set(key, damaged)
      const read: Uint8Array[] = []
      const described = { ...file, stored: fingerprint(damaged) }
      const defect = await proveDataFile(store, key, described, {
        onContent: (chunk) => read.push(Uint8Array.from(chunk)),
      })
      const isFound = defect?.problem === 'decoding' || defect?.problem === 'content'
      // Some bits, such as the time in a gzip header, say nothing about the content.
      const isHarmless = defect === undefined && Buffer.concat(read).equals(content)
      if (!isFound && !isHarmless) expect.fail(`bit ${bit}: ${JSON.stringify(defect)}`)
    }
  })

  it('is found to be cut short, wherever it ends', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(200))
    const sound = stored(store, compression)
    for (let length = 0; length < sound.length; length += 1) {
      store.objects.set(key, sound.slice(0, length))
      expect(await proveDataFile(store, key, file)).toEqual({
        problem: 'stored-bytes',
        detail: `it has ${length} bytes instead of ${sound.length}`,
      })
    }
  })

  it.each([
    ['a byte', Buffer.from('x')],
    ['a long tail of noise', noise(mebibyte)],
    ['a long tail of zeros', Buffer.alloc(mebibyte)],
  ])('is found to be longer by %s', async (_name, extra) => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(5000))
    const longer = Buffer.concat([stored(store, compression), extra])
    store.objects.set(key, longer)
    for (store.chunkBytes of [4096, 2 * mebibyte]) {
      const defect = await proveDataFile(store, key, file)
      expect(defect?.problem).toBe('stored-bytes')
      expect(defect?.detail).toContain(`it has ${longer.length} bytes instead of`)
    }
  })

  it('is found to hold itself twice', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(5000))
    const once = stored(store, compression)
    store.objects.set(key, Buffer.concat([once, once]))
    expect((await proveDataFile(store, key, file))?.problem).toBe('stored-bytes')
  })

  it('is found to differ from each figure of its description', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(5000))
    const { stored: storedPrint, content } = file
    const problem = async (described: Partial<DataFile>) =>
      (await proveDataFile(store, key, { ...file, ...described }))?.problem
    const sha256 = 'a'.repeat(64)
    const oneMore = (print: typeof content) => ({ ...print, bytes: print.bytes + 1 })
    const oneLess = (print: typeof content) => ({ ...print, bytes: print.bytes - 1 })
    expect(await problem({ stored: oneMore(storedPrint) })).toBe('stored-bytes')
    expect(await problem({ stored: oneLess(storedPrint) })).toBe('stored-bytes')
    expect(await problem({ stored: { ...storedPrint, sha256 } })).toBe('stored-bytes')
    expect(await problem({ content: oneMore(content) })).toBe('content')
    expect(await problem({ content: oneLess(content) })).toBe('decoding')
    expect(await problem({ content: { ...content, sha256 } })).toBe('content')
    expect(await problem({ content: { ...content, bytes: Number.MAX_SAFE_INTEGER } })).toBe(
      'content',
    )
  })

  it('is found to be compressed in another way than described', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(5000))
    for (const other of compressions.filter((name) => name !== compression)) {
      const defect = await proveDataFile(store, key, { ...file, compression: other })
      expect(['decoding', 'content']).toContain(defect?.problem)
    }
  })

  it('is read no further than described, however much it unpacks to', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, Buffer.alloc(4 * mebibyte))
    const described = { ...file, content: { ...file.content, bytes: 300_000 } }
    let read = 0
    const defect = await proveDataFile(store, key, described, {
      onContent: (chunk) => {
        read += chunk.length
      },
    })
    expect(defect?.problem).toBe('decoding')
    expect(read).toBeLessThanOrEqual(300_000)
  })

  it.each([
    ['small', 3000],
    ['large', 6 * mebibyte],
  ])('that is %s does not show when the store fails at whatever step', async (_name, length) => {
    const content = noise(length)
    const run = async (failing: number) => {
      const store = createMemoryStore()
      store.intercept = ({ action }) => {
        if (store.calls.length === failing) throw new StoreError(`Cannot ${action}: disk full`)
      }
      const outcome = await storeFile(store, compression, content, 50_000).catch(
        (error: Error) => error.message,
      )
      return { store, outcome }
    }
    const { length: steps } = (await run(0)).store.calls
    expect(steps).toBeGreaterThanOrEqual(length > mebibyte ? 5 : 3)
    for (const failing of new Set([1, 2, 3, steps >> 1, steps - 1, steps])) {
      const { store, outcome } = await run(failing)
      expect(outcome).toMatch(/^Cannot (create|write|commit): disk full$/)
      expect([store.keys(), store.unfinished()]).toEqual([[], 0])
    }
  })

  it('cannot be completed once a write has failed', async () => {
    const store = createMemoryStore()
    store.intercept = ({ action }) => {
      if (action === 'write') throw new StoreError('Cannot write: disk full')
    }
    const options = { compression, metadata: () => ({}) }
    await using writer = await createDataFile(store, key, options)
    const attempts = async () => {
      for (let chunk = 0; chunk < 8; chunk += 1) await writer.write(noise(mebibyte))
    }
    await expect(attempts()).rejects.toThrow('Cannot write: disk full')
    const complete = async () => {
      await writer.finish()
      await writer.commit()
    }
    await expect(complete()).rejects.toThrow()
    expect(store.keys()).toEqual([])
  })

  it('does not show when it is given up, in the middle of a write too', async () => {
    for (const until of ['begun', 'writing', 'written', 'finished'] as const) {
      const store = createMemoryStore()
      const options = { compression, metadata: () => ({}) }
      const writer = await createDataFile(store, key, options)
      if (until === 'writing') {
        const writing = writer.write(noise(3 * mebibyte))
        writing.catch(() => {})
      } else if (until !== 'begun') {
        await writer.write(noise(3 * mebibyte))
      }
      if (until === 'finished') await writer.finish()
      await writer[Symbol.asyncDispose]()
      await writer[Symbol.asyncDispose]()
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
      expect(store.keys()).toEqual([])
      expect(store.unfinished()).toBe(0)
    }
  })

  it('stops when it is aborted', async () => {
    const store = createMemoryStore()
    const controller = new AbortController()
    const options = { compression, metadata: () => ({}), signal: controller.signal }
    await using writer = await createDataFile(store, key, options)
    await writer.write(noise(mebibyte))
    controller.abort(new Error('stop'))
    const rest = async () => {
      for (let chunk = 0; chunk < 8; chunk += 1) await writer.write(noise(mebibyte))
      await writer.finish()
    }
    await expect(rest()).rejects.toThrow('stop')
    expect(store.keys()).toEqual([])
  })

  it('cannot be proven when the store breaks off, which is no defect', async () => {
    const store = createMemoryStore()
    const file = await storeFile(store, compression, sample(5000))
    const breaking: MemoryStore = {
      ...store,
      open: async () =>
        (async function* () {
          yield stored(store, compression).subarray(0, 10)
          throw new StoreError('Cannot read: cut', { transient: true })
        })(),
    }
    await expect(proveDataFile(breaking, key, file)).rejects.toThrow('Cannot read: cut')
  })
})

describe('a data file of an older snapshot', () => {
  it('is one frame however large it is, and read as before', async () => {
    const store = createMemoryStore()
    const content = sample(5 * mebibyte)
    const file = await storeFile(store, 'zstd', content)
    const older = zlib.zstdCompressSync(content)
    store.objects.set(keyFor('zstd'), older)
    const described = { ...file, stored: fingerprint(older) }
    expect(await proveDataFile(store, keyFor('zstd'), described)).toBeUndefined()
  })
})

describe('a compressor that does not give back what it was given', () => {
  /** Has the compressors take the wrong bytes for the block of that number, from 0. */
  function falsifyBlock(wrong: number): void {
    const flip = (bytes: Uint8Array) => flipBit(bytes, 8 * (bytes.length >> 1))
    const { createZstdCompress, gzip } = zlib
    let blocks = 0
    vi.spyOn(zlib, 'createZstdCompress').mockImplementation((options) => {
      const stream = createZstdCompress(options)
      const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
      stream.write = (chunk: Uint8Array, ...rest: unknown[]) => {
        // A flush writes nothing.
        if (chunk.length > 0) blocks += 1
        return write(chunk.length > 0 && blocks === wrong + 1 ? flip(chunk) : chunk, ...rest)
      }
      return stream
    })
    vi.spyOn(zlib, 'gzip').mockImplementation(((block: Uint8Array, ...rest: unknown[]) => {
      blocks += 1
      const given = blocks === wrong + 1 ? flip(block) : block
      return (gzip as (...args: unknown[]) => void)(given, ...rest)
    }) as typeof zlib.gzip)
  }

  afterEach(() => vi.restoreAllMocks())

  it.each([
    ['zstd', 5000, 0],
    ['zstd', 7 * mebibyte, 1],
    ['zstd', 7 * mebibyte, 3],
    ['zstd', 21 * mebibyte, 7],
    ['zstd', 21 * mebibyte, 10],
    ['gzip', 5000, 0],
    ['gzip', 7 * mebibyte, 3],
    ['gzip', 21 * mebibyte, 10],
  ] as const)('is found out (%s, %i bytes, block %i)', async (compression, length, wrong) => {
    falsifyBlock(wrong)
    const store = createMemoryStore()
    const content = Buffer.alloc(length, 'a dashboard, ')
    await expect(storeFile(store, compression, content)).rejects.toThrow(
      /^Cannot trust the compression of \d+ bytes: other bytes come back$/,
    )
    expect([store.keys(), store.unfinished()]).toEqual([[], 0])
  })

  it('shows in the middle of large content when the file is proven', async () => {
    falsifyBlock(9)
    const store = createMemoryStore()
    const file = await storeFile(store, 'zstd', Buffer.alloc(21 * mebibyte, 'a dashboard, '))
    const defect = await proveDataFile(store, keyFor('zstd'), file)
    expect(defect?.problem).toBe('content')
  })
})

describe('the name of a data file', () => {
  it('says its type and how it is compressed', () => {
    expect(
      compressions.map((compression) => dataFileName('search', compression, { encrypted: false })),
    ).toEqual(['search.json.zst', 'search.json.gz', 'search.json'])
  })
})
