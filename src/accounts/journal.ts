import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { describeFileError, openFresh, readSmallFile } from '../local-files.ts'
import { type MovePlan, withTotals } from './move-plan.ts'

/** What has to be known of a move to finish it after the process was killed. */
export interface MoveRecord {
  readonly formatVersion: 1
  readonly mainAccountId: number
  readonly plan: MovePlan
  /** Steps of the plan, from the first, that may have been sent. */
  readonly begun: number
}

/** The record of the one move under way, in a file. */
export interface MoveJournal {
  readonly path: string
  /** Begins the record. Throws when the file is there: a move is under way, or was left unfinished. */
  begin(record: MoveRecord): Promise<void>
  /** Puts a newer record in the place of the old one: at every instant one of the two is there. */
  write(record: MoveRecord): Promise<void>
  /** Takes the record away. Succeeds when it is already gone. */
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

/** Only the user that runs dashkeep may read the accounts and their plans. */
const fileMode = 0o600

/** Room for moves between 50,000 accounts. */
const MAX_JOURNAL_BYTES = 16 * 1024 ** 2

/** A journal at this path. Nothing is written before the first call. */
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
 * Reads the record of a move; undefined when there is none. What the accounts take together is
 * added up anew: a file may say anything.
 */
export async function readMoveRecord(path: string): Promise<MoveRecord | undefined> {
  const reading = readSmallFile(path, { maxBytes: MAX_JOURNAL_BYTES })
  const text = await reading.catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new DashkeepError(`Cannot read the journal ${path}: ${describeFileError(cause)}`, {
      kind: 'usage',
      hint: 'give --journal the file that the move has begun',
      cause,
    })
  })
  if (text === undefined) return undefined
  const result = recordSchema.safeParse(parsed(text))
  if (result.success) return withSafeTotals(result.data, path)
  // Only its beginning can be incomplete: later records take the place of whole ones.
  throw new DashkeepError(`Cannot use the journal ${path}: it is incomplete or of another kind`, {
    kind: 'usage',
    hint: 'a move that was killed while it began its journal has sent nothing: remove the file then',
  })
}

function withSafeTotals(record: MoveRecord, path: string): MoveRecord {
  const plan = withTotals(record.plan.steps)
  if (plan.endGb <= plan.startGb) return { ...record, plan }
  throw new DashkeepError(
    `Cannot use the journal ${path}: its accounts would take ${plan.endGb} GB per day together instead of ${plan.startGb}`,
    {
      kind: 'usage',
      hint: 'no move records this: look at the file, remove it, and begin a new move',
    },
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of a move whose journal already exists. */
export function moveUnderWay(path: string, cause?: unknown): DashkeepError {
  return new DashkeepError(
    `Cannot move capacity: ${path} is the journal of a move that is under way or was not finished`,
    {
      hint: 'if no other move is running, finish that one with --resume, or give it up with --discard',
      cause,
    },
  )
}

function explainAs(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === 'EEXIST') throw moveUnderWay(path, error)
    throw new DashkeepError(`Cannot write the journal ${path}: ${describeFileError(error)}`, {
      hint: 'give --journal a file in a folder that this user may write to',
      cause: error,
    })
  }
}
