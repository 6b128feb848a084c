import { type Candidate, findById, findOne } from '../../archive/find.ts'
import { type HistoryEvent, readHistory } from '../../archive/history.ts'
import type { SearchOptions } from '../../archive/stored-export.ts'
import type { Timeline } from '../../archive/timeline.ts'
import { OpenError } from '../../datafile/encryption.ts'
import { DashkeepError } from '../../errors.ts'
import { diffHits, type ObjectDiff } from '../../objects/diff-objects.ts'
import { stringifyLossless } from '../../objects/lossless-json.ts'
import { createObjectQuery } from '../../objects/match-object.ts'
import { splitId } from '../../objects/object-id.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatAge, formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { formatDifferences, summarizeDifferences } from '../print/format-diff.ts'
import { fitText, roomBeside } from '../print/table.ts'
import { describeUnread } from '../print/unread-files.ts'
import { openReader, readWatchedTimeline } from '../select/archive-reader.ts'
import type { Terminal } from '../terminal.ts'

interface HistoryVerbOptions extends CommonOptions {
  readonly object: string
  readonly account?: string
  readonly patch?: boolean
}

/** An event of the object, and the differences between its versions. */
interface Step {
  readonly event: HistoryEvent
  readonly diff: ObjectDiff | undefined
}

/** Indentation of an event's details. */
const INDENT = '    '

/** The object whose history is read. */
type TargetObject = Pick<Candidate, 'type' | 'id' | 'title'>

/** `dashkeep history`: lists every version of one object, oldest first. */
export async function history(terminal: Terminal, options: HistoryVerbOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  await using reader = await openReader(terminal, context, options.account)
  const timeline = await readWatchedTimeline(terminal, reader)
  const problems = new Set(timeline.unreadable.map(({ message }) => message))
  terminal.progress.begin('looking for the object', { unit: 'file', counting: 'read' })
  const read = { ...reader.read, onUnreadable: ({ message }: Error) => void problems.add(message) }
  const logProblems = () => {
    for (const problem of problems) context.log.error(problem)
  }
  const object = await findObject(timeline, options.object, { read, problems }).catch((error) => {
    // With a wrong key, every file is a problem. The error says so once.
    if (!(error instanceof OpenError)) logProblems()
    throw error
  })
  const total = object && timeline.stretches(object.type).length
  terminal.progress.begin('following the object', { unit: 'file', total, counting: 'read' })
  const steps = readSteps(timeline, object, read)
  if (terminal.json) await printJson(terminal, steps, { object, timeline, problems })
  else if (object) {
    const { patch = false } = options
    const { last, versions } = await printSteps(terminal, steps, { object, patch })
    const conclusion = conclude(terminal, object, { last, versions, timeline })
    terminal.print(conclusion + describeUnread(terminal, problems.size))
  }
  logProblems()
  return problems.size > 0 ? exitCodes.partly : exitCodes.done
}

/**
 * Finds the object. An id needs the files of one type; any other text needs all files. Returns
 * undefined, and adds to `problems`, when only damaged files may hold the object.
 */
async function findObject(
  timeline: Timeline,
  text: string,
  { read, problems }: { read: SearchOptions; problems: Set<string> },
): Promise<TargetObject | undefined> {
  const { type = '' } = splitId(text) ?? {}
  const exports = timeline.types.flatMap((one) => timeline.stretches(one))
  const known = problems.size
  const found = await findById(timeline.stretches(type), text, read)
  if (found !== undefined) return found
  if (problems.size > known) return { type, id: text, title: undefined }
  try {
    const unreadBefore = timeline.unreadable.length
    return await findOne(exports, createObjectQuery(text), { ...read, unreadBefore })
  } catch (error) {
    if (!(error instanceof DashkeepError) || error.kind !== 'unverified') throw error
    problems.add(error.message)
    return undefined
  }
}

