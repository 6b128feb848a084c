import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listFolders, manifestName } from '../../src/archive/archive.ts'
import { maxManifestBytes } from '../../src/archive/manifest.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { readStatus } from '../../src/archive/status.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { DashkeepError } from '../../src/errors.ts'
import { valueText } from '../archive/arbitrary-json.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import { changed, day, keepNewest, take, writeHistory } from './history.ts'
import { countPoints, longMs, seed } from './scale.ts'

/** What belongs to others: nothing may lead there. */
const foreign = ['11/20261101T031500Z-aaaaaa/manifest.json', 'secret', 'pins-of-others/x']

/** All that may be asked for on behalf of account 10. */
const ownKey = /^(10|pins\/10)\/([\w.-]+\/?[\w.-]*)?$/

/** JSON texts that somebody might put in the place of a value. */
const hostileText: fc.Arbitrary<string> = fc.oneof(
  valueText,
  fc
    .constantFrom(
      ...['../11/20261101T031500Z-aaaaaa', '/etc/passwd', '..', '.', '', 'a\0b', 'C:\\x', '%2e%2e'],
      ...['__proto__', 'constructor', '20261101T031500Z-aaaaaa', '20261399T999999Z-ffffff'],
      ...['search.json', 'dashboard.json', manifestName, 'x'.repeat(100_000), '\ud800'],
    )
    .map((text) => JSON.stringify(text)),
  fc.constantFrom('-1', '0', '1.5', '9007199254740991', '9007199254740993', '1e400', '-0'),
  fc.constantFrom('null', 'true', '[]', '{}', '[[]]', '{"length":1e9}', '[null]'),
  fc.nat(50_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.nat(20_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
)

/** Puts something in the place of one value of a manifest, or beside it under the same name. */
const attack = fc.record({
  place: fc.nat(),
  text: hostileText,
  asDuplicate: fc.boolean(),
  snapshot: fc.nat(3),
})
type Attack = typeof attack extends fc.Arbitrary<infer Value> ? Value : never

function attacked(bytes: Uint8Array, { place, text, asDuplicate }: Attack): Uint8Array {
  const lines = Buffer.from(bytes).toString().split('\n').slice(0, -3)
  const valued = [...lines.keys()].filter((at) => /^ *"\w+": [^[{]/.test(lines[at] ?? ''))
  const at = valued[place % valued.length] ?? 0
  const line = lines[at] ?? ''
  const other = line.replace(/": .*?(,?)$/, (_, comma: string) => `": ${text}${comma}`)
  lines[at] = asDuplicate ? `${line.replace(/,?$/, ',')}\n${other}` : other
  return sealed(`${lines.join('\n')}\n`)
}

/** Whoever attacks knows FORMAT.md, and how a manifest ends. */
function sealed(before: string): Uint8Array {
  const sha256 = createHash('sha256').update(before).digest('hex')
  return Buffer.from(`${before}  "sha256": "${sha256}"\n}\n`)
}

/** Everything that reads manifests. */
const readers: [what: string, read: (store: MemoryStore) => Promise<unknown>][] = [
  ['verify', (store) => Array.fromAsync(verifySnapshots(store, listFolders(store, own)))],
  [
    'status',
    (store) => Array.fromAsync(readStatus(store, { ...own, now: new Date('2026-11-30') })),
  ],
  ['a backup', (store) => take(store, changed, { takenAt: day(5) })],
  [
    'a prune',
    async (store) => {
      for await (const plan of planPrune(store, keepNewest, { now: day(6), ...own })) {
        await Array.fromAsync(applyPrune(store, plan, { now: day(6) }))
      }
    },
  ],
]
const own = { accountId: 10 }

describe('a manifest made by an attacker', () => {
  const tally = countPoints('hostile manifests before everything that reads them')

  async function expectHarmless(base: MemoryStore, key: string, bytes: Uint8Array): Promise<void> {
    for (const [what, read] of readers) {
      await tally.point(what, async () => {
        const store = createMemoryStore()
        for (const [other, content] of base.objects) store.objects.set(other, content)
        for (const other of foreign) store.objects.set(other, Buffer.from('theirs'))
        store.objects.set(key, bytes)
        await read(store).catch((error) => expect(error).toBeInstanceOf(DashkeepError))
        for (const call of store.calls) expect(call.key).toMatch(ownKey)
        for (const other of foreign) expect(store.objects.has(other)).toBe(true)
      })
    }
  }

  async function archive(): Promise<{ store: MemoryStore; manifests: string[] }> {
    const store = createMemoryStore()
    await writeHistory(store)
    return { store, manifests: store.keys().filter((key) => key.endsWith(manifestName)) }
  }

  it(
    'leads nowhere, breaks nothing and ends in an error at most',
    async () => {
      const { store, manifests } = await archive()
      await fc.assert(
        fc.asyncProperty(attack, async (given) => {
          const key = manifests[given.snapshot] ?? ''
          const bytes = attacked(store.objects.get(key) ?? new Uint8Array(), given)
          await expectHarmless(store, key, bytes)
        }),
        { numRuns: 150, seed },
      )
    },
    longMs,
  )

  it('is read in bounded time and memory, however much of anything is in it', async () => {
    const { store, manifests } = await archive()
    const [key = ''] = manifests
    const text = Buffer.from(store.objects.get(key) ?? '').toString()
    const before = text.split('\n').slice(0, -3).join('\n')
    const { exports } = JSON.parse(text) as { exports: [object] }
    const entry = JSON.stringify(exports[0])
    const many = (list: string, item: string) => {
      const room = Math.floor((maxManifestBytes - 10_000) / (item.length + 1))
      return before.replace(list, (found) => `${found}${`${item},`.repeat(room)}`)
    }
    const large = [
      many('"exports": [', entry),
      many('{', '"formatVersion":1'),
      many('"remarks": {', '"x":1').replaceAll('"remarks": {}', '"remarks": {"x": 1}'),
      many('{', '"a":{"b":[]}'),
    ]
    for (const document of large) {
      expect(document.length).toBeGreaterThan(100_000)
      await expectHarmless(store, key, sealed(`${document}\n`))
    }
    await expectHarmless(store, key, Buffer.alloc(64 * maxManifestBytes, ' '))
  })
})
