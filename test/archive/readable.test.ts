import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listFolders, readManifest } from '../../src/archive/archive.ts'
import { typeNamePattern } from '../../src/archive/manifest.ts'
import { takeSnapshot } from '../../src/archive/take.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { createMemoryStore } from './memory-store.ts'
import { exportBody, numbered, scriptSource } from './scripted-source.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"'.repeat(100_000), 'n'.repeat(1_048_000), '\ud800', '\u0000'),
)
const type = fc.oneof(
  fc.stringMatching(typeNamePattern),
  fc.constantFrom('manifest', 'damaged', 'sub-accounts', 'search', `a${'-'.repeat(63)}`),
)

/** What decides the names and members of a snapshot, whoever supplies it. */
const situations = fc.record({
  accountId: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -1, 10 ** 15, 2 ** 53 - 1)),
  accountName: text,
  kibanaVersion: text,
  types: fc.array(type, { minLength: 1, maxLength: 4 }),
  compression: fc.constantFrom('zstd', 'gzip', 'none'),
  takenAt: fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  ),
} as const)

describe('a snapshot with any names and numbers', () => {
  it('is listed, read and proven when it could be taken, else nothing is stored', async () => {
    let taken = 0
    const property = fc.asyncProperty(situations, async (situation) => {
      const { accountId, accountName, kibanaVersion, types, compression, takenAt } = situation
      const store = createMemoryStore()
      const answers = types.map((one) => [one, exportBody(one, numbered(2), { kibanaVersion })])
      const source = scriptSource(Object.fromEntries(answers))
      source.account = { accountId, accountName }
      const taking = takeSnapshot(source, store, { takenAt, types, compression })
      const { manifest } = await taking.catch(() => ({ manifest: undefined }))
      if (manifest === undefined) {
        expect(store.objects.size).toBe(0)
        return
      }
      taken += 1
      const { snapshot } = manifest
      const folders = await Array.fromAsync(listFolders(store))
      expect(folders).toMatchObject([{ accountId, snapshot, complete: true }])
      const read = await readManifest(store, accountId, snapshot)
      expect(read.manifest.account).toMatchObject({ id: accountId, name: accountName })
      const [verified] = await Array.fromAsync(verifySnapshots(store, folders))
      expect(verified).toMatchObject({ defects: [] })
    })
    await fc.assert(property, { numRuns: 150 })
    expect(taken).toBeGreaterThan(20)
  })
})
