import { createHash } from 'node:crypto'
import zlib from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import { decodeManifest, encodeManifest, type Manifest } from '../../src/archive/manifest.ts'
import { type TakenSnapshot, takeSnapshot } from '../../src/archive/take.ts'
import type { TakeOptions, TakeProgress } from '../../src/archive/take-options.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import { DashkeepError } from '../../src/errors.ts'
import { defaultScanLimits } from '../../src/export/export-scanner.ts'
import { RECORD_BYTES } from '../../src/export/records.ts'
import { StoreError } from '../../src/store/errors.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { version } from '../../src/version.ts'
import { createMemoryStore, flipBit, type MemoryStore } from './memory-store.ts'
import {
  type Answers,
  exportBody,
  numbered,
  type ScriptedSource,
  scriptSource,
  shop,
} from './scripted-source.ts'

const types = ['search', 'dashboard']

const objects = {
  search: { a: 'Errors', b: 'Slow' },
  dashboard: { x: 'Shop', y: 'Stock', z: 'Staff' },
}

function answers(changed: Answers = {}): Answers {
  return {
    search: exportBody('search', objects.search),
    dashboard: exportBody('dashboard', objects.dashboard),
    ...changed,
  }
}

/** A morning in November. */
function day(number: number): Date {
  return new Date(Date.UTC(2026, 10, number, 3, 4, 5, 678))
}

function take(
  source: ScriptedSource,
  store: ObjectStore,
  options: Partial<TakeOptions> & { takenAt: Date },
): Promise<TakenSnapshot> {
  return takeSnapshot(source, store, { types, ...options })
}

/** An archive with one snapshot of the first day. */
async function archive() {
  const store = createMemoryStore()
  const source = scriptSource(answers())
  const { manifest } = await take(source, store, { takenAt: day(1) })
  store.calls.length = 0
  source.asked.length = 0
  return { store, source, first: manifest, firstKey: manifestKey(manifest) }
}

function manifestKey({ account, snapshot }: Manifest): string {
  return `${account.id}/${snapshot}/manifest.json`
}

function storedManifest(store: MemoryStore, manifest: Manifest): Manifest {
  return decodeManifest(bytesOf(store, manifestKey(manifest)), 'the manifest')
}

function bytesOf(store: MemoryStore, key: string): Uint8Array {
  return store.objects.get(key) ?? expect.fail(`${key} is not there`)
}

