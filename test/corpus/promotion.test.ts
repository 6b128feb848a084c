import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultScanLimits } from '../../src/export/export-scanner.ts'
import { deriveId } from '../../src/objects/derive-id.ts'
import { parseLossless, stringifyLossless } from '../../src/objects/lossless-json.ts'
import { openNested } from '../../src/objects/open-nested.ts'
import { findNeeds } from '../../src/objects/references.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'
import { folderSource } from '../../src/restore/folder-source.ts'
import { promote } from '../../src/restore/promote.ts'
import { chooseToPromote } from '../../src/restore/restoring.ts'
import { type Hit, type PromotionTrial, startPromotion } from '../e2e/promotion-trial.ts'
import { shopId, types } from '../e2e/trial.ts'
import { corpus, reportLeftOut } from './corpus.ts'

if (corpus === '') reportLeftOut('promoting 25 accounts of real saved objects')

const names = [...(corpus && readdirSync(corpus))].filter((name) => /^account-\d\d$/.test(name))
const account = { id: shopId, name: 'Shop' }
const prefix = '[Promoted] '

/** The name in the target of the index pattern at this place of the list. */
function targetOf(place: number): string {
  return `<pattern ${place}>`
}

/** Promotes an account by a map of all of its index patterns. */
async function promoteAccount(name: string) {
  const signal = new AbortController().signal
  const source = {
    ...(await folderSource(join(corpus, name), { limits: defaultScanLimits, signal })),
    account,
  }
  const chosen = await chooseToPromote(source, undefined, { names: undefined, withNeeds: true })
  const keeping = { ids: 'keep', titlePrefix: '', keepsUnmapped: true, label: '' } as const
  const kept = await promote(chosen, { ...keeping, indexPatterns: new Map() })
  const patterns = [...new Set(kept.promoted.patterns.map(({ from }) => from))]
  const indexPatterns = new Map(
    patterns.map((from, place) => [from, { id: targetOf(place), name: targetOf(place) }]),
  )
  const promotion = { ids: 'derive', titlePrefix: prefix, keepsUnmapped: false, label: '' } as const
  const restoring = await promote(chosen, { ...promotion, indexPatterns })
  return { source, kept, restoring, patterns }
}

/** A hit as text, with its nested JSON as part of it. */
function opened(hit: Uint8Array): string {
  return stringifyLossless(openNested(parseLossless(Buffer.from(hit).toString())))
}

/** Undoes a promotion in a text: by what it put in, without knowledge of where that may be. */
function undo(text: string, ids: ReadonlyMap<string, string>, patterns: readonly string[]): string {
  const inText = (value: string) => JSON.stringify(value).slice(1, -1)
  return text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, (id) =>
      inText(ids.get(id) ?? id),
    )
    .replaceAll(/<pattern (\d+)>/g, (_whole, place) => inText(patterns[Number(place)] ?? ''))
    .replace(`"title":"${prefix}`, '"title":"')
}

