import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import { createSnapshotName, snapshotTime, timePrefix } from '../../src/archive/snapshot-name.ts'
import { createMemoryStore } from './memory-store.ts'

const moments = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
})

describe('the name of a snapshot', () => {
  it('says the second in which it was taken', () => {
    expect(createSnapshotName(new Date('2026-11-20T16:31:00.999Z'))).toMatch(
      /^20261120T163100Z-[0-9a-f]{6}$/,
    )
    fc.assert(
      fc.property(moments, (moment) => {
        const second = Math.floor(moment.getTime() / 1000) * 1000
        expect(snapshotTime(createSnapshotName(moment))?.getTime()).toBe(second)
      }),
    )
  })

  it('sorts by time', () => {
    fc.assert(
      fc.property(moments, moments, (one, other) => {
        fc.pre(Math.abs(one.getTime() - other.getTime()) >= 1000)
        const isBefore = createSnapshotName(one) < createSnapshotName(other)
        expect(isBefore).toBe(one < other)
        expect(timePrefix(one) <= createSnapshotName(one)).toBe(true)
      }),
    )
  })

  it('differs between runs of the same second', () => {
    const names = Array.from({ length: 20 }, () => createSnapshotName(new Date(0)))
    expect(new Set(names).size).toBeGreaterThan(15)
  })

  it('sorts after the one before in the same second, and is refused when few are left', () => {
    const names: string[] = []
    const nameNext = () => {
      for (;;) names.push(createSnapshotName(new Date(0), names.at(-1)))
    }
    expect(nameNext).toThrow(/^Cannot name a snapshot: too many have the same second as 19700101T/)
    expect(names.length).toBeGreaterThan(30)
    expect(new Set(names).size).toBe(names.length)
    expect(names.toSorted()).toEqual(names)
  })

  it.each([
    '',
    '20261120T163100Z',
    '20261120T163100Z-4F2A1C',
    '20261120T163100Z-4f2a1',
    '20261120T163100Z-4f2a1cc',
    '20261120T163100Z-4f2a1c\n',
    ' 20261120T163100Z-4f2a1c',
    '20261320T163100Z-4f2a1c',
    '20261120T253100Z-4f2a1c',
    '20261120163100Z-4f2a1c',
    '../../etc',
  ])('is not %j', (name) => {
    expect(snapshotTime(name)).toBeUndefined()
  })

  it.each(['20260231T000000Z-4f2a1c', '20260631T000000Z-4f2a1c', '20261120T240000Z-4f2a1c'])(
    'is not %j, which no calendar and no clock has',
    (name) => {
      expect(snapshotTime(name)).toBeUndefined()
    },
  )
})

describe('the folders of an archive', () => {
  const [early, late] = ['20261101T000000Z-aaaaaa', '20261102T000000Z-000000']

  async function list(keys: readonly string[], options = {}) {
    const store = createMemoryStore()
    for (const key of keys) await store.put(key, Buffer.from('x'))
    const folders = await Array.fromAsync(listFolders(store, options))
    return folders.map(({ accountId, snapshot, complete, files }) => ({
      folder: `${accountId}/${snapshot}`,
      complete,
      files: [...files.keys()],
    }))
  }

  it('are told from keys alone, by account and time', async () => {
    const keys = [`10/${late}/manifest.json`, `10/${early}/a.json`, `10/${early}/manifest.json`]
    expect(await list([...keys, `9/${late}/a.json`, `-5/${late}/a.json`])).toEqual([
      { folder: `-5/${late}`, complete: false, files: ['a.json'] },
      { folder: `10/${early}`, complete: true, files: ['a.json', 'manifest.json'] },
      { folder: `10/${late}`, complete: true, files: ['manifest.json'] },
      { folder: `9/${late}`, complete: false, files: ['a.json'] },
    ])
  })

  it('may be those of one account, from one key on', async () => {
    const keys = [`10/${early}/a`, `10/${late}/a`, `1/${late}/a`, `100/${late}/a`]
    const folders = async (options: object) => (await list(keys, options)).map((one) => one.folder)
    expect(await folders({ accountId: 1 })).toEqual([`1/${late}`])
    expect(await folders({ accountId: 10 })).toEqual([`10/${early}`, `10/${late}`])
    expect(await folders({ accountId: 10, startAfter: '10/20261102' })).toEqual([`10/${late}`])
  })

  it('are listed without the keys after the last account', async () => {
    const store = createMemoryStore()
    const folders = [`-5/${early}/a`, `99/${late}/a`]
    for (const key of [...folders, 'pins/10/x', 'proofs/10/x', 'proofs/10/y'])
      await store.put(key, Buffer.from('x'))
    const listed: string[] = []
    const watched = {
      ...store,
      async *list(...args: Parameters<typeof store.list>) {
        for await (const object of store.list(...args)) {
          listed.push(object.key)
          yield object
        }
      },
    }
    expect(await Array.fromAsync(listFolders(watched))).toHaveLength(2)
    expect(listed).toEqual([...folders, 'pins/10/x'])
  })

  it('are not what others keep there', async () => {
    const keys = ['README', 'a/b/c', `10/${early}`, `10/${early}/a/b`, `10x/${early}/a`]
    const more = [`10/${early}x/a`, `1e1/${early}/a`, '10/x/a']
    const ids = ['9007199254740992', '-9007199254740992', '007', '-0', '+7', ' 7']
    const strange = ids.map((id) => `${id}/${early}/a`)
    expect(await list([...keys, ...more, ...strange])).toEqual([])
  })
})