function manifestKeys(store: MemoryStore): string[] {
  return store.keys().filter((key) => key.endsWith('/manifest.json'))
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function failure(attempt: Promise<unknown>): Promise<DashkeepError> {
  const error = await attempt.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(DashkeepError)
  return error as DashkeepError
}

async function defects(store: MemoryStore): Promise<string[]> {
  const verified = await Array.fromAsync(verifySnapshots(store, listFolders(store)))
  return verified.flatMap((one) => one.defects.map(({ key, problem }) => `${key}: ${problem}`))
}

/** Lets the pauses between attempts pass at once. */
function skipPauses(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.setTimerTickMode('nextTimerAsync')
}

afterEach(() => {
  vi.useRealTimers()
})

describe('the first snapshot of an account', () => {
  it('holds each export as received, and a manifest that describes it', async () => {
    const store = createMemoryStore()
    const source = scriptSource(answers())
    const now = () => day(2)
    const taken = await take(source, store, { takenAt: day(1), now })
    const { manifest } = taken
    expect(manifest.snapshot).toMatch(/^20261101T030405Z-[0-9a-f]{6}$/)
    expect(taken).toMatchObject({ changes: undefined, warnings: [] })
    expect(store.keys()).toEqual(
      ['dashboard.json.zst', 'manifest.json', 'search.json.zst'].map(
        (name) => `10/${manifest.snapshot}/${name}`,
      ),
    )
    expect(storedManifest(store, manifest)).toEqual(manifest)
    expect(manifest).toMatchObject({
      formatVersion: 1,
      takenAt: '2026-11-01T03:04:05.678Z',
      account: { id: 10, name: 'Shop' },
      service: 'https://service.example',
      dashkeepVersion: version,
    })
    for (const absent of ['sameAs', 'changes', 'suspect', 'previous']) {
      expect(manifest).not.toHaveProperty(absent)
    }
    for (const [at, type] of types.entries()) {
      const body = source.answers[type] as string
      const stored = bytesOf(store, `10/${manifest.snapshot}/${type}.json.zst`)
      expect(zlib.zstdDecompressSync(stored).toString()).toBe(body)
      expect(manifest.exports[at]).toEqual({
        type,
        kibanaVersion: '7.9.1',
        exportedAt: '2026-11-02T03:04:05.678Z',
        objects: at === 0 ? 2 : 3,
        sound: at === 0 ? 2 : 3,
        hollow: 0,
        contentDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        idSample: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/),
        medianBytes: expect.any(Number),
        remarks: { 'missing-member': at === 0 ? 2 : 3 },
        file: {
          name: `${type}.json.zst`,
          compression: 'zstd',
          stored: { bytes: stored.length, sha256: sha256(stored) },
          content: { bytes: body.length, sha256: sha256(body) },
        },
      })
    }
    expect(store.unfinished()).toBe(0)
  })

  it('is committed by its manifest: last of all, after every file was read back', async () => {
    const store = createMemoryStore()
    await take(scriptSource(answers()), store, { takenAt: day(1) })
    const names = store.calls
      .filter(({ action }) => ['commit', 'put', 'open', 'get', 'remove'].includes(action))
      .map(({ action, key }) => `${action} ${key.split('/')[2]}`)
    for (const type of types) {
      const ofType = names.filter((name) => name.includes(type))
      expect(ofType).toEqual([`commit ${type}.json.zst`, `open ${type}.json.zst`])
    }
    expect(names).toHaveLength(2 * types.length + 2)
    expect(names.slice(-2)).toEqual(['put manifest.json', 'get manifest.json'])
    expect(store.calls.at(-1)?.action).toBe('get')
  })

  it('stores nothing before every type has arrived whole', async () => {
    const store = createMemoryStore()
    const source = scriptSource(answers())
    let askedAtFirstCommit: string[] | undefined
    store.intercept = ({ action }) => {
      if (action === 'commit') askedAtFirstCommit ??= [...source.asked]
    }
    await take(source, store, { takenAt: day(1) })
    expect(askedAtFirstCommit).toEqual(types)
  })

  it('puts what a restore needs to know beside every file', async () => {
    const { store, first } = await archive()
    const common = { 'taken-at': '2026-11-01T03:04:05.678Z', 'account-id': '10' }
    const folder = `10/${first.snapshot}`
    expect(store.metadata.get(`${folder}/search.json.zst`)).toEqual({
      ...common,
      type: 'search',
      'kibana-version': '7.9.1',
    })
    expect(store.metadata.get(`${folder}/manifest.json`)).toEqual(common)
  })

  it.each(['gzip', 'none', 'zstd'] as const)('may be compressed by %s', async (compression) => {
    const store = createMemoryStore()
    const { manifest } = await take(scriptSource(answers()), store, {
      takenAt: day(1),
      compression,
    })
    expect(manifest.exports.map(({ file }) => file.compression)).toEqual([compression, compression])
    expect(await defects(store)).toEqual([])
  })

  it('may be empty, which is no reason for doubt when nothing was there before', async () => {
    const store = createMemoryStore()
    const source = scriptSource(answers({ search: exportBody('search', {}) }))
    const { manifest } = await take(source, store, { takenAt: day(1) })
    expect(manifest.exports[0]?.objects).toBe(0)
    expect(manifest.suspect).toBeUndefined()
  })

  it('reports its progress', async () => {
    const steps: string[] = []
    const onProgress = (progress: TakeProgress) => {
      if (progress.step === 'receiving') steps.push(`${progress.type} ${progress.objects}`)
      else steps.push(progress.step)
    }
    await take(scriptSource(answers()), createMemoryStore(), { takenAt: day(1), onProgress })
    expect(steps).toEqual([
      'account',
      'search 2',
      'exported',
      'dashboard 3',
      'exported',
      'stored',
      'stored',
    ])
  })

  it('frees its indexes before files are read back', async () => {
    const store = createMemoryStore()
    const count = 50_000
    const source = scriptSource({ search: exportBody('search', numbered(count)) })
    const heldBytes: number[] = []
    const hold = () => heldBytes.push(process.memoryUsage().arrayBuffers)
    const watched: ObjectStore = {
      ...store,
      open(key, options) {
        hold()
        return store.open(key, options)
      },
    }
    const onProgress = ({ step }: TakeProgress) => {
      if (step === 'exported') hold()
    }
    await take(source, watched, { takenAt: day(1), types: ['search'], onProgress })
    expect(heldBytes).toHaveLength(2)
    const [whenReceived = 0, whenReadBack = 0] = heldBytes
    expect(whenReceived - whenReadBack).toBeGreaterThan((count * RECORD_BYTES) / 2)
  })
})

