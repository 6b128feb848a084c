import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { describeFileError, openFresh, readSmallFile } from '../local-files.ts'
import { tryParseJson } from '../parse-json.ts'
import { type MovePlan, withTotals } from './move-plan.ts'

/** The data of a move that is needed to finish it after the process was killed. */
export interface MoveRecord {
  readonly formatVersion: 1
  readonly mainAccountId: number
  readonly plan: MovePlan
  /** Number of steps, from the first, that may have been sent. */
  readonly begun: number
}

/** The file that records an unfinished move. */
export interface MoveJournal {
  readonly path: string
  /** Creates the file. Throws when it exists: another move is running or unfinished. */
  begin(record: MoveRecord): Promise<void>
  /** Replaces the record in one step, so that a complete record always exists. */
  write(record: MoveRecord): Promise<void>
  /** Deletes the file. Succeeds when it does not exist. */
  end(): Promise<void>
}

const gb = z.number().min(0)
const recordSchema: z.ZodType<MoveRecord> = z.object({
  formatVersion: z.literal(1),
  mainAccountId: z.int(),
  plan: z.object({
    steps: z.array(z.object({ accountId: z.int(), accountName: z.string(), fromGb: gb, toGb: gb })),
    startGb: gb,
    endGb: gb,
  }),
  begun: z.int().min(0),
})

/** Only the user that runs dashkeep may read the journal. */
const fileMode = 0o600

/** Enough for a move between 50,000 accounts. */
const MAX_JOURNAL_BYTES = 16 * 1024 ** 2

/** Creates a journal for this path. Writes nothing before the first call. */
export function createMoveJournal(path: string): MoveJournal {
  const put = async (opening: Promise<FileHandle>, record: MoveRecord) => {
    await using file = await opening
    await file.writeFile(`${JSON.stringify(record, undefined, 2)}\n`)
    await file.sync()
  }
  const unfinished = `${path}.part`
  return {
    path,
    begin: (record) => put(open(path, 'wx', fileMode), record).catch(explainAs(path)),
    async write(record) {
      await put(openFresh(unfinished, fileMode), record)
        .then(() => rename(unfinished, path))
        .catch(explainAs(path))
    },
    async end() {
      await rm(path, { force: true })
      await rm(unfinished, { force: true })
    },
  }
}

/**
 * Reads the record of a move; undefined when there is none. Computes the total capacities again, because
 * somebody may have edited the file.
 */
export async function readMoveRecord(path: string): Promise<MoveRecord | undefined> {
  const reading = readSmallFile(path, { maxBytes: MAX_JOURNAL_BYTES })
  const text = await reading.catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new DashkeepError(`Cannot read the journal ${path}: ${describeFileError(cause)}`, {
      kind: 'usage',
      hint: 'name the journal of the move with --journal',
      cause,
    })
  })
  if (text === undefined) return undefined
  const result = recordSchema.safeParse(tryParseJson(text))
  if (result.success) return withSafeTotals(result.data, path)
  // Only a first record can be incomplete. Later records replace a complete one.
  throw new DashkeepError(`Cannot use the journal ${path}: it is incomplete or not a journal`, {
    kind: 'usage',
    hint: 'if the move was killed while it created the journal, it has sent nothing: remove the file',
  })
}

function withSafeTotals(record: MoveRecord, path: string): MoveRecord {
  const plan = withTotals(record.plan.steps)
  if (plan.endGb <= plan.startGb) return { ...record, plan }
  throw new DashkeepError(
    `Cannot use the journal ${path}: its accounts would have ${plan.endGb} GB per day in total instead of ${plan.startGb}`,
    {
      kind: 'usage',
      hint: 'dashkeep never writes such a journal: look at the file, remove it, and start a new move',
    },
  )
}

/** The error of a move whose journal already exists. */
export function moveUnderWay(path: string, cause?: unknown): DashkeepError {
  return new DashkeepError(
    `Cannot move capacity: ${path} is the journal of a move that is running or unfinished`,
    {
      hint: 'if no other move is running, finish that move with --resume, or delete its journal with --discard',
      cause,
    },
  )
}

function explainAs(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === 'EEXIST') throw moveUnderWay(path, error)
    throw new DashkeepError(`Cannot write the journal ${path}: ${describeFileError(error)}`, {
      hint: 'use --journal with a file in a folder where this user may write',
      cause: error,
    })
  }
}
