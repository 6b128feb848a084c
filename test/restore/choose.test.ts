import { describe, expect, it } from 'vitest'
import { readCatalogue } from '../../src/restore/catalogue.ts'
import { chooseObjects } from '../../src/restore/choose.ts'
import { planRestore } from '../../src/restore/plan.ts'
import { readChosen } from '../../src/restore/read-chosen.ts'
import type { RestoreSource } from '../../src/restore/source.ts'
import { sameObject } from '../../src/restore/target.ts'

function hit(type: string, id: string, object: object): Buffer {
  return Buffer.from(JSON.stringify({ _id: `${type}:${id}`, _source: { type, [type]: object } }))
}

const hits: Record<string, Buffer[]> = {
  search: [hit('search', 's', { title: 'Errors' })],
  visualization: [
    hit('visualization', 'v', { title: 'Rate', savedSearchId: 's' }),
    hit('visualization', 'lone', { title: 'Lone\u001b[2J' }),
  ],
  dashboard: [
    hit('dashboard', 'd', {
      title: 'Board',
      panelsJSON: JSON.stringify([
        { type: 'visualization', id: 'v' },
        { type: 'visualization', id: 'gone' },
        { type: 'lens', id: 'l' },
      ]),
    }),
    hit('dashboard', 'e', { title: 'board' }),
    hit('dashboard', 'e', { title: 'board', version: 2 }),
  ],
}

const source: RestoreSource = {
  label: 'a test',
  account: undefined,
  exports: Object.keys(hits).map((type) => ({
    type,
    kibanaVersion: '7',
    objects: hits[type]?.length ?? 0,
  })),
  async *readHits(type) {
    yield* hits[type] ?? []
  },
}
const catalogue = await readCatalogue(source, sameObject)

function choose(names?: string[], withNeeds = true) {
  return chooseObjects(source, catalogue, { names, withNeeds })
}

describe('reading a source', () => {
  it('ends in an error when it yields fewer objects than it holds', async () => {
    const exports = source.exports.map((entry) => ({ ...entry, objects: entry.objects + 1 }))
    const reading = readCatalogue({ ...source, exports }, sameObject)
    await expect(reading).rejects.toMatchObject({ kind: 'unverified' })
    await expect(reading).rejects.toThrow('from a test: 1 of 2 objects were read')
  })

  it('ends in an error when chosen objects are no longer there', async () => {
    const less: RestoreSource = { ...source, async *readHits() {} }
    const reading = Array.fromAsync(readChosen(less, 'dashboard', catalogue))
    await expect(reading).rejects.toThrow('from a test: 3 objects have disappeared')
  })
})

describe('choosing objects', () => {
  it('brings what they need, and what that needs, in the order of the source', () => {
    const { objects, added, whole } = choose(['Board'])
    expect(objects.map(({ id }) => id)).toEqual(['search:s', 'visualization:v', 'dashboard:d'])
    expect({ added, whole }).toEqual({ added: 2, whole: false })
    expect(choose(['Board'], false).objects.map(({ id }) => id)).toEqual(['dashboard:d'])
  })

  it('names what the source does not hold, and what it cannot', () => {
    const { missing, others } = choose(['dashboard:d'])
    const neededBy = ['dashboard:d']
    expect(missing).toEqual([{ type: 'visualization', objectId: 'gone', neededBy }])
    expect(others).toEqual([{ type: 'lens', objectId: 'l', neededBy }])
  })

  it('takes a title in another case when only one object has it', () => {
    expect(choose(['rate']).objects.map(({ id }) => id)).toContain('visualization:v')
    expect(() => choose(['BOARD'])).toThrow(/2 objects of a test match/)
  })

  it('shows no control characters of a title', () => {
    const error = (() => {
      try {
        choose(['Lome'])
      } catch (thrown) {
        return thrown as { hint: string }
      }
      return undefined
    })()
    expect(error?.hint).toContain('Lone\u{fffd}[2J')
  })

  it('takes all without a name', () => {
    expect(choose()).toMatchObject({ whole: true, added: 0, objects: { length: 6 } })
  })
})

describe('the plan', () => {
  const states = new Map(catalogue.map(({ id, state }) => [id, state]))

  function actions(present: Map<string, string>, overwrite = false) {
    const plan = planRestore(choose(), { states: present }, { overwrite })
    return Object.fromEntries(plan.objects.map(({ entry, action }) => [entry.id, action]))
  }

  it('creates what is not there, and leaves what is', () => {
    const present = new Map(states).set('search:s', 'another')
    present.delete('dashboard:d')
    expect(actions(present)).toEqual({
      'search:s': 'leave',
      'visualization:v': 'same',
      'visualization:lone': 'same',
      'dashboard:d': 'create',
      'dashboard:e': 'same',
    })
    expect(actions(present, true)['search:s']).toBe('overwrite')
  })

  it('reports no object as missing that the service has', () => {
    const present = { states: new Map([['visualization:gone', 'x']]) }
    expect(planRestore(choose(), present).missing).toEqual([])
  })
})
