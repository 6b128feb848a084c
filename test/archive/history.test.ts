import { describe, expect, it } from 'vitest'
import { readHistory } from '../../src/archive/history.ts'
import { readTimeline } from '../../src/archive/timeline.ts'
import { fillArchive, hitOf, type Moment } from './archive-of.ts'

const other = hitOf('dashboard:other', { title: 'Other' })

/** The dashboard `a` at one time, beside another. */
function moment(object?: object, more: object = {}): Moment {
  const own = object === undefined ? [] : [hitOf('dashboard:a', object, more)]
  return { dashboard: [...own, other] }
}

async function follow(moments: readonly Moment[], change?: (keys: string[]) => Iterable<string>) {
  const { store, folders } = await fillArchive(moments)
  for (const key of change?.(store.keys()) ?? []) store.objects.set(key, Buffer.from('damaged'))
  const timeline = await readTimeline(store, await folders())
  store.calls.length = 0
  const events = await Array.fromAsync(
    readHistory(timeline, { id: 'dashboard:a', type: 'dashboard' }),
  )
  const told = events.map(({ kind, snapshot }) => `${snapshot.slice(6, 8)} ${kind}`)
  return { told, events, timeline, opened: store.calls.filter(({ action }) => action === 'open') }
}

describe('the history of an object', () => {
  it('says when it appeared, changed, was renamed, disappeared and returned', async () => {
    const { told } = await follow([
      moment(),
      moment({ title: 'A', hits: 0 }),
      moment({ title: 'A', hits: 1 }),
      moment({ title: 'B', hits: 1 }),
      moment(),
      moment(),
      moment({ title: 'B', hits: 1 }),
      moment({ title: 'B', hits: 2 }),
    ])
    expect(told).toEqual([
      '02 appeared',
      '03 changed',
      '04 renamed',
      '05 disappeared',
      '07 returned',
      '08 changed',
    ])
  })

  it('gives both versions of each step, and the last one of what returned', async () => {
    const { events } = await follow([moment({ title: 'A' }), moment(), moment({ title: 'B' })])
    const titles = events.map(({ before, after }) => [before?.title, after?.title])
    expect(titles).toEqual([
      [undefined, 'A'],
      ['A', undefined],
      ['A', 'B'],
    ])
  })

  it('passes over touches, and over changes of other objects', async () => {
    const { told } = await follow([
      moment({ title: 'A' }, { updated_at: 1 }),
      moment({ title: 'A' }, { updated_at: 2 }),
      { dashboard: [hitOf('dashboard:a', { title: 'A' })] },
    ])
    expect(told).toEqual(['01 appeared'])
  })

  it('is empty for an object that never was', async () => {
    expect((await follow([moment(), moment()])).told).toEqual([])
  })

  it('knows nothing from a snapshot without the type', async () => {
    const { told } = await follow([moment({ title: 'A' }), { search: [] }, moment({ title: 'A' })])
    expect(told).toEqual(['01 appeared'])
  })

  it('reads only what differs from the snapshot before', async () => {
    const moments = Array.from({ length: 12 }, (_, day) => moment({ title: day < 6 ? 'A' : 'B' }))
    const { opened, timeline } = await follow(moments)
    expect(opened).toHaveLength(2)
    expect(timeline.snapshots).toBe(12)
    expect(timeline.stretches('dashboard').map(({ snapshots }) => snapshots)).toEqual([6, 6])
  })

  it('continues after a damaged file, and reports it', async () => {
    const moments = [moment({ title: 'A' }), moment({ title: 'B' }), moment({ title: 'C' })]
    const { told, events } = await follow(moments, (keys) =>
      keys.filter((key) => /^10\/20261102T.*zst$/.test(key)),
    )
    expect(told).toEqual(['01 appeared', '02 unreadable', '03 renamed'])
    expect(events[1]?.problem).toMatch(/^Cannot read the archive: 10\/20261102T/)
  })

  it('continues after a damaged manifest, and reports it', async () => {
    const moments = [moment({ title: 'A' }), moment({ title: 'B' }), moment({ title: 'C' })]
    const { told, timeline } = await follow(moments, (keys) =>
      keys.filter((key) => /^10\/20261102T.*manifest.json$/.test(key)),
    )
    expect(told).toEqual(['01 appeared', '03 renamed'])
    expect(timeline.unreadable).toHaveLength(1)
    expect(timeline.unreadable[0]?.message).toMatch(/20261102T/)
  })

  it('marks what a suspect snapshot says', async () => {
    const { store, folders } = await fillArchive([moment({ title: 'A' })])
    const timeline = await readTimeline(store, await folders())
    const [stretch] = timeline.stretches('dashboard')
    if (stretch === undefined) throw new Error('there is a stretch')
    const suspect = { reasons: ['every object has vanished'] }
    const doubtful = { ...stretch, manifest: { ...stretch.manifest, suspect } }
    const events = await Array.fromAsync(
      readHistory(
        { ...timeline, stretches: () => [doubtful] },
        { id: 'dashboard:a', type: 'dashboard' },
      ),
    )
    expect(events).toMatchObject([{ kind: 'appeared', suspect: true }])
  })
})
