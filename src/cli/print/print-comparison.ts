import type { NamedObject } from '../../archive/compare.ts'
import { readPairs, type SnapshotSide, sharedTypes, type TypeDiff } from '../../archive/diff.ts'
import type { ReadOptions } from '../../archive/read-objects.ts'
import { diffHits, type ObjectDiff } from '../../objects/diff-objects.ts'
import { type JsonDocument, stringifyLossless } from '../../objects/lossless-json.ts'
import { formatTime } from '../../wording.ts'
import type { Terminal } from '../terminal.ts'
import { formatDifferences } from './format-diff.ts'
import { fitText, formatObject, formatTable, roomBeside } from './table.ts'

/** Maximum number of differences per object, unless `--object` names it. */
const MAX_SHOWN = 40

/** Indentation of an object's differences. */
const INDENT = '      '

/** Both sides of a comparison, and the types to compare. */
export interface Comparison {
  readonly before: SnapshotSide
  readonly after: SnapshotSide
  readonly isLive: boolean
  readonly types: readonly string[]
  readonly read: ReadOptions
}

interface PrintOptions {
  /** Prints only the numbers of objects. */
  readonly stat: boolean
  /** Prints all differences: `--object` names one object. */
  readonly whole: boolean
}

/** Prints the differences, as text or as JSON. */
export async function printComparison(
  terminal: Terminal,
  comparison: Comparison,
  diffs: readonly TypeDiff[],
  options: PrintOptions,
): Promise<void> {
  if (terminal.json) terminal.printJson(await toJson(comparison, diffs, options), stringifyLossless)
  else if (options.stat) printStat(terminal, comparison, diffs)
  else await printDiffs(terminal, comparison, diffs, options)
}

/** Both versions of each changed object of a type. */
async function* readChanges(
  { before, after, read }: Comparison,
  { type, changed }: TypeDiff,
): AsyncGenerator<{ object: NamedObject; diff: ObjectDiff }> {
  const titles = new Map(changed.map((object) => [object.id, object]))
  for await (const pair of readPairs(before, after, type, titles.keys(), read)) {
    const object = titles.get(pair.id) as NamedObject
    yield { object, diff: diffHits(pair.before.bytes, pair.after.bytes, type) }
  }
}

/** Stable members for programs; docs/json-output.md documents them. */
async function toJson(
  comparison: Comparison,
  diffs: readonly TypeDiff[],
  { stat }: PrintOptions,
): Promise<JsonDocument> {
  const { before, after, isLive } = comparison
  const types: JsonDocument[] = []
  for (const found of diffs) {
    const { type, added, removed, changed, touched, unchanged } = found
    const counts = { added: added.length, removed: removed.length, changed: changed.length }
    const base = { type, counts: { ...counts, touched: touched.length, unchanged } }
    if (stat) {
      types.push(base)
      continue
    }
    const altered: JsonDocument[] = []
    for await (const { object, diff } of readChanges(comparison, found)) {
      const { id, title } = object
      altered.push({ id, title, patch: diff.patch })
    }
    const named = (objects: readonly NamedObject[]) =>
      objects.map(({ id, title }) => ({ id, title }))
    types.push({
      ...base,
      added: named(added),
      removed: named(removed),
      changed: altered,
      touched: named(touched),
    })
  }
  const accountId = before.manifest.account.id
  const otherId = after.manifest.account.id
  return {
    accountId,
    otherAccountId: otherId === accountId ? undefined : otherId,
    before: sideToJson(before),
    after: isLive ? { service: after.manifest.service } : sideToJson(after),
    types,
  }
}

function sideToJson({ manifest: { snapshot, takenAt } }: SnapshotSide): JsonDocument {
  return { snapshot, takenAt }
}

function printSides({ print, colors }: Terminal, { before, after, isLive }: Comparison): void {
  const side = ({ manifest: { snapshot, takenAt, suspect } }: SnapshotSide) =>
    `${colors.bold(snapshot)}  ${formatTime(new Date(takenAt))} UTC${suspect ? colors.yellow('  suspect') : ''}`
  const isSameAccount = before.manifest.account.id === after.manifest.account.id
  const owner = ({ manifest }: SnapshotSide) =>
    isSameAccount ? '' : `  account ${manifest.account.id}`
  print(`from  ${side(before)}${owner(before)}`)
  const live = () => `${colors.bold('the service')}  ${after.manifest.service}`
  print(`to    ${isLive ? live() : side(after)}${owner(after)}`)
  const { onlyBefore, onlyAfter } = sharedTypes(before.manifest, after.manifest)
  for (const [types, where] of [
    [onlyBefore, 'from'],
    [onlyAfter, 'to'],
  ] as const) {
    if (types.length > 0) print(`only "${where}" holds ${types.join(', ')}: not compared`)
  }
}

function printStat(terminal: Terminal, comparison: Comparison, diffs: readonly TypeDiff[]): void {
  printSides(terminal, comparison)
  terminal.print()
  const rows = diffs.map(({ type, added, removed, changed, touched, unchanged }) =>
    [type, added.length, removed.length, changed.length, touched.length, unchanged].map(String),
  )
  const header = ['TYPE', 'ADDED', 'REMOVED', 'CHANGED', 'TOUCHED', 'UNCHANGED']
  terminal.print(formatTable(terminal, header, rows, { right: [1, 2, 3, 4, 5] }))
}

async function printDiffs(
  terminal: Terminal,
  comparison: Comparison,
  diffs: readonly TypeDiff[],
  { whole }: PrintOptions,
): Promise<void> {
  const { colors } = terminal
  const columns = roomBeside(terminal, INDENT)
  printSides(terminal, comparison)
  for (const found of diffs) {
    const { type, added, removed, touched } = found
    terminal.print()
    terminal.print(`${colors.bold(type)}  ${summarize(found)}`)
    const line = (sign: string, object: NamedObject) =>
      terminal.print(formatObject(terminal, sign, object))
    for (const one of added) line(colors.green('+'), one)
    for (const one of removed) line(colors.red('-'), one)
    for await (const { object: one, diff } of readChanges(comparison, found)) {
      line(colors.yellow('~'), one)
      const limit = whole ? undefined : MAX_SHOWN
      const lines = formatDifferences(diff, { colors, limit, columns })
      for (const text of lines) terminal.print(INDENT + fitText(terminal, text, INDENT))
    }
    if (whole) for (const one of touched) line(colors.dim('·'), one)
  }
}

function summarize({ added, removed, changed, touched, unchanged }: TypeDiff): string {
  const counts: [number, string][] = [
    [added.length, 'added'],
    [removed.length, 'removed'],
    [changed.length, 'changed'],
    [touched.length, 'only touched'],
    [unchanged, 'unchanged'],
  ]
  const parts = counts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`)
  return parts.join(', ') || 'no objects'
}
