import type { PatchOperation } from '../../objects/diff-objects.ts'
import type { JsonDocument } from '../../objects/lossless-json.ts'
import type { AppliedRestore } from '../../restore/apply.ts'
import type { Overwrite } from '../../restore/overwrites.ts'
import {
  objectsToSend,
  type PlannedObject,
  type RestoreAction,
  type RestorePlan,
} from '../../restore/plan.ts'
import type { PromotedParts } from '../../restore/restoring.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import {
  errorsOfRestore,
  exitCodeOfRestore,
  type PreparedRestore,
} from '../../run/restore-to-service.ts'
import { plural } from '../../wording.ts'
import { printHint, type Terminal } from '../terminal.ts'
import { formatDifferences } from './format-diff.ts'
import { needsToJson, printList, printNeeds, printSource, sourceToJson } from './restore-report.ts'
import { fitText, formatObject, roomBeside } from './table.ts'

/** The plan and the result of a restore to the service. */
interface Outcome {
  readonly prepared: Pick<PreparedRestore, 'restoring' | 'into' | 'plan' | 'patternUses'>
  /** The changes by overwriting; only with `--json`. */
  readonly patches: ReadonlyMap<PlannedObject, readonly PatchOperation[]> | undefined
  readonly agreed: boolean
  /** The snapshot of the objects before the restore. */
  readonly before: string | undefined
  /** Undefined when there was nothing to send or no confirmation. */
  readonly applied: AppliedRestore | undefined
}

const actions: readonly [RestoreAction, string][] = [
  ['create', 'not in the service'],
  ['overwrite', 'different in the service'],
  ['leave', 'different in the service, kept without --overwrite'],
  ['same', 'identical in the service'],
]

const signs: Partial<Record<RestoreAction, string>> = { create: '+', overwrite: '~', leave: '=' }

/** Indentation of an object's differences. */
const INDENT = '      '

/** Maximum number of differences per object. */
const MAX_DIFFERENCES = 10

/** Prints the plan, the changes by overwriting, and the objects that must exist. */
export async function printPlan(terminal: Terminal, prepared: PreparedRestore): Promise<void> {
  const { colors } = terminal
  const { restoring, plan, overwrites } = prepared
  const { account, address } = prepared.into
  const { selection } = restoring
  printSource(terminal, restoring)
  terminal.print(`Into account ${account.accountId} (${account.accountName}) at ${address}`)
  if (selection.added > 0) {
    terminal.print(`Includes ${plural(selection.added, 'object')} that the chosen objects need`)
  }
  terminal.print()
  const changes = await describeChanges(terminal, overwrites())
  const shown = { create: colors.green, overwrite: colors.yellow, leave: colors.cyan, same: String }
  for (const [action, reason] of actions) {
    const objects = plan.objects.filter((planned) => planned.action === action)
    if (objects.length === 0) continue
    terminal.print(
      `${shown[action](action.padEnd(9))} ${String(objects.length).padStart(6)}  ${colors.dim(reason)}`,
    )
    const sign = signs[action]
    if (sign === undefined) continue
    printList(terminal, objects, (planned) => {
      const line = formatObject(terminal, shown[action](sign), planned.entry)
      return [line, ...formatOrigin(terminal, planned), ...(changes.get(planned) ?? [])]
    })
  }
  const { promoted } = restoring
  if (promoted === undefined) printNeeds(terminal, selection, plan.missing)
  else {
    printNeeds(terminal, { ...selection, indexPatterns: [] }, plan.missing)
    printPromoted(terminal, promoted, prepared)
  }
  terminal.print()
}

/** The line that names the object of the source, when a promotion gave it another id. */
function formatOrigin({ colors }: Terminal, { entry: { id, from } }: PlannedObject): string[] {
  return from === undefined || from.id === id ? [] : [colors.dim(`${INDENT}from ${from.id}`)]
}

/** Prints the index patterns of a promotion, and what it cannot change. */
function printPromoted(
  terminal: Terminal,
  { patterns, ownTexts }: PromotedParts,
  { patternUses }: Pick<PreparedRestore, 'patternUses'>,
): void {
  const { colors } = terminal
  if (patterns.length > 0) {
    terminal.print('Index patterns, which must exist because no export includes them:')
    printList(terminal, patterns, (pattern) => {
      const { from, to, by, isMapped, neededBy } = pattern
      const change = from === to ? `${to} stays` : `${from} → ${to}`
      const uses = patternUses.count(pattern)
      const other = plural(uses, 'other object')
      const proof =
        uses > 0
          ? `used by ${other} of the account`
          : 'not proven: no other object of the account uses it'
      const notes = [
        `as ${by} for ${plural(neededBy.length, 'object')}`,
        ...(isMapped ? [] : ['not in the map']),
      ]
      return `  ${change}  ${colors.dim(`${notes.join(', ')}; ${proof}`)}`
    })
  }
  if (ownTexts.length === 0) return
  terminal.print('Objects that name indexes in text of their own, which stays as it is:')
  printList(terminal, ownTexts, (id) => `  ${id}`)
}

