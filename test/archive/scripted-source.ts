import { setImmediate } from 'node:timers/promises'
import type { Account, SavedObjectSource } from '../../src/archive/source.ts'

/**
 * The answer to one export: a body, an error before its first byte, or a body that breaks off.
 * With a list, each call gets the next answer. Calls after the last one get the last answer again.
 */
export type Answer =
  | string
  | Uint8Array
  | Error
  | { readonly begins: string; readonly thenFails: Error }
export type Answers = Record<string, Answer | Answer[]>

/** A source with the answers that a test chooses. */
export interface ScriptedSource extends SavedObjectSource {
  /** Types asked for, in order. */
  readonly asked: string[]
  answers: Answers
  account: Account
}

export const shop: Account = { accountId: 10, accountName: 'Shop' }

export function scriptSource(answers: Answers): ScriptedSource {
  const turns = new Map<Answer[], number>()
  const source: ScriptedSource = {
    address: 'https://service.example',
    asked: [],
    answers,
    account: shop,
    async whoami() {
      return source.account
    },
    async exportObjects(type, { signal }) {
      source.asked.push(type)
      await setImmediate()
      signal?.throwIfAborted()
      const answer = nextAnswer(source.answers[type], turns)
      if (answer === undefined) throw new Error(`the test has no answer for ${type}`)
      if (answer instanceof Error) throw answer
      return stream(answer, signal)
    },
    checkMembers() {},
  }
  return source
}

function nextAnswer(
  answers: Answer | Answer[] | undefined,
  turns: Map<Answer[], number>,
): Answer | undefined {
  if (!Array.isArray(answers)) return answers
  const turn = turns.get(answers) ?? 0
  turns.set(answers, turn + 1)
  return answers[Math.min(turn, answers.length - 1)]
}

async function* stream(
  answer: Exclude<Answer, Error>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const isWhole = typeof answer === 'string' || answer instanceof Uint8Array
  const bytes = Buffer.from((isWhole ? answer : answer.begins) as Uint8Array)
  for (let at = 0; at < bytes.length; at += 1000) {
    await setImmediate()
    signal?.throwIfAborted()
    yield bytes.subarray(at, at + 1000)
  }
  if (!isWhole) throw answer.thenFails
}

/** How one answer differs from another about the same objects. */
export interface ExportVariation {
  readonly kibanaVersion?: string
  readonly index?: string
  readonly score?: number | null
  readonly reversed?: boolean
  readonly touchedAt?: number
}

/** The body of an export whose objects have these ids and titles. */
export function exportBody(
  type: string,
  objects: Record<string, string>,
  {
    kibanaVersion = '7.9.1',
    index = 'first',
    score = 1,
    reversed = false,
    touchedAt = 1,
  }: ExportVariation = {},
): string {
  const hits = Object.entries(objects).map(([id, title]) => ({
    _index: index,
    _type: 'doc',
    _id: `${type}:${id}`,
    _score: score,
    _source: { type, updated_at: touchedAt, [type]: { title, version: 1 } },
  }))
  return JSON.stringify({ kibanaVersion, hits: reversed ? hits.reverse() : hits })
}

/** Ids and titles of `count` objects, by number. */
export function numbered(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, `Title ${at}`]))
}
