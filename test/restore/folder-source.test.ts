import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultScanLimits } from '../../src/export/export-scanner.ts'
import { countHits } from '../../src/restore/count-hits.ts'
import { folderSource } from '../../src/restore/folder-source.ts'
import { cut, exportText } from '../archive/arbitrary-json.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashkeep-folder-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const options = { limits: defaultScanLimits, signal: new AbortController().signal }

/** Sizes at which a buffer is full, doubled or just begun, and all between. */
const size = fc.oneof(
  fc.nat(200),
  fc.nat(300_000),
  fc
    .tuple(fc.constantFrom(1, 2, 3, 4, 6, 8), fc.integer({ min: -200, max: 200 }))
    .map(([blocks, more]) => blocks * 32 * 1024 + more),
)

function documentOf(sizes: readonly number[]): Buffer {
  const hits = sizes.map((length, place) => ({
    _id: `dashboard:${place}`,
    _source: { type: 'dashboard', dashboard: { title: 'x'.repeat(length) } },
  }))
  return Buffer.from(JSON.stringify({ kibanaVersion: '7.10.2', hits }))
}

async function readFolder(document: Uint8Array) {
  await writeFile(join(folder, 'dashboard.json'), document)
  const { exports, readHits } = await folderSource(folder, options)
  const hits = await Array.fromAsync(readHits('dashboard'))
  return { exports, hits: hits.map((bytes) => JSON.parse(Buffer.from(bytes).toString())) }
}

describe('a folder of export documents', () => {
  it('yields every hit that JSON.parse finds, of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 5 }), async (sizes) => {
        const document = documentOf(sizes)
        const { exports, hits } = await readFolder(document)
        expect(hits).toEqual(JSON.parse(document.toString()).hits)
        expect(exports).toMatchObject([{ type: 'dashboard', objects: sizes.length }])
      }),
      { numRuns: 60 },
    )
  })

  it.each([65_000, 65_535, 65_536, 65_537, 100_000, 131_072, 1_000_000])(
    'yields the only hit, of %d bytes',
    async (bytes) => {
      expect((await readFolder(documentOf([bytes]))).hits).toHaveLength(1)
    },
  )
})

describe('counting hits', () => {
  it('finds as many as JSON.parse, in any document that is cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        exportText,
        fc.array(fc.nat(), { maxLength: 8 }),
        async ({ text }, places) => {
          const chunks = ReadableStream.from(cut(Buffer.from(text), places))
          expect(await countHits(chunks)).toBe(JSON.parse(text).hits.length)
        },
      ),
      { numRuns: 300 },
    )
  })
})