async function* readSteps(
  timeline: Timeline,
  object: TargetObject | undefined,
  read: SearchOptions,
): AsyncGenerator<Step> {
  if (object === undefined) return
  const { id, type } = object
  for await (const event of readHistory(timeline, { id, type }, read)) {
    const { kind, before, after } = event
    const differs = kind !== 'disappeared' && before !== undefined && after !== undefined
    yield { event, diff: differs ? diffHits(before.bytes, after.bytes, type) : undefined }
  }
}

/** Stable members for programs; docs/json-output.md documents them. */
async function printJson(
  terminal: Terminal,
  steps: AsyncIterable<Step>,
  {
    object,
    timeline,
    problems,
  }: { object: TargetObject | undefined; timeline: Timeline; problems: ReadonlySet<string> },
): Promise<void> {
  const all = await Array.fromAsync(steps)
  const events = all.map(({ event, diff }) => ({
    event: event.kind,
    snapshot: event.snapshot,
    takenAt: event.takenAt.toISOString(),
    suspect: event.suspect,
    title: (event.after ?? event.before)?.title,
    patch: diff?.patch,
    problem: event.problem,
  }))
  const { id, type } = object ?? {}
  const { snapshots } = timeline
  terminal.printJson({ id, type, snapshots, events, problems: [...problems] }, stringifyLossless)
}

async function printSteps(
  terminal: Terminal,
  steps: AsyncIterable<Step>,
  { object, patch }: { object: TargetObject; patch: boolean },
): Promise<{ last: HistoryEvent | undefined; versions: number }> {
  const { colors } = terminal
  const title = fitText(terminal, object.title ?? '', `${object.id}  `)
  terminal.print(`${colors.bold(object.id)}  ${title}`)
  terminal.print()
  const columns = roomBeside(terminal, INDENT)
  let versions = 0
  let last: HistoryEvent | undefined
  for await (const { event, diff } of steps) {
    const suspect = event.suspect ? colors.yellow('  (suspect snapshot)') : ''
    const when = `${formatTime(event.takenAt)}  ${event.snapshot}`
    terminal.print(`${when}  ${paintKind(event, terminal)}${suspect}`)
    const details = patch && diff ? formatDifferences(diff, { colors, columns }) : []
    const summary = patch && diff ? undefined : summarize({ event, diff })
    if (summary !== undefined) details.push(summary)
    for (const line of details) terminal.print(INDENT + fitText(terminal, line, INDENT))
    if (event.kind !== 'unreadable') last = event
    if (!['unreadable', 'disappeared'].includes(event.kind)) versions += 1
  }
  terminal.print()
  return { last, versions }
}

function paintKind({ kind }: HistoryEvent, { colors }: Terminal): string {
  const paints = {
    appeared: colors.green,
    returned: colors.green,
    changed: colors.yellow,
    renamed: colors.yellow,
    disappeared: colors.red,
    unreadable: colors.red,
  }
  return paints[kind](kind)
}

function summarize({ event, diff }: Step): string | undefined {
  if (event.problem !== undefined) return event.problem
  if (event.kind === 'appeared') return `as ${JSON.stringify(event.after?.title ?? '')}`
  if (diff === undefined) return undefined
  if (event.kind === 'returned' && diff.patch.length === 0) return 'as it was'
  return summarizeDifferences(diff)
}

/** The last line: the number of versions and, for a deleted object, the last snapshot that holds it. */
function conclude(
  { now, colors }: Terminal,
  { id }: TargetObject,
  facts: { last: HistoryEvent | undefined; versions: number; timeline: Timeline },
): string {
  const { last, versions, timeline } = facts
  const counts = `${plural(versions, 'version')} in ${plural(timeline.snapshots, 'snapshot')}`
  if (last?.kind !== 'disappeared') return counts
  const type = splitId(id)?.type ?? ''
  const holder = timeline.stretches(type).findLast((stretch) => stretch.last < last.snapshot)?.last
  const gone = colors.red(`disappeared ${formatAge(last.takenAt, now())}`)
  return `${counts}; ${gone}, last in ${holder ?? 'an earlier snapshot'}`
}
