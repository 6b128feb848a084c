import { cleanLine } from '../../clean-text.ts'
import { readSecret } from '../../config/secrets.ts'
import { DashkeepError, hintOf } from '../../errors.ts'
import { describeGap } from '../../proofs/describe.ts'
import { exitCodeOf } from '../../run/exit-codes.ts'
import { pingJudgement, pingsOfAllShards } from '../../run/notify/notifier.ts'
import { formatAge, formatTime, plural } from '../../wording.ts'
import type { Context } from '../context.ts'
import { type Line, unknownOwner } from '../print/status-line.ts'
import type { Terminal } from '../terminal.ts'

/** Accounts that the body of a ping lists. */
const MAX_TOLD = 20

/** Maximum length of a line in the body of a ping. */
const MAX_LINE = 1000

/** The result of `status`. */
export interface Found {
  readonly lines: readonly Line[]
  /** Why the sub accounts could not be listed. */
  readonly unlisted: Error | undefined
  readonly exitCode: number
}

/**
 * Pings the result of `judge`, or its failure, and returns the exit code of the result. Throws a
 * `usage` error when no address is configured, and every error of `judge`.
 */
export async function pingFound(
  terminal: Terminal,
  context: Context,
  judge: () => Promise<Found>,
): Promise<number> {
  const { env, signal, now } = terminal
  const { config, log, tail } = context
  const readAddress = (source: Parameters<typeof readSecret>[0]) =>
    readSecret(source, env, 'address')
  const receivers = await pingsOfAllShards(config.notifications, readAddress)
  if (receivers.length === 0) throw noAddress(context)
  const ping = async (exitCode: number, lines: readonly string[]) => {
    const ending = `status of ${formatTime(now())} UTC, exit status ${exitCode}`
    const text = [...lines, ending].map((line) => cleanLine(line, MAX_LINE)).join('\n')
    const { findProxy } = config
    const options = { readAddress, logTail: tail.text, log, findProxy, signal, onFailure() {} }
    await pingJudgement(receivers, { exitCode, text }, options)
  }
  try {
    const found = await judge()
    await ping(found.exitCode, describeFound(found, now()))
    return found.exitCode
  } catch (error) {
    // A stopped run has judged nothing; the next run sends the ping.
    if (!signal.aborted) await ping(exitCodeOf(error), describeFailure(error as Error))
    throw error
  }
}

function noAddress({ config }: Context): DashkeepError {
  const isNamed = config.notifications.some(({ kind }) => kind === 'ping')
  const state = isNamed ? 'every ping address contains {shard}' : 'no ping address is configured'
  return new DashkeepError(`Cannot ping: ${state}`, {
    kind: 'usage',
    hint: 'add an address without {shard} to notifications, with kind: ping, or set DASHKEEP_PING_URL',
  })
}

function describeFound({ lines, unlisted }: Found, now: Date): string[] {
  const bad = lines.filter(({ state }) => state !== 'good')
  const hidden = bad.length - MAX_TOLD
  return [
    headline(lines.length, bad.length),
    ...bad.slice(0, MAX_TOLD).map((line) => describeLine(line, now)),
    ...(hidden > 0 ? [`… and ${plural(hidden, 'more account')}`] : []),
    ...(unlisted ? [`unknown sub accounts: ${unlisted.message}`] : []),
  ]
}

function headline(all: number, bad: number): string {
  if (all === 0) return 'dashkeep: the archive holds no account'
  if (bad > 0) return `dashkeep: of ${plural(all, 'account')} ${bad} not good`
  return `dashkeep: ${plural(all, 'account')} good`
}

/** `stale shop: newest good snapshot 20261118T031500Z-09b1d3 of 2026-11-18 03:15:00 UTC (2 days ago)` */
function describeLine(line: Line, now: Date): string {
  const { state, accountId, name, configuredAs, status, proofs } = line
  const who = configuredAs ?? name ?? accountId
  if (status === undefined) {
    return `${state} ${who}: ${accountId === undefined ? unknownOwner : 'the archive holds no snapshot'}`
  }
  const { suspects, problems, fromFuture, newestGood, newestGoodAt } = status
  const reasons = [
    ...(suspects[0]?.reasons ?? []),
    ...problems,
    ...fromFuture.map((snapshot) => `${snapshot} is from the future`),
    ...(proofs?.gap ? [describeGap(proofs.judgement, proofs.gap, now)] : []),
  ]
  const good = newestGoodAt
    ? `newest good snapshot ${newestGood?.snapshot} of ${formatTime(newestGoodAt)} UTC (${formatAge(newestGoodAt, now)})`
    : 'no good snapshot'
  return `${state} ${who}: ${[...reasons, good].join('; ')}`
}

function describeFailure(error: Error): string[] {
  const hint = hintOf(error)
  const toDo = hint === undefined ? [] : [`  to do: ${hint}`]
  return ['dashkeep: the archive cannot be judged', error.message, ...toDo]
}