/** The lines that describe the changes by overwriting. */
async function describeChanges(
  terminal: Terminal,
  overwrites: AsyncIterable<Overwrite>,
): Promise<Map<PlannedObject, string[]>> {
  const { colors } = terminal
  const columns = roomBeside(terminal, INDENT)
  const changes = new Map<PlannedObject, string[]>()
  for await (const { planned, diff } of overwrites) {
    const lines = formatDifferences(diff, { colors, limit: MAX_DIFFERENCES, columns })
    changes.set(
      planned,
      lines.map((line) => INDENT + fitText(terminal, line, INDENT)),
    )
  }
  return changes
}

/** Prints the result. */
export function printOutcome(terminal: Terminal, outcome: Outcome): void {
  const { colors } = terminal
  const { before, applied } = outcome
  const { plan, restoring } = outcome.prepared
  const total = objectsToSend(plan).length
  if (applied === undefined) {
    terminal.print(total === 0 ? nothingToSend(plan) : 'Nothing was sent')
    return
  }
  if (before !== undefined)
    terminal.print(`Snapshot ${before} holds the objects from before the restore`)
  printEnds(terminal, applied, total)
  const { notSent, failed, ignored } = applied
  const isDone = exitCodeOfRestore(plan, applied) === exitCodes.done
  if (failed.length > 0) {
    terminal.print(`The service reports ${plural(failed.length, 'object')} as failed:`)
    printList(terminal, failed, (name) => `  ${colors.red('!')} ${name}`)
  }
  if (!isDone && ignored.length > 0) {
    const objects = plural(ignored.length, 'object')
    terminal.print(`The service ignored ${objects}, because it already has an object with this id:`)
    printList(terminal, ignored, (name) => `  ${colors.yellow('!')} ${name}`)
  }
  for (const error of errorsOfRestore(applied)) {
    terminal.print(`${colors.red('failed')} ${error.message}`)
    printHint(terminal, error)
  }
  if (notSent > 0) terminal.print(`${plural(notSent, 'object')} not sent`)
  if (isDone && !terminal.signal.aborted) return
  // `latest` may now be the snapshot that was taken before the restore.
  const snapshot = restoring.manifest?.snapshot
  const naming = snapshot === undefined ? '' : ` and snapshot ${snapshot}`
  terminal.print(`To finish, run the command again with the same options${naming}`)
}

function nothingToSend({ objects }: RestorePlan): string {
  const left = objects.filter(({ action }) => action === 'leave').length
  if (left === 0) return 'Nothing to send'
  return `Nothing to send; --overwrite would replace ${plural(left, 'object')}`
}

function printEnds(
  terminal: Terminal,
  { outcomes, unchecked, notSent }: AppliedRestore,
  total: number,
): void {
  const { colors } = terminal
  if (outcomes === undefined) {
    const reason = unchecked ? `: ${unchecked.message}` : ''
    terminal.print(
      `${colors.yellow('sent')} ${total - notSent} of ${plural(total, 'object')}; the result was not checked${reason}`,
    )
    return
  }
  const lost = [...outcomes].filter(([, ended]) => ended !== 'restored')
  const color = lost.length === 0 ? colors.green : colors.yellow
  terminal.print(
    `${color('restored')} ${total - lost.length} of ${plural(total, 'object')}, confirmed by a fresh export`,
  )
  printList(terminal, lost, ([{ entry }, ended]) => {
    const state = ended === 'absent' ? 'is missing' : 'is different'
    return `  ${colors.red('!')} ${entry.id} ${state}`
  })
}

/** Stable members for programs; docs/json-output.md documents them. */
export function toJson(outcome: Outcome): JsonDocument {
  const { patches, agreed, before, applied } = outcome
  const { restoring, into, plan, patternUses } = outcome.prepared
  const { account, address, config } = into
  const byAction = (action: RestoreAction) =>
    plan.objects
      .filter((planned) => planned.action === action)
      .map((planned) => ({ ...describe(planned), patch: patches?.get(planned) }))
  return {
    source: sourceToJson(restoring),
    target: { name: config.name, ...account, address },
    create: byAction('create'),
    overwrite: byAction('overwrite'),
    leave: byAction('leave'),
    same: byAction('same').length,
    ...needsToJson(restoring.selection, plan.missing),
    promoted: restoring.promoted && {
      patterns: restoring.promoted.patterns.map((pattern) => ({
        ...pattern,
        usedByOthers: patternUses.count(pattern),
      })),
      ownTexts: restoring.promoted.ownTexts,
    },
    done: agreed,
    before,
    result: applied && resultToJson(applied),
  }
}

function describe({ entry: { id, title, from } }: PlannedObject) {
  return { id, title, from: from && { ...from } }
}

function resultToJson(applied: AppliedRestore) {
  const { outcomes, failed, ignored, notSent, unchecked, batches } = applied
  const idsOf = (wanted: string) =>
    outcomes && [...outcomes].flatMap(([{ entry }, ended]) => (ended === wanted ? entry.id : []))
  return {
    restored: idsOf('restored')?.length,
    differs: idsOf('differs'),
    absent: idsOf('absent'),
    failed,
    ignored,
    notSent,
    requests: batches.map(({ error, ...batch }) => ({ ...batch, error: error?.message })),
    errors: errorsOfRestore(applied).map(({ message }) => message),
    unchecked: unchecked?.message,
  }
}
