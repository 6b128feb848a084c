import { openArchive } from '../app.ts'
import type { AccountConfig } from '../config.ts'
import { parseDuration } from '../duration.ts'
import { type AccountStatus, readStatus } from '../snapshot/status.ts'
import { createContext, parseAccountId } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommonOptions } from './program.ts'
import { formatAge, formatBytes, formatTable, plural, type Terminal } from './terminal.ts'

type State = 'good' | 'stale' | 'suspect' | 'damaged' | 'missing'

/** One account as people and programs are told of it. */
interface Line {
  readonly state: State
  readonly accountId: number | undefined
  readonly name: string | undefined
  readonly status: AccountStatus | undefined
}

/** `dashkeep status`: fit for a monitoring check by its exit code and its JSON alike. */
export async function status(
  terminal: Terminal,
  options: CommonOptions & { account?: string; maxAge?: string },
): Promise<number> {
  const accountId = parseAccountId(options.account)
  const maxAgeMs = options.maxAge === undefined ? undefined : parseDuration(options.maxAge)
  const { config } = await createContext(terminal, options, ['store'])
  const store = await openArchive(config)
  const now = terminal.now()
  try {
    const lines: Line[] = []
    for await (const found of readStatus(store, { accountId, signal: terminal.signal })) {
      const { accountName: name } = found
      const state = stateOf(found, { now, maxAgeMs })
      lines.push({ state, accountId: found.accountId, name, status: found })
    }
    if (accountId === undefined) lines.push(...missingAccounts(config.accounts, lines))
    else if (lines.length === 0) {
      lines.push({ state: 'missing', accountId, name: undefined, status: undefined })
    }
    if (terminal.json) terminal.printJson({ accounts: lines.map((line) => toJson(line, now)) })
    else printStatus(terminal, lines, { now, url: store.url })
    return exitCodeFor(lines)
  } finally {
    await store.close()
  }
}

function stateOf(
  { newestGood, suspects, problems }: AccountStatus,
  { now, maxAgeMs }: { now: Date; maxAgeMs: number | undefined },
): State {
  if (newestGood === undefined) return problems.length > 0 ? 'damaged' : 'suspect'
  const age = now.getTime() - new Date(newestGood.takenAt).getTime()
  if (maxAgeMs !== undefined && age > maxAgeMs) return 'stale'
  if (problems.length > 0) return 'damaged'
  return suspects.length > 0 ? 'suspect' : 'good'
}

/** Configured accounts of which the archive holds nothing, as far as their ids are known. */
function missingAccounts(accounts: readonly AccountConfig[], lines: readonly Line[]): Line[] {
  const present = new Set(lines.map(({ accountId }) => accountId))
  return accounts
    .filter(({ accountId }) => accountId !== undefined && !present.has(accountId))
    .map(({ accountId, name }) => ({ state: 'missing', accountId, name, status: undefined }))
}

/** Stale weighs most, since it is what a monitoring check asks for. */
function exitCodeFor(lines: readonly Line[]): number {
  if (lines.some(({ state }) => state === 'stale')) return exitCodes.stale
  if (lines.length === 0 || lines.some(({ state }) => state !== 'good')) return exitCodes.partly
  return exitCodes.done
}

/** Stable members for programs; documented in the README. */
function toJson({ state, accountId, name, status }: Line, now: Date): object {
  const good = status?.newestGood
  const takenAt = good && new Date(good.takenAt)
  return {
    accountId,
    name,
    state,
    snapshot: good?.snapshot,
    takenAt: good?.takenAt,
    ageSeconds: takenAt && Math.round((now.getTime() - takenAt.getTime()) / 1000),
    objects: good && objectsOf(good),
    snapshots: status?.snapshots ?? 0,
    bytes: status?.bytes ?? 0,
    suspects: status?.suspects ?? [],
    problems: status?.problems ?? [],
  }
}

function objectsOf({ exports }: NonNullable<AccountStatus['newestGood']>): number {
  return exports.reduce((sum, { objects }) => sum + objects, 0)
}

function printStatus(
  terminal: Terminal,
  lines: readonly Line[],
  { now, url }: { now: Date; url: string },
): void {
  const { colors } = terminal
  const rows = lines.map(({ state, accountId, name = '', status }) => {
    const good = status?.newestGood
    return [
      String(accountId),
      name,
      state === 'good' ? colors.green(state) : colors.red(state),
      good?.snapshot ?? '',
      good ? formatAge(new Date(good.takenAt), now) : '',
      good ? String(objectsOf(good)) : '',
      String(status?.snapshots ?? 0),
      formatBytes(status?.bytes ?? 0),
    ]
  })
  const header = ['ACCOUNT', 'NAME', 'STATE', 'NEWEST GOOD', 'AGE', 'OBJECTS', 'SNAPSHOTS', 'SIZE']
  if (rows.length > 0) terminal.print(formatTable(header, rows, { colors, right: [0, 5, 6, 7] }))
  for (const { accountId, status } of lines) {
    for (const { snapshot, reasons } of status?.suspects ?? []) {
      terminal.print(`${colors.yellow('suspect')} ${accountId}/${snapshot}: ${reasons.join('; ')}`)
    }
    for (const problem of status?.problems ?? [])
      terminal.print(`${colors.red('damaged')} ${problem}`)
  }
  if (rows.length > 0) terminal.print()
  terminal.print(`${plural(lines.length, 'account')} in ${url}`)
}