describe.skipIf(corpus === '')('promoting 25 accounts of real saved objects', () => {
  it.each(names)('changes nothing but ids, index patterns and titles: %s', async (name) => {
    const { source, kept, restoring, patterns } = await promoteAccount(name)
    const { objects } = restoring.selection
    const byNewId = new Map(
      objects.map(({ id, from }) => {
        const objectId = (text = '') => text.slice(text.indexOf(':') + 1)
        return [objectId(id), objectId(from?.id)]
      }),
    )
    for (const { type } of source.exports) {
      const before = await Array.fromAsync(source.readHits(type))
      const after = await Array.fromAsync(restoring.source.readHits(type))
      expect(await Array.fromAsync(kept.source.readHits(type))).toEqual(before)
      expect(after.map((hit) => undo(opened(hit), byNewId, patterns))).toEqual(before.map(opened))
    }
  })

  it.each(names)('leaves no reference to an object of the source: %s', async (name) => {
    const { source, restoring } = await promoteAccount(name)
    const originals = new Set(restoring.selection.objects.map(({ from }) => from?.id))
    const ids = new Set(restoring.selection.objects.map(({ id }) => id))
    for (const { type } of source.exports) {
      const before = await Array.fromAsync(source.readHits(type))
      const after = await Array.fromAsync(restoring.source.readHits(type))
      for (const [place, hit] of after.entries()) {
        const object = parseSavedObject(hit, type)
        const original = parseSavedObject(before[place] as Uint8Array, type)
        const needs = findNeeds(object).references
        expect(needs).toEqual(
          findNeeds(original).references.map((reference) => ({
            ...reference,
            id: expect.stringMatching(reference.type === 'index-pattern' ? /^<pattern / : /./),
          })),
        )
        for (const { type: needed, id } of needs) expect(originals).not.toContain(`${needed}:${id}`)
        const text = Buffer.from(hit).toString()
        for (const [, page, id] of text.matchAll(/#\/(dashboard|view)\/([\w:%-]+)/g)) {
          expect(originals, `${page} of ${object.id}`).not.toContain(
            `dashboard:${decodeURIComponent(id as string)}`,
          )
        }
        expect(ids).toContain(object.id)
      }
    }
  })
})

/** Promotes the source into an account, and returns what the plan and the result say. */
async function run(trial: PromotionTrial, into: string, map: string, ...more: string[]) {
  const where = ['restore', '--account', 'production', '--to-service', '--into-account', into]
  const { exitCode, stdout, stderr } = await trial.dashkeep([
    ...[...where, '--map', map, '--any-version', '--overwrite', '--yes', '--json', ...more],
  ])
  expect(exitCode, stderr + stdout.slice(-2000)).toBe(0)
  return JSON.parse(stdout) as { create: unknown[]; overwrite: { id: string }[]; same: number }
}

it.skipIf(corpus === '').each(['account-04', 'account-16', 'account-23'])(
  'updates what it created of %s, does not duplicate it, and gives a third account its own',
  async (name) => {
    await using trial = await startPromotion({ source: { folder: join(corpus, name) } })
    const { patterns } = await promoteAccount(name)
    const map = (into: string) => ({
      indexPatterns: Object.fromEntries(patterns.map((from) => [from, `${into} ${from}`])),
    })
    const path = await trial.write('map.yaml', {
      titlePrefix: prefix,
      accounts: { 'team-a': map('a'), 'team-b': map('b') },
    })
    const count = trial.objects('production').size
    expect(await run(trial, 'team-a', path)).toMatchObject({ overwrite: [], same: 0 })
    const first = trial.objects('team-a')
    expect(first.size).toBe(count)
    expect(await run(trial, 'team-a', path)).toMatchObject({
      create: [],
      overwrite: [],
      same: count,
    })

    const document = await readFile(join(corpus, name, 'dashboard.json'), 'utf8')
    const changed = JSON.parse(document) as { hits: Hit[] }
    const [dashboard] = changed.hits
    Object.assign(dashboard?._source.dashboard as object, { description: 'Changed' })
    trial.setObjects('production', 'dashboard', changed.hits)
    await trial.backUp()
    const id = `dashboard:${deriveId(shopId, 'dashboard', String(dashboard?._id).slice('dashboard:'.length))}`
    const updated = await run(trial, 'team-a', path)
    expect(updated).toMatchObject({ create: [], overwrite: [{ id }], same: count - 1 })
    const second = trial.objects('team-a')
    expect([...second.keys()].sort()).toEqual([...first.keys()].sort())
    const differing = [...second].filter(
      ([one, hit]) => JSON.stringify(hit) !== JSON.stringify(first.get(one)),
    )
    expect(differing.map(([one]) => one)).toEqual([id])

    expect(await run(trial, 'team-b', path)).toMatchObject({ overwrite: [], same: 0 })
    expect(trial.objects('team-a')).toEqual(second)
    expect([...trial.objects('team-b').keys()].sort()).toEqual([...first.keys()].sort())
    for (const type of types) {
      const used = JSON.stringify([...trial.objects('team-b').values()])
      for (const from of patterns)
        expect(used, type).not.toContain(JSON.stringify(`a ${from}`).slice(1, -1))
    }
  },
  60_000,
)