describe('a snapshot of objects that have not changed', () => {
  const otherwise = { index: 'second', score: null, reversed: true, touchedAt: 99 }

  it('is one manifest that points back, for one write, one listing and five reads', async () => {
    const { store, source, first } = await archive()
    const before = store.keys()
    source.answers = {
      search: exportBody('search', objects.search, otherwise),
      dashboard: exportBody('dashboard', objects.dashboard, otherwise),
    }
    const { manifest, changes, warnings } = await take(source, store, { takenAt: day(2) })
    expect(store.keys()).toEqual([...before, manifestKey(manifest)].sort())
    const count = (...actions: string[]) =>
      store.calls.filter(({ action }) => actions.includes(action)).length
    expect(count('put', 'commit', 'remove')).toBe(1)
    expect(count('list')).toBe(1)
    // The manifest before, the files to share, the new manifest, and the one that holds the files.
    expect(count('get', 'open')).toBe(1 + types.length + 1 + 1)
    expect(manifest.sameAs).toBe(first.snapshot)
    expect(manifest.previous).toEqual({
      snapshot: first.snapshot,
      manifestSha256: sha256(bytesOf(store, manifestKey(first))),
    })
    expect(manifest.exports.map(({ file }) => file)).toEqual(first.exports.map(({ file }) => file))
    const none = { added: 0, removed: 0, changed: 0 }
    expect(manifest.changes).toEqual({ search: none, dashboard: none })
    expect(changes?.map(({ type, counts }) => [type, counts])).toEqual([
      ['search', none],
      ['dashboard', none],
    ])
    expect(warnings).toEqual([])
    expect(await defects(store)).toEqual([])
  })

  it('points to the snapshot that holds the files, however many runs ago', async () => {
    const { store, source, first } = await archive()
    let last = first
    for (const number of [2, 3, 4]) {
      const { manifest } = await take(source, store, { takenAt: day(number) })
      expect(manifest.sameAs).toBe(first.snapshot)
      expect(manifest.previous?.snapshot).toBe(last.snapshot)
      last = manifest
    }
    expect(await defects(store)).toEqual([])
  })

  it('points back also when the files are older than the first listing reaches', async () => {
    const { store, source, first } = await archive()
    const twoWeeks = 14 * 24 * 3600_000
    for (let run = 1; run <= 5; run += 1) {
      const takenAt = new Date(day(1).getTime() + run * twoWeeks)
      const { manifest } = await take(source, store, { takenAt })
      expect(manifest.sameAs).toBe(first.snapshot)
    }
    const aYearOn = new Date(day(1).getTime() + 26 * twoWeeks)
    expect((await take(source, store, { takenAt: aYearOn })).manifest.sameAs).toBe(first.snapshot)
  })

  it('holds the files again when it is asked to', async () => {
    const { store, source, first } = await archive()
    const { manifest, changes } = await take(source, store, { takenAt: day(2), full: true })
    expect(manifest.sameAs).toBeUndefined()
    expect(store.keys()).toHaveLength(6)
    expect(manifest.previous?.snapshot).toBe(first.snapshot)
    expect(changes?.map(({ counts }) => counts.changed)).toEqual([0, 0])
    expect(await defects(store)).toEqual([])
  })

  it('holds the files again when they come from another kibanaVersion', async () => {
    const { store, source } = await archive()
    const newer = { kibanaVersion: '7.10.0' }
    source.answers = answers({ search: exportBody('search', objects.search, newer) })
    const { manifest } = await take(source, store, { takenAt: day(2) })
    expect(manifest.sameAs).toBeUndefined()
    expect(manifest.exports.map(({ kibanaVersion }) => kibanaVersion)).toEqual(['7.10.0', '7.9.1'])
    expect(manifest.changes?.search).toEqual({ added: 0, removed: 0, changed: 0 })
  })

  it('holds the files again when another set of types is asked for', async () => {
    const { store, source } = await archive()
    const { manifest } = await take(source, store, { takenAt: day(2), types: ['search'] })
    expect(manifest.sameAs).toBeUndefined()
    expect(manifest.changes).toEqual({ search: { added: 0, removed: 0, changed: 0 } })
    const all = await take(source, store, { takenAt: day(3) })
    expect(all.manifest.sameAs).toBeUndefined()
    expect(Object.keys(all.manifest.changes ?? {})).toEqual(['search'])
  })

  it('says when the files were last proven', async () => {
    const { store, source, first } = await archive()
    expect(first.filesProvenAt).toBeUndefined()
    const proofs: (number | undefined)[] = []
    for (let number = 2; number <= 9; number += 1) {
      const options = { takenAt: day(number), proveEachRunBytes: 1 }
      const { filesProvenAt = '' } = (await take(source, store, options)).manifest
      proofs.push(new Date(filesProvenAt).getUTCDate())
    }
    expect(proofs).toEqual([1, 1, 1, 1, 1, 7, 7, 7])
    const { manifest } = await take(source, store, { takenAt: day(10) })
    expect(manifest.filesProvenAt).toBe(manifest.takenAt)
  })

  it.each([
    ['by an older dashkeep', undefined],
    ['by a clock that was wrong', day(20).toISOString()],
  ])('has its files proven where the time of the last proof was given %s', async (_name, time) => {
    const { store, source } = await archive()
    const second = (await take(source, store, { takenAt: day(2) })).manifest
    const { filesProvenAt: _, ...older } = second
    const changed = time === undefined ? older : { ...second, filesProvenAt: time }
    store.objects.set(manifestKey(second), encodeManifest(changed))
    const options = { takenAt: day(3), proveEachRunBytes: 1 }
    const third = (await take(source, store, options)).manifest
    expect(third.filesProvenAt).toBe(third.takenAt)
  })

  it.each([
    ['is missing', (store: MemoryStore, key: string) => store.objects.delete(key)],
    [
      'has another size',
      (store: MemoryStore, key: string) => store.objects.set(key, new Uint8Array(3)),
    ],
  ])('holds the files again when one of the earlier files %s', async (_name, damage) => {
    const { store, source, first } = await archive()
    const second = (await take(source, store, { takenAt: day(2) })).manifest
    expect(second.sameAs).toBe(first.snapshot)
    damage(store, `10/${first.snapshot}/dashboard.json.zst`)
    const third = (await take(source, store, { takenAt: day(3) })).manifest
    expect(third.sameAs).toBeUndefined()
    expect(store.objects.has(`10/${third.snapshot}/dashboard.json.zst`)).toBe(true)
    const fourth = (await take(source, store, { takenAt: day(4) })).manifest
    expect(fourth.sameAs).toBe(third.snapshot)
  })
})

