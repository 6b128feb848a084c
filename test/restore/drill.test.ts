import { describe, expect, it } from 'vitest'
import { type DrillObject, drillRestore } from '../../src/restore/drill.ts'
import { openDrillIndex } from '../../src/restore/drill-index.ts'
import type { RestoreTarget } from '../../src/restore/target.ts'

const MIB = 1024 ** 2

function hit(id: string, text = ''): DrillObject {
  const source = { type: 'search', search: { title: id, text } }
  return { id, bytes: Buffer.from(JSON.stringify({ _id: id, _type: 'doc', _source: source })) }
}

/** A service that answers an export with what `change` makes of what it has received. */
function service(change: (hits: readonly string[]) => readonly string[] = (hits) => hits) {
  const requests: number[] = []
  const received = new Map<string, string>()
  const target: RestoreTarget = {
    address: 'http://service.example',
    whoami: async () => ({ accountId: 1, accountName: 'Shop' }),
    checkMembers() {},
    async importObjects({ hits }) {
      requests.push(hits.reduce((sum, bytes) => sum + bytes.length, 0))
      for (const bytes of hits) {
        const text = Buffer.from(bytes).toString()
        received.set((JSON.parse(text) as { _id: string })._id, text)
      }
      return { created: [], updated: [], ignored: [], failed: [] }
    },
    async exportObjects() {
      const hits = change([...received.values()]).join(',')
      return ReadableStream.from([Buffer.from(`{"kibanaVersion":"7.10.2","hits":[${hits}]}`)])
    },
  }
  return { target, requests }
}

function drill(objects: readonly DrillObject[], target: RestoreTarget) {
  const source = {
    types: ['search'],
    async *readObjects() {
      yield* objects
    },
  }
  return drillRestore(source, target, {
    kibanaVersion: '7.10.2',
    maxHitBytes: 16 * 1024 ** 2,
    signal: new AbortController().signal,
  })
}

const three = ['search:1', 'search:2', 'search:3'].map((id) => hit(id))

describe('a drill', () => {
  it('passes when each object comes back in its bytes, in any order', async () => {
    const { target } = service((hits) => hits.toReversed())
    const whole = { objects: 3, restored: 3, different: 0, differing: [] }
    expect(await drill(three, target)).toEqual(whole)
  })

  it('names what is lost, what differs by a byte, and what nobody sent', async () => {
    const stranger = hit('search:4').bytes.toString()
    const { target } = service(([, second = '', third = '']) => [
      second.replace('{', '{ '),
      third,
      stranger,
    ])
    expect(await drill(three, target)).toEqual({
      ...{ objects: 3, restored: 1, different: 3 },
      differing: ['search:1', 'search:2', 'search:4'],
    })
  })

  it('does not pass an object that comes back twice, once in other bytes', async () => {
    const { target } = service(([first = '', ...others]) => [
      first,
      first.replace('{', '{ '),
      first,
      ...others,
    ])
    expect(await drill(three, target)).toMatchObject({ restored: 2, differing: ['search:1'] })
  })

  it('counts the last of several objects with the same id', async () => {
    const { target } = service()
    const twice = [hit('search:1', 'old'), hit('search:2'), hit('search:1', 'new')]
    expect(await drill(twice, target)).toMatchObject({ objects: 2, restored: 2, different: 0 })
  })

  it('sends requests of 4 MiB at most, and a larger object alone', async () => {
    const { target, requests } = service()
    const sizes = [1, 2, 2, 9, 1].map((mib) => mib * MIB - 1000)
    const objects = sizes.map((size, place) => hit(`search:${place}`, 'x'.repeat(size)))
    expect(await drill(objects, target)).toMatchObject({ restored: 5, different: 0 })
    expect(requests.map((bytes) => Math.ceil(bytes / MIB))).toEqual([3, 2, 9, 1])
  })
})

describe('the index of a drill', () => {
  it('distinguishes ids that differ only in a lone surrogate', () => {
    using index = openDrillIndex()
    const bytes = Buffer.from('{}')
    index.expect('\ud800', bytes)
    index.expect('\ud801', bytes)
    index.receive('\ud801', bytes)
    expect(index.result()).toEqual({
      ...{ objects: 2, restored: 1, different: 1, differing: ['\ud800'] },
    })
  })

  it('counts all objects that differ, and names a thousand', () => {
    using index = openDrillIndex()
    for (let place = 0; place < 1500; place += 1) index.expect(`search:${place}`, Buffer.from('{}'))
    const { different, differing } = index.result()
    expect([different, differing.length]).toEqual([1500, 1000])
  })
})
