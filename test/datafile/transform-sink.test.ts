import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createTransformSink } from '../../src/datafile/transform-sink.ts'

const transforms: [string, () => Transform | undefined][] = [
  ['none', () => undefined],
  ['zstd', () => zlib.createZstdCompress()],
  ['gzip', () => zlib.createGzip()],
  ['one that takes little at once', () => shout()],
]

/** Turns each byte into two. */
function shout(): Transform {
  return new Transform({
    readableHighWaterMark: 4,
    writableHighWaterMark: 4,
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.concat([chunk, chunk]))
    },
  })
}

const chunks = Array.from({ length: 40 }, (_, index) =>
  createHash('shake256', { outputLength: 20_000 }).update(`${index}`).digest(),
)

describe.each(transforms)('bytes through a transform (%s)', (_name, createTransform) => {
  it('come out in order at a callback that takes its time, one call after the other', async () => {
    const collect = async (pause: boolean) => {
      const output: Uint8Array[] = []
      let isBusy = false
      const sink = createTransformSink(createTransform(), async (chunk) => {
        expect(isBusy).toBe(false)
        isBusy = true
        if (pause) for (let turn = 0; turn < 3; turn += 1) await setImmediate()
        output.push(Uint8Array.from(chunk))
        isBusy = false
      })
      for (const chunk of chunks) await sink.write(chunk)
      await sink.end()
      return Buffer.concat(output)
    }
    const slow = await collect(true)
    expect(slow.length).toBeGreaterThanOrEqual(20_000 * 40)
    expect(slow.equals(await collect(false))).toBe(true)
  })

  it('wait while the callback is busy, so that only a little is in memory', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const sink = createTransformSink(createTransform(), () => gate)
    let accepted = 0
    const writing = (async () => {
      for (let round = 0; round < 5; round += 1) {
        for (const chunk of chunks) {
          await sink.write(chunk)
          accepted += 1
        }
      }
      await sink.end()
    })()
    for (let turn = 0; turn < 50; turn += 1) await setImmediate()
    expect(accepted).toBeLessThan(100)
    release()
    await writing
    expect(accepted).toBe(200)
  })

  it('fail where the callback fails, at whichever call', async () => {
    for (let failing = 0; failing < 4; failing += 1) {
      let calls = 0
      const sink = createTransformSink(createTransform(), async () => {
        await setImmediate()
        if (calls++ === failing) throw new Error('full')
      })
      const all = async () => {
        for (const chunk of chunks) await sink.write(chunk)
        await sink.end()
      }
      await expect(all()).rejects.toThrow('full')
      sink.destroy()
      expect(calls).toBe(failing + 1)
    }
  })

  it('stop when they are given up at any time, without a sound', async () => {
    for (let after = 0; after < 6; after += 1) {
      let calls = 0
      const sink = createTransformSink(createTransform(), async () => {
        calls += 1
        await setImmediate()
      })
      for (const chunk of chunks.slice(0, after)) await sink.write(chunk)
      if (after === 5) await sink.end()
      sink.destroy()
      sink.destroy()
      const callsSoFar = calls
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
      // What was on its way to the callback may still reach it.
      expect(calls).toBeLessThanOrEqual(callsSoFar + 1)
    }
  })
})

describe('a transform that fails', () => {
  const failing: [string, () => Transform, Buffer][] = [
    ['on what is not zstd', () => zlib.createZstdDecompress(), Buffer.from('not zstd at all')],
    ['on what is not gzip', () => zlib.createGunzip(), Buffer.from('not gzip at all')],
    ['on an empty zstd file', () => zlib.createZstdDecompress(), Buffer.alloc(0)],
    ['on an empty gzip file', () => zlib.createGunzip(), Buffer.alloc(0)],
    [
      'on half a zstd file',
      () => zlib.createZstdDecompress(),
      zlib.zstdCompressSync(Buffer.alloc(1000, 'ab')).subarray(0, 15),
    ],
  ]

  it.each(failing)('says so %s', async (_name, createTransform, input) => {
    const output: Uint8Array[] = []
    const sink = createTransformSink(createTransform(), (chunk) => {
      output.push(chunk)
    })
    const all = async () => {
      await sink.write(input)
      await sink.end()
      return Buffer.concat(output).length
    }
    const outcome = await all().catch((error: unknown) => error)
    // Node ends an empty compressed file without an error: lengths are compared elsewhere.
    if (input.length === 0) expect(outcome).toSatisfy((it) => it === 0 || it instanceof Error)
    else expect(outcome).toBeInstanceOf(Error)
  })

  it('does not keep a later write waiting', async () => {
    const sink = createTransformSink(zlib.createZstdDecompress(), () => {})
    const all = async () => {
      for (let round = 0; round < 100; round += 1) await sink.write(Buffer.alloc(65_536, 'x'))
    }
    await expect(all()).rejects.toThrow()
    await expect(sink.write(Buffer.from('x'))).rejects.toThrow()
    await expect(sink.end()).rejects.toThrow()
  })
})