describe('a snapshot of objects that have changed', () => {
  it('counts and names what came, went and changed', async () => {
    const { store, source, first } = await archive()
    source.answers = answers({
      dashboard: exportBody('dashboard', { z: 'Staff', w: 'World', x: 'Shops' }, { index: 'b' }),
    })
    const { manifest, changes, warnings } = await take(source, store, { takenAt: day(2) })
    expect(warnings).toEqual([])
    expect(manifest.changes).toEqual({
      search: { added: 0, removed: 0, changed: 0 },
      dashboard: { added: 1, removed: 1, changed: 1 },
    })
    expect(changes?.find(({ type }) => type === 'dashboard')).toEqual({
      type: 'dashboard',
      counts: { added: 1, removed: 1, changed: 1 },
      added: [{ id: 'dashboard:w', title: 'World' }],
      removed: [{ id: 'dashboard:y', title: 'Stock' }],
      changed: [{ id: 'dashboard:x', title: 'Shops' }],
    })
    expect(manifest.sameAs).toBeUndefined()
    expect(manifest.previous?.snapshot).toBe(first.snapshot)
    expect(await defects(store)).toEqual([])
  })

  it('names a thousand of a kind and counts all', async () => {
    const { store, source } = await archive()
    source.answers = answers({ search: exportBody('search', numbered(1203)) })
    const { changes } = await take(source, store, { takenAt: day(2) })
    expect(changes?.[0]?.counts).toEqual({ added: 1203, removed: 2, changed: 0 })
    expect(changes?.[0]?.added).toHaveLength(1000)
    expect(changes?.[0]?.removed).toHaveLength(2)
  })

  it('is compared with the files that the last one points to', async () => {
    const { store, source } = await archive()
    await take(source, store, { takenAt: day(2) })
    source.answers = answers({ search: exportBody('search', { a: 'Errors' }) })
    const { changes } = await take(source, store, { takenAt: day(3) })
    expect(changes?.[0]?.removed).toEqual([{ id: 'search:b', title: 'Slow' }])
  })

  it('is taken also when the earlier file cannot be read, with a warning', async () => {
    const { store, source, first } = await archive()
    const key = `10/${first.snapshot}/search.json.zst`
    store.objects.set(key, flipBit(bytesOf(store, key), 100))
    source.answers = answers({ search: exportBody('search', { a: 'Errors' }) })
    const { manifest, warnings } = await take(source, store, { takenAt: day(2) })
    expect(warnings).toEqual([expect.stringContaining(`the previous snapshot is damaged: ${key}`)])
    expect(Object.keys(manifest.changes ?? {})).toEqual(['dashboard'])
    expect(store.objects.has(manifestKey(manifest))).toBe(true)
  })
})

