import fc from 'fast-check'
import { type JsonObject, type JsonValue, parseLossless } from '../../src/objects/lossless-json.ts'
import { valueText } from '../archive/arbitrary-json.ts'

/** Any JSON value, numbers that JavaScript cannot hold included. */
export const anyValue: fc.Arbitrary<JsonValue> = valueText.map(parseLossless)

/** An object with few names, so that two of them share some. */
export function objectOf(member: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  const name = fc.constantFrom('title', 'a', 'b/c', '~d', '', '__proto__', '10', '2', 'params')
  return fc
    .uniqueArray(fc.tuple(name, member), { maxLength: 5, selector: ([key]) => key })
    .map((members) => new Map(members))
}

const place = fc.nat(3).map((number): JsonValue => number)

/** A panel as dashboards have them, old or new. */
const panel = fc
  .record({
    key: fc.oneof(fc.nat(6), fc.nat(6).map(String)),
    grid: fc.boolean(),
    places: fc.tuple(place, place, place, place),
    more: objectOf(anyValue),
  })
  .map(({ key, grid, places: [x, y, w, h], more }): JsonObject => {
    const gridData: JsonObject = new Map([
      ['x', x],
      ['y', y],
      ['w', w],
      ['h', h],
      ['i', String(key)],
    ])
    const columns: [string, JsonValue][] = [
      ['col', x],
      ['row', y],
      ['size_x', w],
      ['size_y', h],
    ]
    const where: [string, JsonValue][] = grid ? [['gridData', gridData]] : columns
    return new Map<string, JsonValue>([...more, ...where, ['panelIndex', key]])
  })

const keyedItem = fc
  .tuple(fc.nat(5), objectOf(anyValue))
  .map(([id, more]): JsonValue => new Map<string, JsonValue>([...more, ['id', id]]))

/** Values made of what saved objects are made of: members, panels, items with ids, lists. */
export const likelyValue: fc.Arbitrary<JsonValue> = fc
  .record({
    title: anyValue,
    panelsJSON: fc.oneof(fc.array(panel, { maxLength: 6 }), anyValue),
    aggs: fc.array(keyedItem, { maxLength: 6 }),
    columns: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 }),
    filters: fc.array(objectOf(place), { maxLength: 6 }),
    nested: objectOf(fc.oneof(anyValue, objectOf(anyValue))),
  })
  .map((members): JsonValue => new Map<string, JsonValue>(Object.entries(members)))
