import { describe, expect, it } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import type { Manifest } from '../../src/archive/manifest.ts'
import { readStatus } from '../../src/archive/status.ts'
import { isDoubtful, type TakenSnapshot, takeSnapshot } from '../../src/archive/take.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'
import { scriptSource, shop } from '../archive/scripted-source.ts'
import { chance, countPoints, longMs, scaled } from './scale.ts'

const hour = 3600_000
const day = 24 * hour
const maxFall = 0.5
const windowMs = 7 * day
/** More than any tolerance for snapshots from the future. */
const toleranceMs = 5 * 60_000
const types = ['search', 'dashboard']

/** The objects of a type as the account really holds them: revision by id. */
type Objects = Map<string, number>
/** One hit, as the service sends it. */
type Hit = Record<string, unknown>
type Draw = (bound: number) => number

function hitOf(type: string, id: string, revision: number): Hit {
  return {
    _index: 'i',
    _type: 'doc',
    _id: `${type}:${id}`,
    _score: 1,
    _source: { type, [type]: { title: `${id} ${revision}`, version: 1 } },
  }
}

function repeat<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

/** What a service may make of the hits that it should send. */
const distortions: Record<string, (hits: Hit[], draw: Draw) => Hit[]> = {
  'one object for all': (hits) => hits.map(() => hits[0] as Hit),
  'some objects several times': (hits, draw) => [...hits, ...hits.slice(0, draw(5))],
  'empty hits': (hits) => hits.map(() => ({})),
  'empty hits beside sound ones': (hits, draw) => [
    ...hits,
    ...repeat(draw(3) * hits.length, () => ({})),
  ],
  'null sources': (hits) => hits.map((hit) => ({ ...hit, _source: null })),
  'empty sources': (hits) => hits.map((hit) => ({ ...hit, _source: {} })),
  'no sources': (hits) => hits.map(({ _source, ...rest }) => rest),
  'empty objects': (hits) =>
    hits.map((hit) => {
      const { type } = hit._source as { type: string }
      return { ...hit, _source: { type, [type]: {} } }
    }),
  'no ids': (hits) => hits.map(({ _id, ...rest }) => rest),
  'other ids': (hits, draw) => {
    const salt = draw(1000)
    return hits.map((hit, at) => ({
      ...hit,
      _id: `${String(hit._id).split(':')[0]}:${salt}-${at}`,
    }))
  },
  'part of the objects': (hits, draw) => hits.slice(0, draw(hits.length + 1)),
  'a few objects less': (hits, draw) => hits.slice(draw(1 + Math.floor(hits.length * 0.4))),
  nothing: () => [],
}
const distortionNames = Object.keys(distortions)

/** The ids of hits that hold an object, as an independent reader of JSON sees them. */
function realIds(hits: readonly Hit[], type: string): Set<string> {
  const real = hits.filter((hit) => {
    const object = (hit._source as Record<string, unknown> | null | undefined)?.[type]
    return typeof hit._id === 'string' && object != null && Object.keys(object).length > 0
  })
  return new Set(real.map((hit) => String(hit._id)))
}

/** What a run was given, for the independent judge. */
interface Given {
  /** Ids of real objects, by type. */
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
  /** Part of the hits that hold no object, the worst of all types. */
  readonly hollow: number
  readonly accepted: boolean
}

/** A snapshot of the history and what its run was given. */
interface Past {
  readonly given: Given
  readonly manifest: Manifest
}

/** Why nobody should trust what a run was given after these earlier snapshots; newest first. */
function doubtsAbout(given: Given, before: readonly Past[], at: Date) {
  const doubts: string[] = []
  if (given.hollow > 0.5) doubts.push('most hits hold no object')
  const good = before.filter(({ manifest }) => manifest.suspect === undefined)
  const lastGood = good[0]
  const accepted = good.findIndex((one) => one.given.accepted)
  const comparable = accepted < 0 ? good : good.slice(0, accepted + 1)
  for (const [type, ids] of given.ids) {
    const gone = [...(lastGood?.given.ids.get(type) ?? [])].filter((id) => !ids.has(id)).length
    const had = lastGood?.given.ids.get(type)?.size ?? 0
    if (had > 0 && gone > had * maxFall) doubts.push(`${type}: ${gone} of ${had} are gone`)
    for (const { given: other, manifest } of comparable) {
      const age = at.getTime() - new Date(manifest.takenAt).getTime()
      const count = other.ids.get(type)?.size ?? 0
      if (age > windowMs - hour) continue
      if (count > 0 && ids.size < count * (1 - maxFall)) {
        doubts.push(`${type}: ${ids.size} objects, ${count} in ${manifest.snapshot}`)
      }
    }
  }
  return doubts
}

