import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PatchOperation } from '../../src/objects/diff-objects.ts'
import {
  asJsonObject,
  equalJson,
  type JsonObject,
  type JsonValue,
  parseLossless,
} from '../../src/objects/lossless-json.ts'
import { comparableView } from '../../src/objects/open-nested.ts'
import { jsonLines } from '../e2e/run-dashkeep.ts'
import { startTrial, type Trial, types } from '../e2e/trial.ts'
import { applyPatch } from '../objects/apply-patch.ts'
import { backUpEachDate, corpus, reportLeftOut } from './corpus.ts'

if (corpus === '') reportLeftOut('differences and histories of real objects')

/** The objects of a type at one date: by id, what of them is stable, and their titles. */
type State = Map<string, Seen>

interface Seen {
  readonly stable: string
  readonly title: unknown
}

describe.skipIf(corpus === '')('five years of real changes are found again', () => {
  it('between successive dates, and in the histories of what was renamed, gone and back', async () => {
    await using trial = await startTrial()
    const dates = await backUpEachDate(trial, trial)
    const states = new Map<string, Map<string, State>>()
    for (const date of dates) states.set(date, await readDate(trial, date))

    let [compared, patched] = [0, 0]
    for (const [at, date] of dates.entries()) {
      const earlier = dates[at - 1]
      if (earlier === undefined) continue
      const { stdout } = await trial.runAt(new Date(), ['diff', earlier, date, '--json'])
      const found = parseLossless(stdout) as JsonObject
      for (const entry of found.get('types') as JsonObject[]) {
        const type = entry.get('type') as string
        const [before, after] = [states.get(earlier)?.get(type), states.get(date)?.get(type)]
        if (before === undefined || after === undefined) throw new Error('both are there')
        expect({ date, type, ...idsOf(entry) }).toEqual({ date, type, ...compare(before, after) })
        compared += 1
        patched += await checkPatches(trial, entry, [earlier, date])
      }
    }
    expect(compared).toBe(174 * types.length)
    expect(patched).toBeGreaterThan(1000)

    const lives = readLives(dates, states)
    for (const kind of ['renamed', 'disappeared', 'returned']) {
      const chosen = [...lives].filter(([, events]) => events.some((one) => one.endsWith(kind)))
      expect(chosen.length, kind).toBeGreaterThan(3)
      const step = Math.ceil(chosen.length / 8)
      for (const [id, events] of chosen.filter((_, place) => place % step === 0)) {
        const { stdout } = await trial.run(['history', id, '--json'])
        const [document] = jsonLines(stdout) as [{ events: { event: string; takenAt: string }[] }]
        const told = document.events.map(({ event, takenAt }) => `${takenAt.slice(0, 10)} ${event}`)
        expect({ id, told }).toEqual({ id, told: events })
      }
    }
  }, 900_000)
})

/** Reads a date's documents with nothing of dashkeep's. */
async function readDate(trial: Trial, date: string): Promise<Map<string, State>> {
  const byType = new Map<string, State>()
  for (const type of types) {
    const { hits } = JSON.parse(await readDocument(trial, date, type))
    const state: State = new Map()
    for (const { _index, _score, ...hit } of hits) {
      const { updated_at, version, _updatedAt, ...source } = hit._source
      const object = source[type] ?? source
      const id = source[type] === undefined ? `${type}:${hit._id}` : hit._id
      state.set(id, { stable: JSON.stringify({ ...hit, _source: source }), title: object.title })
    }
    byType.set(type, state)
  }
  return byType
}

function readDocument(trial: Trial, date: string, type: string): Promise<string> {
  return readFile(join(trial.folder, 'history', date, `${type}.json`), 'utf8')
}

function compare(before: State, after: State) {
  const inBoth = [...after.keys()].filter((id) => before.has(id))
  return {
    added: [...after.keys()].filter((id) => !before.has(id)).sort(),
    removed: [...before.keys()].filter((id) => !after.has(id)).sort(),
    changed: inBoth.filter((id) => before.get(id)?.stable !== after.get(id)?.stable).sort(),
  }
}

function idsOf(entry: JsonObject) {
  const ids = (kind: string) =>
    (entry.get(kind) as JsonObject[]).map((object) => object.get('id') as string).sort()
  return { added: ids('added'), removed: ids('removed'), changed: ids('changed') }
}

/** Applies each patch to the earlier version, which must give the later one. */
async function checkPatches(
  trial: Trial,
  entry: JsonObject,
  [earlier, date]: readonly [string, string],
): Promise<number> {
  const changed = entry.get('changed') as JsonObject[]
  if (changed.length === 0) return 0
  const type = entry.get('type') as string
  const [before, after] = [
    await readViews(trial, earlier, type),
    await readViews(trial, date, type),
  ]
  for (const object of changed) {
    const id = object.get('id') as string
    const patch = (object.get('patch') as JsonObject[]).map(
      (operation) => Object.fromEntries(operation) as unknown as PatchOperation,
    )
    const patched = applyPatch(before.get(id) as JsonValue, patch)
    expect(equalJson(patched, after.get(id)), `${date} ${id}`).toBe(true)
  }
  return changed.length
}

async function readViews(trial: Trial, date: string, type: string): Promise<JsonObject> {
  const document = parseLossless(await readDocument(trial, date, type)) as JsonObject
  const hits = document.get('hits') as JsonObject[]
  return new Map(
    hits.map((hit) => {
      const id = hit.get('_id') as string
      const isOld = asJsonObject(asJsonObject(hit.get('_source'))?.get(type)) === undefined
      return [isOld ? `${type}:${id}` : id, comparableView(hit)]
    }),
  )
}

/** What the history shows for an object at a date; undefined when it has not changed. */
function eventOf(
  before: Seen | undefined,
  now: Seen,
  { wasPresent }: { wasPresent: boolean },
): string | undefined {
  if (before === undefined) return 'appeared'
  if (!wasPresent) return 'returned'
  if (before.stable === now.stable) return undefined
  return before.title === now.title ? 'changed' : 'renamed'
}

/** What happened to each object, by its id: `2016-03-07 appeared`. */
function readLives(
  dates: readonly string[],
  states: ReadonlyMap<string, ReadonlyMap<string, State>>,
): Map<string, string[]> {
  const lives = new Map<string, string[]>()
  for (const type of types) {
    const known: State = new Map()
    let present = new Set<string>()
    for (const date of dates) {
      const state = states.get(date)?.get(type) ?? new Map()
      for (const [id, now] of state) {
        const before = known.get(id)
        const event = eventOf(before, now, { wasPresent: present.has(id) })
        if (event !== undefined) lives.set(id, [...(lives.get(id) ?? []), `${date} ${event}`])
        known.set(id, now)
      }
      for (const id of present) {
        if (!state.has(id)) lives.get(id)?.push(`${date} disappeared`)
      }
      present = new Set(state.keys())
    }
  }
  return lives
}
