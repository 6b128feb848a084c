import { DashkeepError } from '../../errors.ts'
import type { GeneratedObjects } from '../options.ts'
import type { HitSource } from './hit-source.ts'
import {
  type HitTemplate,
  hitTemplates,
  type Place,
  referencesPerObject,
} from './object-templates.ts'
import { mix } from './random.ts'

/** Values that differ between exports of the same objects. */
export interface Variation {
  /** The last two digits of the hits' `_index`. */
  readonly index: number
  /** Six decimal digits of the hits' `_score`. */
  readonly score: number
}

const DEFAULT_HIT_BYTES = 2048
const HEAD_AND_TAIL_BYTES = 40
const FILLER_BYTES = 4 * 1024 * 1024

/** Types whose objects refer to each other, with their numbers in seeds. */
const streams: Readonly<Record<string, number>> = { search: 1, visualization: 2, dashboard: 3 }

/**
 * Generates the objects of one type. Holds only a few templates: each hit is written from the seed and
 * its index, in any order.
 */
export function generatedHits(
  objects: GeneratedObjects,
  type: string,
  variation: Variation = { index: 1, score: 0 },
): HitSource {
  const templates = templatesFor(objects, type)
  const size = (templates[0] as HitTemplate).bytes.length
  const count = countOf(objects, type, size)
  const referred = countReferred(objects, type)
  return {
    count,
    bytes: count * size,
    size: () => size,
    write(index, target, at) {
      const template = templates[mix(objects.seed, 7, index) % templates.length] as HitTemplate
      target.set(template.bytes, at)
      for (const place of template.places) {
        fill(place, { objects, type, index, variation, referred }, target, at + place.at)
      }
    },
  }
}

/** Throws a `usage` error for invalid sizes. */
export function checkGenerated(objects: GeneratedObjects): void {
  if (objects.count !== undefined && objects.bytes !== undefined) {
    throw cannotGenerate('both a count and a size in bytes are given')
  }
  const sizes = [
    objects.seed,
    objects.hitBytes ?? 0,
    ...numbers(objects.count),
    ...numbers(objects.bytes),
  ]
  const wrong = sizes.find((size) => !Number.isSafeInteger(size) || size < 0)
  if (wrong !== undefined) throw cannotGenerate(`${wrong} is not a whole number of 0 or more`)
}

function numbers(sizes: GeneratedObjects['count']): number[] {
  if (sizes === undefined) return []
  return typeof sizes === 'number' ? [sizes] : Object.values(sizes)
}

function cannotGenerate(state: string): DashkeepError {
  return new DashkeepError(`Cannot generate objects: ${state}`, {
    kind: 'usage',
    hint: 'give a seed with either a count or a size in bytes, and optionally the size of a hit',
  })
}

function templatesFor(objects: GeneratedObjects, type: string): HitTemplate[] {
  const available = new Set(Object.keys(streams).filter((other) => isWanted(objects, other)))
  return hitTemplates(type, {
    form: objects.form ?? 'specified',
    hitBytes: objects.hitBytes ?? DEFAULT_HIT_BYTES,
    available,
  })
}

function isWanted(objects: GeneratedObjects, type: string): boolean {
  return (sizeOf(objects.count, type) ?? sizeOf(objects.bytes, type) ?? 0) > 0
}

function countOf(objects: GeneratedObjects, type: string, size: number): number {
  const count = sizeOf(objects.count, type)
  if (count !== undefined) return count
  const bytes = sizeOf(objects.bytes, type) ?? 0
  return bytes === 0 ? 0 : Math.max(1, Math.ceil((bytes - HEAD_AND_TAIL_BYTES) / (size + 1)))
}

function sizeOf(sizes: GeneratedObjects['count'], type: string): number | undefined {
  return typeof sizes === 'object' ? (sizes[type] ?? 0) : sizes
}

/** Number of objects of the type that objects of `type` refer to; at least 1. */
function countReferred(objects: GeneratedObjects, type: string): number {
  const other = type === 'dashboard' ? 'visualization' : 'search'
  if (referencesPerObject[type] === undefined || !isWanted(objects, other)) return 1
  const size = (templatesFor(objects, other)[0] as HitTemplate).bytes.length
  return countOf(objects, other, size)
}

interface Filling {
  readonly objects: GeneratedObjects
  readonly type: string
  readonly index: number
  readonly variation: Variation
  readonly referred: number
}

function fill(place: Place, filling: Filling, target: Buffer, at: number): void {
  const { seed } = filling.objects
  const { index } = filling
  if (place.kind === 'self') writeUuid(target, at, { seed, type: filling.type, index })
  else if (place.kind === 'reference') {
    const perObject = referencesPerObject[filling.type] ?? 1
    const other = (index * perObject + place.nth) % filling.referred
    writeUuid(target, at, { seed, type: place.type, index: other })
  } else if (place.kind === 'ordinal') writeDigits(target, at, index + 1, place.length)
  else if (place.kind === 'index') {
    target.write('.kibana_', at, 'latin1')
    writeDigits(target, at + 8, filling.variation.index, 2)
  } else if (place.kind === 'score') {
    target.write('1.', at, 'latin1')
    writeDigits(target, at + 2, filling.variation.score, 6)
  } else writeFiller(target, { at, length: place.length, from: mix(seed, 11, index) })
}

const hexDigits = Buffer.from('0123456789abcdef')

/** Writes the id of an object, from its seed, type and index, in the form of a random UUID. */
function writeUuid(
  target: Buffer,
  at: number,
  object: { seed: number; type: string; index: number },
): void {
  const stream = (streams[object.type] ?? 4) * 4
  let bits = 0
  let digit = 0
  for (let place = 0; place < 36; place += 1) {
    if (place === 8 || place === 13 || place === 18 || place === 23) {
      target[at + place] = 0x2d
      continue
    }
    if (digit % 8 === 0) bits = mix(object.seed, stream + digit / 8, object.index)
    target[at + place] = hexDigits[bits & 15] as number
    bits >>>= 4
    digit += 1
  }
  target[at + 14] = 0x34
  target[at + 19] = 0x38
}

function writeDigits(target: Buffer, at: number, value: number, length: number): void {
  let rest = value
  for (let place = length - 1; place >= 0; place -= 1) {
    target[at + place] = 0x30 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

function writeFiller(
  target: Buffer,
  { at, length, from }: { at: number; length: number; from: number },
): void {
  fillerText ??= makeFillerText()
  let written = 0
  let start = from % (FILLER_BYTES - Math.min(length, FILLER_BYTES - 1))
  while (written < length) {
    written += fillerText.copy(target, at + written, start, start + length - written)
    start = 0
  }
}

let fillerText: Buffer | undefined

/** An endless sequence of words, so that descriptions compress about as well as text. */
function makeFillerText(): Buffer {
  const syllables =
    'ka lo mi ren tas ver dol sta pri un gor el fin sor bat ne qui ham zo lir'.split(' ')
  const text = Buffer.alloc(FILLER_BYTES, ' ')
  let at = 0
  for (let word = 0; at < FILLER_BYTES - 16; word += 1) {
    let bits = mix(1, 13, word)
    for (let left = 1 + (bits % 4); left > 0; left -= 1) {
      bits >>>= 3
      at += text.write(syllables[bits % syllables.length] as string, at, 'latin1')
    }
    at += 1
  }
  return text
}