describe('a service and a clock that nobody should trust', () => {
  const tally = countPoints('runs against services and clocks that lie')

  it(
    'never leave a newest good snapshot without a question that should have been asked',
    async () => {
      const histories = scaled(100, 10_000)
      for (let number = 0; number < histories; number += 1) await live(number)
    },
    longMs,
  )

  /** Lives through one account's history of a dozen runs. */
  async function live(number: number): Promise<void> {
    const draw = chance(50_000 + number)
    const store = createMemoryStore()
    const past = new Map<string, Past>()
    const truth = new Map<string, Objects>(
      types.map((type) => [type, new Map(repeat(1 + draw(12), (at) => [`${at}`, 0]))]),
    )
    const spoiled = new Set<string>()
    let now = Date.UTC(2026, 0, 1)
    let acceptNext = false
    for (let step = 0; step < 8; step += 1) {
      now += hour + draw(30 * hour)
      for (const objects of truth.values()) edit(objects, draw)
      const lie =
        draw(2) === 0 ? (distortionNames[draw(distortionNames.length)] as string) : undefined
      const clockOffset = draw(6) === 0 ? (offsets[draw(offsets.length)] as number) : 0
      const saysDate = draw(3) > 0
      const accepted: boolean = acceptNext && lie === undefined
      const name = `history ${number}, run ${step}: ${lie ?? 'an honest service'}, clock ${clockOffset / hour} h off${saysDate ? '' : ' unseen'}${accepted ? ', accepted' : ''}`
      await tally.point(name, async () => {
        const hits = new Map(
          [...truth].map(([type, objects]) => [type, tell(type, objects, lie, draw)]),
        )
        const given = describeGiven(hits, accepted)
        const takenAt = new Date(now + clockOffset)
        const run = { store, hits, takenAt, skew: saysDate ? -clockOffset : undefined, accepted }
        const taken = await takeOne(run).catch((error: Error) => error)
        if (taken instanceof Error) {
          expect(Math.abs(clockOffset), taken.message).toBeGreaterThan(hour)
          expect(await snapshots(store), 'what a refused run left').toHaveLength(past.size)
        } else {
          const { manifest } = taken
          past.set(manifest.snapshot, { given, manifest })
          const doubts = doubtsAbout(given, ancestors(manifest, past), takenAt)
          if (saysDate)
            expect(Math.abs(clockOffset), 'clock of a snapshot').toBeLessThanOrEqual(hour)
          if (!isDoubtful(taken) && !accepted) expect(doubts, 'of a run that exits 0').toEqual([])
          if (doubts.length > 0 && !accepted) spoiled.add(manifest.snapshot)
          acceptNext = manifest.suspect !== undefined
        }
        const newest = await newestGood(store, now)
        if (newest) {
          expect(spoiled.has(newest.snapshot), `${newest.snapshot} is the newest good one`).toBe(
            false,
          )
          const takenMs = new Date(newest.takenAt).getTime()
          expect(takenMs, 'when the newest good one was taken').toBeLessThanOrEqual(
            now + toleranceMs,
          )
        }
      })
    }
  }
})

/** How far a clock may be off, in milliseconds. */
const offsets = [-366 * day, -3 * day, -5 * hour, -hour / 2, hour / 2, 5 * hour, 3 * day, 366 * day]

/** What people do to an account between two runs: mostly little, now and then they clear it out. */
function edit(objects: Objects, draw: Draw): void {
  const isPurge = draw(20) === 0
  for (const id of [...objects.keys()]) {
    if (isPurge ? draw(10) < 8 : draw(15) === 0) objects.delete(id)
    else if (draw(8) === 0) objects.set(id, (objects.get(id) ?? 0) + 1)
  }
  for (let added = draw(3); added > 0; added -= 1) objects.set(`new-${draw(1_000_000)}`, 0)
}

function tell(type: string, objects: Objects, lie: string | undefined, draw: Draw): Hit[] {
  const hits = [...objects].map(([id, revision]) => hitOf(type, id, revision))
  const distort = lie === undefined || hits.length === 0 ? undefined : distortions[lie]
  return distort && draw(4) > 0 ? distort(hits, draw) : hits
}

function describeGiven(hits: ReadonlyMap<string, readonly Hit[]>, accepted: boolean): Given {
  const ids = new Map([...hits].map(([type, list]) => [type, realIds(list, type)]))
  const parts = [...hits].map(([type, list]) => {
    const sound = list.filter((hit) => realIds([hit], type).size > 0).length
    return list.length === 0 ? 0 : 1 - sound / list.length
  })
  return { ids, hollow: Math.max(...parts), accepted }
}

async function takeOne(run: {
  store: ObjectStore
  hits: ReadonlyMap<string, Hit[]>
  takenAt: Date
  skew: number | undefined
  accepted: boolean
}): Promise<TakenSnapshot> {
  const bodies = Object.fromEntries(
    [...run.hits].map(([type, list]) => [
      type,
      JSON.stringify({ kibanaVersion: '7.9.1', hits: list }),
    ]),
  )
  const source = { ...scriptSource(bodies), clockSkewMs: run.skew }
  return takeSnapshot(source, run.store, {
    types,
    takenAt: run.takenAt,
    compression: 'none',
    maxFall,
    now: () => run.takenAt,
    maxClockSkewMs: hour,
    acceptFall: run.accepted,
  })
}

async function snapshots(store: ObjectStore): Promise<string[]> {
  const folders = await Array.fromAsync(listFolders(store))
  return folders.filter(({ complete }) => complete).map(({ snapshot }) => snapshot)
}

/** The snapshots before one, along the chain that the manifests form; newest first. */
function ancestors({ previous }: Manifest, past: ReadonlyMap<string, Past>): Past[] {
  const before = previous && past.get(previous.snapshot)
  return before ? [before, ...ancestors(before.manifest, past)] : []
}

async function newestGood(store: ObjectStore, now: number): Promise<Manifest | undefined> {
  for await (const status of readStatus(store, { now: new Date(now), accountId: shop.accountId }))
    return status.newestGood
  return undefined
}