describe('a snapshot with fewer objects than the last good one', () => {
  async function after(counts: readonly number[], options: Partial<TakeOptions>[] = []) {
    const store = createMemoryStore()
    const manifests: Manifest[] = []
    for (const [at, count] of counts.entries()) {
      const source = scriptSource({ search: exportBody('search', numbered(count)) })
      const settings = { takenAt: day(at + 1), types: ['search'], ...options[at] }
      manifests.push((await take(source, store, settings)).manifest)
    }
    return manifests
  }
  const suspicions = (manifests: readonly Manifest[]) =>
    manifests.map(({ suspect }) => suspect?.reasons)

  it.each([
    ['half of them', [10, 5], undefined],
    ['half of them and one more', [10, 4], ['search: 4 objects, down from 10']],
    ['half of an odd number', [11, 5], ['search: 5 objects, down from 11']],
    ['none', [10, 0], ['search: 0 objects, down from 10']],
    ['none of one', [1, 0], ['search: 0 objects, down from 1']],
    ['one of two', [2, 1], undefined],
    ['more', [2, 9], undefined],
    ['none as before', [0, 0], undefined],
  ])('is suspect or not: %s', async (_name, counts, reasons) => {
    expect(suspicions(await after(counts))).toEqual([undefined, reasons])
  })

  it('stays suspect while it stays small, against the last good one', async () => {
    const manifests = await after([10, 3, 3, 2, 4, 5, 2])
    expect(suspicions(manifests)).toEqual([
      undefined,
      ['search: 3 objects, down from 10'],
      ['search: 3 objects, down from 10'],
      ['search: 2 objects, down from 10'],
      ['search: 4 objects, down from 10'],
      undefined,
      ['search: 2 objects, down from 5'],
    ])
    const [good, second, third] = manifests
    expect(third?.sameAs).toBe(second?.snapshot)
    expect(third?.suspect?.lastGood).toBe(good?.snapshot)
    expect(manifests[6]?.suspect?.lastGood).toBe(manifests[5]?.snapshot)
  })

  it('is good when somebody has looked, and is measured against from then on', async () => {
    const manifests = await after([10, 3, 3, 1, 2], [{}, {}, { acceptFall: true }])
    expect(suspicions(manifests)).toEqual([
      undefined,
      ['search: 3 objects, down from 10'],
      undefined,
      ['search: 1 objects, down from 3'],
      undefined,
    ])
  })

  it('is judged by the fall that is allowed', async () => {
    expect(suspicions(await after([10, 8], [{}, { maxFall: 0.1 }]))[1]).toHaveLength(1)
    expect(suspicions(await after([10, 9], [{}, { maxFall: 0.1 }]))[1]).toBeUndefined()
    expect(suspicions(await after([10, 1], [{}, { maxFall: 1 }]))[1]).toBeUndefined()
    expect(suspicions(await after([10, 0], [{}, { maxFall: 1 }]))[1]).toHaveLength(1)
  })

  it('is stored all the same, files and all', async () => {
    const { store, source } = await archive()
    source.answers = answers({ search: exportBody('search', {}) })
    const { manifest } = await take(source, store, { takenAt: day(2) })
    expect(manifest.suspect?.reasons).toEqual(['search: 0 objects, down from 2'])
    expect(manifest.changes?.search).toEqual({ added: 0, removed: 2, changed: 0 })
    expect(await defects(store)).toEqual([])
  })

  it('is suspect when objects of another type came instead, even if a loss is accepted', async () => {
    const { store, source } = await archive()
    source.answers = answers({ search: exportBody('dashboard', { a: 'Errors', b: 'Slow' }) })
    for (const acceptFall of [false, true]) {
      const { manifest } = await take(source, store, { takenAt: day(2), acceptFall })
      expect(manifest.suspect?.reasons).toEqual([
        ...(acceptFall ? [] : ['search: 2 of 2 objects are gone, others are in their place']),
        'search: 2 of 2 objects are of another type',
      ])
      expect(manifest.exports[0]?.remarks['other-type']).toBe(2)
    }
  })
})

