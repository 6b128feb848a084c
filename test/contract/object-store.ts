import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreError } from '../../src/store/errors.ts'
import type { ObjectMetadata, ObjectStore, ObjectWriter } from '../../src/store/object-store.ts'
import { collect } from './collect.ts'

/** A store that holds nothing, and how to look behind it. */
export interface StoreUnderTest extends AsyncDisposable {
  readonly store: ObjectStore
  /** How many objects it lists at once. Default: 1,000, as S3 does. */
  readonly pageSize?: number
  /** The metadata as kept, decoded; absent where the store keeps none. */
  readonly readMetadata?: (key: string) => Promise<ObjectMetadata>
  /** Names of what unfinished writers left behind. */
  readonly findLeftovers: () => Promise<string[]>
}

const mebibyte = 1024 * 1024

/** The promises of the port, for every store that makes them. */
export function describeObjectStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the promises of an object store`, () => {
    let opened: StoreUnderTest
    let store: ObjectStore

    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(async () => {
      await store.close()
      await opened[Symbol.asyncDispose]()
    })

    describe('whole objects', () => {
      for (const size of [0, 1, 5 * mebibyte + 1, 9 * mebibyte]) {
        it(`gives back ${size} bytes`, async () => {
          const body = randomBytes(size)
          await store.put('a/b', body)
          expect(digest(await store.get('a/b', { maxBytes: size }))).toBe(digest(body))
          expect(digest(await drain(await store.open('a/b')))).toBe(digest(body))
          expect(await sizes(store)).toEqual({ 'a/b': size })
        })
      }

      it('replaces what is under the key', async () => {
        await store.put('a', Buffer.from('first and longer'))
        await store.put('a', Buffer.from('second'))
        expect(await text(store, 'a')).toBe('second')
      })

      it('dates what it lists', async () => {
        const before = Date.now()
        await store.put('a', Buffer.from('x'))
        const [object] = await collect(store.list(''))
        expect(Math.abs((object?.modifiedAt.getTime() ?? 0) - before)).toBeLessThan(60_000)
      })

      it('refuses to read more than it was allowed to', async () => {
        await store.put('a', Buffer.alloc(100))
        await expect(store.get('a', { maxBytes: 99 })).rejects.toThrow(
          /^Cannot read .*a: it has 100 bytes, more than 99$/,
        )
        expect(await store.get('a', { maxBytes: 100 })).toHaveLength(100)
      })
    })

    describe('unfinished writes', () => {
      it('are listed while they last, and removed for good', async () => {
        const before = Date.now()
        const left: ObjectWriter[] = []
        for (const key of ['left/1', 'left/2', 'left/3']) {
          const writer = await store.create(key)
          // S3 has begun a write for sure when the second part of 8 MiB is being sent.
          await writer.write(Buffer.alloc(17 * mebibyte))
          left.push(writer)
        }
        const found = await collect(store.listUnfinished())
        expect(found).toHaveLength(3)
        for (const { startedAt } of found) {
          expect(Math.abs(startedAt.getTime() - before)).toBeLessThan(60_000)
        }
        expect(await sizes(store)).toEqual({})
        for (const write of found) {
          await write.remove()
          await write.remove()
        }
        expect(await collect(store.listUnfinished())).toEqual([])
        for (const writer of left) {
          await expect(writer.commit()).rejects.toThrow(StoreError)
          await writer[Symbol.asyncDispose]()
        }
        expect(await sizes(store)).toEqual({})
      })

      it('do not count when they are committed or given up', async () => {
        await using committed = await store.create('a')
        await committed.write(Buffer.alloc(9 * mebibyte))
        await committed.commit()
        const givenUp = await store.create('b')
        await givenUp.write(Buffer.alloc(9 * mebibyte))
        await givenUp[Symbol.asyncDispose]()
        expect(await collect(store.listUnfinished())).toEqual([])
      })
    })

    describe('objects in pieces', () => {
      it('gives back 20 MiB written in odd pieces from one reused buffer', async () => {
        const body = randomBytes(20 * mebibyte + 7)
        const reused = Buffer.alloc(777_777)
        await using writer = await store.create('a/large')
        for (let from = 0; from < body.length; from += reused.length) {
          const length = body.copy(reused, 0, from)
          await writer.write(reused.subarray(0, length))
          reused.fill(0)
        }
        await writer.commit()
        expect(digest(await drain(await store.open('a/large')))).toBe(digest(body))
      })

      for (const pieces of [[], [0], [3, 0, 5], [8 * mebibyte], [8 * mebibyte, 1]]) {
        it(`gives back pieces of ${JSON.stringify(pieces)} bytes`, async () => {
          const bodies = pieces.map((size) => randomBytes(size))
          await using writer = await store.create('a')
          for (const body of bodies) await writer.write(body)
          await writer.commit()
          const read = await store.get('a', { maxBytes: 20 * mebibyte })
          expect(digest(read)).toBe(digest(Buffer.concat(bodies)))
        })
      }

      for (const size of [10, 20 * mebibyte]) {
        it(`shows nothing of ${size} bytes before the commit, all after`, async () => {
          await using writer = await store.create('a/b')
          await writer.write(Buffer.alloc(size))
          expect(await store.get('a/b', { maxBytes: size })).toBeUndefined()
          expect(await sizes(store)).toEqual({})
          await writer.commit()
          expect(await sizes(store)).toEqual({ 'a/b': size })
          expect(await opened.findLeftovers()).toEqual([])
        })

        it(`leaves nothing of ${size} bytes that are not committed`, async () => {
          {
            await using writer = await store.create('a/b')
            await writer.write(Buffer.alloc(size))
          }
          expect(await sizes(store)).toEqual({})
          expect(await opened.findLeftovers()).toEqual([])
        })
      }

      it('keeps what was there when a writer of the same key is dropped', async () => {
        await store.put('a', Buffer.from('kept'))
        {
          await using writer = await store.create('a')
          await writer.write(Buffer.from('dropped'))
        }
        expect(await text(store, 'a')).toBe('kept')
      })

      it('takes nothing after the commit', async () => {
        await using writer = await store.create('a')
        await writer.write(Buffer.from('all'))
        await writer.commit()
        await expect(writer.write(Buffer.from('more'))).rejects.toThrow('committed')
        await expect(writer.commit()).rejects.toThrow('committed')
        expect(await text(store, 'a')).toBe('all')
      })

      it('writes two objects at once', async () => {
        await using left = await store.create('x/left')
        await using right = await store.create('x/right')
        const [leftBody, rightBody] = [randomBytes(9 * mebibyte), randomBytes(9 * mebibyte)]
        for (let from = 0; from < leftBody.length; from += mebibyte) {
          await Promise.all([
            left.write(leftBody.subarray(from, from + mebibyte)),
            right.write(rightBody.subarray(from, from + mebibyte)),
          ])
        }
        await Promise.all([left.commit(), right.commit()])
        expect(digest(await drain(await store.open('x/left')))).toBe(digest(leftBody))
        expect(digest(await drain(await store.open('x/right')))).toBe(digest(rightBody))
      })
    })

    describe('keys', () => {
      const oddKeys = [
        'with space/ and more ',
        'percent%20/100%',
        'plus+plus/a+b',
        'star*/question?',
        'colon:2026-11-20T16:31:00Z',
        'emoji/😀🇪🇺',
        'umlaut/äöü-ñ-漢字',
        `quotes/'single'"double"\``,
        'xml/<a>&amp;&b;</a>',
        'signs/#~!@$^()[]{}|;,=',
        '.hidden/..almost/...',
        '__proto__',
      ]
      for (const key of oddKeys) {
        it(`takes ${key}`, async () => {
          await store.put(key, Buffer.from(key))
          expect(await text(store, key)).toBe(key)
          expect(await keys(store, key)).toEqual([key])
          await store.remove(key)
          expect(await store.get(key, { maxBytes: 1000 })).toBeUndefined()
        })
      }

      const noKeys = [
        '',
        '/',
        '/absolute',
        'trailing/',
        'a//b',
        '.',
        '..',
        '../escape',
        'a/../../escape',
        'a/./b',
        'a/..',
        'nul\0',
        'line\nbreak',
        'back\\slash',
        '\ud800',
        'long/'.repeat(300),
      ]
      it('refuses an invalid key in every method', async () => {
        for (const key of noKeys) {
          const refused = { name: 'StoreError', kind: 'usage' }
          await expect(store.put(key, Buffer.alloc(1))).rejects.toMatchObject(refused)
          await expect(store.create(key)).rejects.toMatchObject(refused)
          await expect(store.get(key, { maxBytes: 1 })).rejects.toMatchObject(refused)
          await expect(store.open(key)).rejects.toMatchObject(refused)
          await expect(store.remove(key)).rejects.toMatchObject(refused)
        }
        expect(await sizes(store)).toEqual({})
      })
    })

    describe('listing', () => {
      it('lists in the order of UTF-8 bytes, across folders', async () => {
        const expected = [
          'A',
          'a!',
          'a-b/x',
          'a.b',
          'a/b',
          'a/b-c/d',
          'a/b.c',
          'a/c',
          'a0',
          'aa',
          'z\u{ffee}',
          'z\u{10000}',
        ]
        for (const key of expected.toReversed()) await store.put(key, Buffer.from('x'))
        expect(await keys(store, '')).toEqual(expected)
        for (const after of expected) {
          const rest = expected.slice(expected.indexOf(after) + 1)
          expect(await keys(store, '', after)).toEqual(rest)
        }
      })

      it('lists what begins with the prefix, also in the middle of a name', async () => {
        for (const key of ['1/a/x', '1/ab/x', '1/b/x', '10/a', '2/a']) {
          await store.put(key, Buffer.from('x'))
        }
        expect(await keys(store, '1')).toEqual(['1/a/x', '1/ab/x', '1/b/x', '10/a'])
        expect(await keys(store, '1/')).toEqual(['1/a/x', '1/ab/x', '1/b/x'])
        expect(await keys(store, '1/a')).toEqual(['1/a/x', '1/ab/x'])
        expect(await keys(store, '1/', '1/a/x')).toEqual(['1/ab/x', '1/b/x'])
        expect(await keys(store, '1/', '1/aa')).toEqual(['1/ab/x', '1/b/x'])
        expect(await keys(store, '1/', '0')).toEqual(['1/a/x', '1/ab/x', '1/b/x'])
        expect(await keys(store, '1/', '2')).toEqual([])
        expect(await keys(store, '3')).toEqual([])
        expect(await keys(store, '../')).toEqual([])
      })

      it('lists more objects than a page has, and continues in the middle', async () => {
        const { pageSize = 1000 } = opened
        const expected = Array.from(
          { length: pageSize + 105 },
          (_, index) => `many/${10_000 + index}/x`,
        )
        await inBatches(expected, (key) => store.put(key, Buffer.from('x')))
        expect(await keys(store, 'many/')).toEqual(expected)
        expect(await keys(store, 'many/', expected[49])).toEqual(expected.slice(50))
        expect(await keys(store, 'many/', expected.at(-2))).toEqual(expected.slice(-1))
      }, 300_000)

      it('lists what keys begin with, up to the first slash', async () => {
        expect(await collect(store.listPrefixes())).toEqual([])
        for (const key of ['10/b/x', '10/a/x', '2/a', 'pins/1/x', 'z']) {
          await store.put(key, Buffer.from('x'))
        }
        expect(await collect(store.listPrefixes())).toEqual(['10/', '2/', 'pins/'])
      })

      it('stops when the reader does', async () => {
        for (const key of ['a', 'b', 'c']) await store.put(key, Buffer.from('x'))
        for await (const { key } of store.list('')) {
          expect(key).toBe('a')
          break
        }
      })
    })

    describe('what is not there', () => {
      it('is undefined to whoever reads it, and listed as nothing', async () => {
        expect(await store.get('no', { maxBytes: 1 })).toBeUndefined()
        expect(await store.open('no/such/object')).toBeUndefined()
        expect(await keys(store, '')).toEqual([])
        await store.put('a/b', Buffer.from('x'))
        expect(await store.get('a', { maxBytes: 1 })).toBeUndefined()
        expect(await store.get('a/b/c', { maxBytes: 1 })).toBeUndefined()
      })

      it('can be removed, once more too', async () => {
        await store.remove('no')
        await store.put('a/b/c', Buffer.from('x'))
        await store.put('a/d', Buffer.from('x'))
        await store.remove('a/b/c')
        await store.remove('a/b/c')
        await store.remove('a/d/e')
        expect(await keys(store, '')).toEqual(['a/d'])
      })
    })

    describe('metadata', () => {
      const metadata = { 'taken-at': '2026-11-20T16:31:00Z', type: 'große % Suche 😀 ' }

      it('travels with a small object where the store can carry it', async () => {
        await store.put('a', Buffer.from('x'), { metadata })
        if (opened.readMetadata) expect(await opened.readMetadata('a')).toEqual(metadata)
        expect(await text(store, 'a')).toBe('x')
      })

      it('is asked for once bytes have arrived', async () => {
        for (const size of [10, 9 * mebibyte]) {
          let written = false
          await using writer = await store.create(`size/${size}`, {
            metadata: () => {
              expect(written).toBe(true)
              return metadata
            },
          })
          await writer.write(Buffer.alloc(Math.min(size, 8 * mebibyte)))
          written = true
          await writer.write(Buffer.alloc(size - Math.min(size, 8 * mebibyte)))
          await writer.commit()
          if (opened.readMetadata) {
            expect(await opened.readMetadata(`size/${size}`)).toEqual(metadata)
          }
        }
      })
    })

    describe('aborted signals', () => {
      it('stop every call with their reason before anything happens', async () => {
        await store.put('a', Buffer.from('x'))
        const reason = new Error('the reason')
        const signal = AbortSignal.abort(reason)
        await expect(store.put('b', Buffer.from('x'), { signal })).rejects.toBe(reason)
        await expect(store.create('b', { signal })).rejects.toBe(reason)
        await expect(store.get('a', { maxBytes: 1, signal })).rejects.toBe(reason)
        await expect(store.open('a', { signal })).rejects.toBe(reason)
        await expect(store.remove('a', { signal })).rejects.toBe(reason)
        await expect(collect(store.list('', { signal }))).rejects.toBe(reason)
        expect(await keys(store, '')).toEqual(['a'])
      })

      it('stop a writer midway, which then leaves nothing', async () => {
        const controller = new AbortController()
        const reason = new Error('the reason')
        {
          await using writer = await store.create('a', { signal: controller.signal })
          await writer.write(Buffer.alloc(17 * mebibyte))
          controller.abort(reason)
          await expect(writer.write(Buffer.alloc(1))).rejects.toBe(reason)
          await expect(writer.commit()).rejects.toBe(reason)
        }
        expect(await keys(store, '')).toEqual([])
        expect(await opened.findLeftovers()).toEqual([])
      })

      it('stop reading midway', async () => {
        await store.put('a', randomBytes(5 * mebibyte))
        const controller = new AbortController()
        const reason = new Error('the reason')
        const reading = async () => {
          for await (const _ of (await store.open('a', { signal: controller.signal })) ?? []) {
            controller.abort(reason)
          }
        }
        await expect(reading()).rejects.toBe(reason)
      })
    })

    it('can read on after a reader left midway', async () => {
      await store.put('a', randomBytes(5 * mebibyte))
      for (let round = 0; round < 40; round += 1) {
        for await (const _ of (await store.open('a')) ?? []) break
      }
      expect(await store.get('a', { maxBytes: 5 * mebibyte })).toHaveLength(5 * mebibyte)
    })

    it('fails with store errors only', async () => {
      await expect(store.get('', { maxBytes: 1 })).rejects.toBeInstanceOf(StoreError)
    })
  })
}

async function drain(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  if (pieces === undefined) return undefined
  const copies: Uint8Array[] = []
  for await (const piece of pieces) copies.push(Uint8Array.from(piece))
  return Buffer.concat(copies)
}

function digest(bytes: Uint8Array | undefined): string | undefined {
  return bytes && `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
}

async function text(store: ObjectStore, key: string): Promise<string | undefined> {
  const bytes = await store.get(key, { maxBytes: mebibyte })
  return bytes && Buffer.from(bytes).toString()
}

async function keys(store: ObjectStore, prefix: string, startAfter?: string): Promise<string[]> {
  const objects = await collect(store.list(prefix, { startAfter }))
  return objects.map(({ key }) => key)
}

async function sizes(store: ObjectStore): Promise<Record<string, number>> {
  const objects = await collect(store.list(''))
  return Object.fromEntries(objects.map(({ key, size }) => [key, size]))
}

async function inBatches<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += 16) {
    await Promise.all(items.slice(from, from + 16).map(act))
  }
}
