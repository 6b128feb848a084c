import { describe, expect, it } from 'vitest'
import { listFolders, manifestName } from '../../src/archive/archive.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import type { Compression } from '../../src/datafile/compression.ts'
import { createSealer } from '../../src/datafile/encryption.ts'
import { createMemoryStore, flipBit } from '../archive/memory-store.ts'
import { recipient } from '../golden/key.ts'
import { answersWith, changed, day, take } from './history.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

describe('a single bit that flips in what is stored', () => {
  const tally = countPoints('single bits flipped in stored files')

  it.each<[Compression, encrypted: boolean, bitsPerFile: number]>([
    ['zstd', false, scaled(1000, Number.POSITIVE_INFINITY)],
    ['gzip', false, scaled(50, 500)],
    ['none', false, scaled(50, 500)],
    ['zstd', true, scaled(50, 500)],
  ])(
    'is found, whichever it is: %s, encrypted: %s',
    async (compression, encrypted, bitsPerFile) => {
      const store = createMemoryStore()
      const sealer = encrypted ? await createSealer({ recipients: [recipient] }) : undefined
      const options = { compression, sealer }
      await take(store, answersWith('Errors'), { takenAt: day(1), ...options })
      await take(store, changed, { takenAt: day(2), ...options })
      // The newest: no other snapshot says what its manifest has to be.
      const newest = (await Array.fromAsync(listFolders(store))).at(-1) ?? expect.fail()
      expect([...newest.files.keys()]).toContain(manifestName)

      for (const { key, size } of newest.files.values()) {
        const sound = store.objects.get(key) ?? expect.fail(`${key} is not there`)
        const bits = Array.from({ length: size * 8 }, (_, bit) => bit)
        for (const bit of sample(bits, bitsPerFile, size)) {
          await tally.point(`bit ${bit} of ${key}`, async () => {
            store.objects.set(key, flipBit(sound, bit))
            const [verified] = await Array.fromAsync(verifySnapshots(store, [newest]))
            expect(verified?.defects.length).toBeGreaterThan(0)
          })
        }
        store.objects.set(key, sound)
      }
      const [verified] = await Array.fromAsync(verifySnapshots(store, [newest]))
      expect(verified?.defects).toEqual([])
    },
    longMs,
  )
})