describe('an export that fails', () => {
  const refused = new DashkeepError('Cannot export search: refused', { hint: 'check the token' })

  it('leaves nothing behind, and the others are still tried', async () => {
    const store = createMemoryStore()
    const source = scriptSource(answers({ search: refused }))
    expect(await failure(take(source, store, { takenAt: day(1) }))).toBe(refused)
    expect(source.asked).toEqual(types)
    expect([store.keys(), store.unfinished()]).toEqual([[], 0])
  })

  it('is named with every other that failed', async () => {
    const store = createMemoryStore()
    const other = new DashkeepError('Cannot export dashboard: gone', { hint: 'try again' })
    const source = scriptSource(answers({ search: refused, dashboard: other }))
    const error = await failure(take(source, store, { takenAt: day(1) }))
    expect(error.message).toBe(
      'Cannot back up account 10: 2 of 2 exports failed: Cannot export search: refused; Cannot export dashboard: gone',
    )
    expect(error.hint).toBe('check the token; try again')
    expect(store.keys()).toEqual([])
  })

  it('is begun again when its body breaks off, and nothing of the first attempt stays', async () => {
    skipPauses()
    const store = createMemoryStore()
    const whole = exportBody('search', numbered(100))
    const cut = new DashkeepError('Cannot read: connection cut', { transient: true })
    const source = scriptSource(
      answers({
        search: [{ begins: whole.slice(0, 3000), thenFails: cut }, whole.slice(0, 4000), whole],
      }),
    )
    const broken: string[] = []
    const { manifest } = await take(source, store, {
      takenAt: day(1),
      onProgress: (progress) => {
        if (progress.step === 'broken-off') broken.push(progress.error.message)
      },
    })
    expect(source.asked).toEqual(['search', 'search', 'search', 'dashboard'])
    expect(broken).toEqual([
      'Cannot read: connection cut',
      expect.stringMatching(/^Cannot read the export: it ends in the middle of hit/),
    ])
    const stored = bytesOf(store, `10/${manifest.snapshot}/search.json.zst`)
    expect(zlib.zstdDecompressSync(stored).toString()).toBe(whole)
    expect(manifest.exports[0]?.objects).toBe(100)
    expect(store.unfinished()).toBe(0)
  })

  it('fails for good when its body breaks off every time', async () => {
    skipPauses()
    const store = createMemoryStore()
    const source = scriptSource(answers({ search: '{"hits":[{"_id":"a"}' }))
    const error = await failure(take(source, store, { takenAt: day(1) }))
    expect(error.message).toBe('Cannot read the export: it ends after 1 hits')
    expect(source.asked).toEqual(['search', 'search', 'search', 'dashboard'])
    expect([store.keys(), store.unfinished()]).toEqual([[], 0])
  })

  it.each([
    ['a refusal, also one that may pass', new DashkeepError('Cannot: 503', { transient: true }), 5],
    ['a body that is no export', '{"code":403,"message":"Insufficient privileges"}', 5],
    ['a hit that is no JSON', '{"kibanaVersion":"7","hits":[{"a":01}]}', 5],
    ['a body cut short, when one attempt is all', '{"hits":[', 1],
  ])('is not begun again after %s', async (_name, search, exportAttempts) => {
    const source = scriptSource(answers({ search }))
    const store = createMemoryStore()
    await failure(take(source, store, { takenAt: day(1), exportAttempts }))
    expect(source.asked).toEqual(types)
    expect([store.keys(), store.unfinished()]).toEqual([[], 0])
  })

  it('is not begun again over a mistake of the program', async () => {
    const mistake = new RangeError('a mistake')
    const source = scriptSource(answers({ search: { begins: '{', thenFails: mistake } }))
    const taking = take(source, createMemoryStore(), { takenAt: day(1) })
    await expect(taking).rejects.toBe(mistake)
    expect(source.asked).toEqual(types)
  })

  it('fails when a hit is larger than it may be', async () => {
    const scanLimits = { ...defaultScanLimits, maxHitBytes: 50, maxDepth: 10 }
    const error = await failure(
      take(scriptSource(answers()), createMemoryStore(), { takenAt: day(1), scanLimits }),
    )
    expect(error.message).toMatch(/2 of 2 exports failed: .* is larger than 50 bytes/)
  })
})

describe('a token of another account', () => {
  it('is refused before anything is asked or touched', async () => {
    const store = createMemoryStore()
    const source = scriptSource(answers())
    const error = await failure(take(source, store, { takenAt: day(1), expectedAccountId: 11 }))
    expect(error.message).toBe('Cannot back up account 11: the token belongs to account 10 (Shop)')
    expect(error.kind).toBe('usage')
    expect(source.asked).toEqual([])
    expect(store.calls).toEqual([])
  })

  it('is one of the expected account otherwise', async () => {
    const options = { takenAt: day(1), expectedAccountId: 10 }
    const { manifest } = await take(scriptSource(answers()), createMemoryStore(), options)
    expect(manifest.account.id).toBe(10)
  })

  it('begins a history of its own', async () => {
    const { store, source } = await archive()
    source.account = { ...shop, accountId: 1 }
    const { manifest } = await take(source, store, { takenAt: day(2) })
    expect(manifest.previous).toBeUndefined()
    expect(manifestKey(manifest)).toMatch(/^1\//)
  })
})

describe('a store that does not keep what it was given', () => {
  const unkept: [string, (bytes: Uint8Array) => Uint8Array | undefined][] = [
    ['flips a bit', (bytes) => flipBit(bytes, bytes.length * 4)],
    ['cuts the end off', (bytes) => bytes.slice(0, -1)],
    ['keeps nothing of it', () => undefined],
    ['keeps it empty', () => new Uint8Array()],
  ]

  it.each(unkept)('and %s fails the run, which leaves no manifest', async (_name, change) => {
    for (const damaged of types) {
      const store = createMemoryStore()
      store.keep = (key, bytes) => (key.includes(damaged) ? change(bytes) : bytes)
      const error = await failure(take(scriptSource(answers()), store, { takenAt: day(1) }))
      expect(error.message).toMatch(
        new RegExp(`^Cannot trust what was stored under 10/.*/${damaged}`),
      )
      expect(manifestKeys(store)).toEqual([])
      expect(store.unfinished()).toBe(0)
    }
  })

  it.each(unkept)('and %s is found out while changes are told, too', async (_name, change) => {
    const { store, source, firstKey } = await archive()
    source.answers = answers({ search: exportBody('search', { a: 'Errors' }) })
    store.keep = (key, bytes) => (key.includes('search') ? change(bytes) : bytes)
    const error = await failure(take(source, store, { takenAt: day(2) }))
    expect(error.message).toMatch(/^Cannot trust what was stored under/)
    expect(manifestKeys(store)).toEqual([firstKey])
  })

  it.each(unkept)('and %s of the manifest fails the run', async (_name, change) => {
    const store = createMemoryStore()
    store.keep = (key, bytes) => (key.endsWith('manifest.json') ? change(bytes) : bytes)
    const error = await failure(take(scriptSource(answers()), store, { takenAt: day(1) }))
    expect(error.message).toMatch(/^Cannot trust what was stored under 10\/.*\/manifest\.json/)
  })
})

describe('a run that is stopped', () => {
  /** Numbers of the calls to a store that a run makes, from the given kind of call on. */
  async function callsOf(begin: typeof archive) {
    const { store, source } = await begin()
    await take(source, store, { takenAt: day(2) })
    return store.calls
  }
  const changed = async () => {
    const begun = await archive()
    begun.source.answers = answers({ search: exportBody('search', { a: 'Errors' }) })
    return begun
  }

  it.each([
    ['with changes', changed],
    ['without changes', archive],
  ])('by the store, at whichever call, leaves the archive sound: %s', async (_name, begin) => {
    const calls = await callsOf(begin)
    expect(calls.length).toBeGreaterThan(4)
    for (const [failing, { action, key }] of calls.entries()) {
      // A file of the snapshot before that cannot be read is not shared: the next test.
      if (action === 'open' && key.includes('/20261101T')) continue
      const { store, source, firstKey } = await begin()
      store.intercept = (call) => {
        if (store.calls.length - 1 === failing) {
          // A manifest that cannot be read for good is passed over instead.
          const transient = call.action === 'get'
          throw new StoreError(`Cannot ${call.action}: no answer`, { transient })
        }
      }
      const error = await failure(take(source, store, { takenAt: day(2) }))
      expect(error.message).toBe(`Cannot ${action}: no answer`)
      store.intercept = undefined
      const isCommitted = failing > calls.findLastIndex((call) => call.action === 'put')
      expect(manifestKeys(store)).toHaveLength(isCommitted ? 2 : 1)
      expect(manifestKeys(store)).toContain(firstKey)
      expect(await defects(store)).toEqual([])
      expect(store.unfinished()).toBe(0)
    }
  })

  it.each([
    ['with changes', changed],
    ['without changes', archive],
  ])('by nothing when an earlier file cannot be read: %s', async (_name, begin) => {
    const { store, source, first } = await begin()
    const key = `10/${first.snapshot}/search.json.zst`
    store.intercept = (call) => {
      if (call.key === key) throw new StoreError('Cannot read it: the disk answered EIO')
    }
    const { manifest, warnings } = await take(source, store, { takenAt: day(2) })
    expect(manifest.sameAs).toBeUndefined()
    expect(warnings).toEqual([
      'the previous snapshot is damaged: Cannot read it: the disk answered EIO',
    ])
    expect((await take(source, store, { takenAt: day(3) })).warnings).toEqual([])
  })

  it('by a signal, at whichever call, leaves the archive sound', async () => {
    const calls = await callsOf(changed)
    for (const stopping of calls.keys()) {
      const { store, source } = await changed()
      const controller = new AbortController()
      const reason = new Error('stop')
      store.intercept = () => {
        if (store.calls.length - 1 === stopping) controller.abort(reason)
      }
      const options = { takenAt: day(2), signal: controller.signal }
      const outcome = await take(source, store, options).catch((error: unknown) => error)
      store.intercept = undefined
      const isCommitted = stopping >= calls.findLastIndex((call) => call.action === 'put')
      if (stopping < calls.length - 1) expect(outcome).toBe(reason)
      expect(manifestKeys(store)).toHaveLength(isCommitted ? 2 : 1)
      expect(await defects(store)).toEqual([])
      expect(store.unfinished()).toBe(0)
    }
  })

  it('by a signal while an export arrives asks for no other', async () => {
    const { store, source } = await archive()
    const controller = new AbortController()
    const onProgress = ({ step }: TakeProgress) => {
      if (step === 'receiving') controller.abort(new Error('stop'))
    }
    const options = { takenAt: day(2), signal: controller.signal, onProgress }
    source.answers = answers({ search: exportBody('search', numbered(100)) })
    await expect(take(source, store, options)).rejects.toThrow('stop')
    expect(source.asked).toEqual(['search'])
    expect(manifestKeys(store)).toHaveLength(1)
    expect(store.unfinished()).toBe(0)
  })

  it('by a signal during the pause between two attempts does not wait', async () => {
    skipPauses()
    const { store, source } = await archive()
    const controller = new AbortController()
    source.answers = answers({ search: '{"hits":[' })
    const options = {
      takenAt: day(2),
      signal: controller.signal,
      onProgress: ({ step }: TakeProgress) => {
        if (step === 'broken-off') setTimeout(() => controller.abort(new Error('stop')))
      },
    }
    await expect(take(source, store, options)).rejects.toThrow('stop')
    expect(source.asked).toEqual(['search'])
  })
})

describe('an archive that is not as it should be', () => {
  async function twoDays() {
    const { store, source, first } = await archive()
    source.answers = answers({ search: exportBody('search', { a: 'Errors', c: 'New' }) })
    const second = (await take(source, store, { takenAt: day(2) })).manifest
    return { store, source, first, second }
  }
  const rewrite = (manifest: object) => Buffer.from(JSON.stringify(manifest))

  it.each([
    ['is not JSON', () => Buffer.from('{"formatVersion":1'), /it is not JSON/],
    ['is empty', () => new Uint8Array(), /it is not JSON/],
    ['is not UTF-8', (bytes: Uint8Array) => Buffer.concat([bytes, Uint8Array.of(0xff)]), /JSON/],
    ['is too large', () => Buffer.alloc(2 * 1024 * 1024, ' '), /bytes/],
    ['lacks members', () => rewrite({ formatVersion: 1 }), /is invalid in format 1/],
    [
      'is of a newer format',
      () => rewrite({ formatVersion: 2, everything: 'else' }),
      /it has format 2, this dashkeep reads up to 1/,
    ],
  ])('gets a new snapshot after an older one when a manifest %s', async (_name, damage, state) => {
    const { store, source, first, second } = await twoDays()
    const key = manifestKey(second)
    store.objects.set(key, damage(bytesOf(store, key)))
    const { manifest, warnings } = await take(source, store, { takenAt: day(3) })
    expect(warnings).toEqual([expect.stringMatching(state)])
    expect(warnings[0]).toContain(key)
    expect(manifest.previous?.snapshot).toBe(first.snapshot)
    expect(manifest.sameAs).toBeUndefined()
    expect(manifest.changes?.search).toEqual({ added: 1, removed: 1, changed: 0 })
  })

  it('gets a new snapshot after an older one when a manifest is another one', async () => {
    const { store, source, first, second } = await twoDays()
    store.objects.set(manifestKey(second), bytesOf(store, manifestKey(first)))
    const { manifest, warnings } = await take(source, store, { takenAt: day(3) })
    expect(warnings).toEqual([expect.stringContaining('it is the manifest of snapshot')])
    expect(manifest.previous?.snapshot).toBe(first.snapshot)
  })

  it('passes over remains of a run and what is no snapshot at all', async () => {
    const { store, source, first } = await archive()
    const junk = [
      '10/20261102T000000Z-aaaaaa/search.json.zst',
      '10/notes.txt',
      '10/x/manifest.json',
    ]
    const more = ['10/20261399T000000Z-aaaaaa/manifest.json', '010/y/z', 'README', '100/a/b']
    for (const key of [...junk, ...more]) store.objects.set(key, new Uint8Array(5))
    const { manifest, warnings } = await take(source, store, { takenAt: day(3) })
    expect([manifest.sameAs, warnings]).toEqual([first.snapshot, []])
  })

  it('gets a new snapshot with a warning when one is from the future', async () => {
    const { store, source, first } = await archive()
    const future = (await take(source, store, { takenAt: day(20) })).manifest
    const { manifest, warnings } = await take(source, store, { takenAt: day(2) })
    expect(warnings).toEqual([
      expect.stringContaining(`snapshots from the future are ignored: ${future.snapshot}`),
    ])
    expect(manifest.previous?.snapshot).toBe(first.snapshot)
    expect(manifest.sameAs).toBe(first.snapshot)
  })

  it('gets a first snapshot with a warning when all are from the future', async () => {
    const { store, source } = await archive()
    const { manifest, warnings } = await take(source, store, { takenAt: new Date('2026-01-01') })
    expect(warnings).toEqual([expect.stringContaining('snapshots from the future are ignored')])
    expect(manifest.previous).toBeUndefined()
    expect(manifest.sameAs).toBeUndefined()
  })

  it('stays suspect when the last good snapshot cannot be read to compare with', async () => {
    const { store, source, first, firstKey } = await archive()
    source.answers = answers({ search: exportBody('search', {}) })
    const { manifest } = await take(source, store, { takenAt: day(2) })
    expect(manifest.suspect?.lastGood).toBe(first.snapshot)
    store.objects.delete(firstKey)
    const { manifest: next } = await take(source, store, { takenAt: day(3) })
    expect(next.suspect?.reasons).toEqual([
      `the last good snapshot ${first.snapshot} cannot be read to compare with`,
    ])
  })

  it('is not judged when the store cannot answer', async () => {
    const { store, source } = await archive()
    store.intercept = ({ action }) => {
      if (action === 'get') throw new StoreError('Cannot read: no answer', { transient: true })
    }
    const error = await failure(take(source, store, { takenAt: day(2) }))
    expect(error.message).toBe('Cannot read: no answer')
    expect(manifestKeys(store)).toHaveLength(1)
  })
})
