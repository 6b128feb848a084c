import { type NotificationConfig, runEvents } from '../../config/notifications.ts'
import type { Shard } from '../../config/shard.ts'
import type { RunOutcome } from '../outcome.ts'
import { type AccountEvents, type Announcement, announcementOf } from './events.ts'
import { composeLines, composeText } from './message.ts'

/** One message, ready to be sent. */
export interface OutgoingMessage {
  /** Added to the path of the address. */
  readonly suffix: string
  readonly contentType: string
  readonly body: string
}

/** Why a receiver is not notified. */
export interface Skipped {
  readonly level: 'info' | 'warn'
  readonly reason: string
}

/** What one configured receiver is sent, and where. */
export interface Receiver {
  /** The message when a run starts; undefined when there is none. */
  readonly atStart?: OutgoingMessage | Skipped | undefined
  /** The message when a run ends; undefined when there is none. Expects clean text. */
  atEnd(run: RunOutcome): OutgoingMessage | undefined
  /** The address that this run posts to. `configured` as it is when undefined. */
  readonly chooseAddress?: (configured: string) => string | Skipped
}

/** The run that receivers are notified of. */
export interface NotifiedRun {
  /** Number of accounts. */
  readonly accounts: number
  /** Whether `--account` leaves out some accounts. */
  readonly isPartial: boolean
  /** Which part of the accounts; all of them when undefined. */
  readonly shard?: Shard | undefined
  /** The run's log so far, for the body of a ping. */
  readonly logTail: () => string
}

/**
 * Creates the receiver of a configured notification. A new kind needs a case here, an entry in the
 * configuration schema, and documentation.
 */
export function createReceiver(config: NotificationConfig, run: NotifiedRun): Receiver {
  switch (config.kind) {
    case 'webhook':
      return announceTo(config.on, composeJson)
    case 'slack':
      return announceTo(config.on, (announcement) => ({ text: composeMarkup(announcement) }))
    case 'ping':
      return createPing(config, run)
  }
}

/** A receiver of JSON about the events of a run. */
function announceTo(
  events: AnnouncementConfig['on'],
  compose: (announcement: Announcement) => object,
): Receiver {
  return {
    atEnd(run) {
      const announcement = announcementOf(run, events)
      if (announcement === undefined) return undefined
      const body = JSON.stringify(compose(announcement))
      return { suffix: '', contentType: 'application/json', body }
    },
  }
}

/** Accounts in the JSON of a webhook. */
const MAX_LISTED = 100

/** JSON that a generic webhook receives. Its members are stable; docs/worker.md documents them. */
export function composeJson(announcement: Announcement): object {
  const { run, events, accounts } = announcement
  return {
    text: composeText(announcement),
    run: run.run,
    events,
    startedAt: run.startedAt.toISOString(),
    endedAt: run.endedAt.toISOString(),
    exitStatus: run.exitCode,
    error: run.error?.message,
    hint: run.error?.hint,
    accounts: accounts.slice(0, MAX_LISTED).map(accountToJson),
    omittedAccounts: Math.max(0, accounts.length - MAX_LISTED),
  }
}

function accountToJson({ outcome, events }: AccountEvents): object {
  const { account, accountId, result, taken, reasons, hint, lastGood, badSince } = outcome
  return {
    name: account,
    accountId,
    events,
    result,
    snapshot: taken?.snapshot,
    objects: taken?.objects,
    changes: taken?.changes,
    reasons,
    hint,
    lastGood: lastGood && {
      snapshot: lastGood.snapshot,
      takenAt: lastGood.takenAt.toISOString(),
    },
    badSince: badSince?.toISOString(),
  }
}

/**
 * Text for Slack and for receivers of its messages, such as Mattermost. Everything below the
 * headline is a code block, in which they interpret no links, mentions or bold text.
 */
function composeMarkup(announcement: Announcement): string {
  const [headline, ...lines] = composeLines(announcement)
  const code = lines.join('\n').replaceAll(/`{2,}/g, (run) => "'".repeat(run.length))
  const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `${headline}\n\`\`\`\n${escaped}\n\`\`\``
}

/** A configured receiver of pings, such as a monitor of scheduled jobs. */
export type PingConfig = Extract<NotificationConfig, { kind: 'ping' }>
type AnnouncementConfig = Exclude<NotificationConfig, PingConfig>

/** Bytes of log that a ping carries. */
const MAX_LOG_BYTES = 10_000

/** A run over no account, or over some of them, pings only a failure. */
function createPing(config: PingConfig, run: NotifiedRun): Receiver {
  const { shard, logTail } = run
  const silence = whySilent(run)
  const start: OutgoingMessage = { suffix: '/start', contentType: 'text/plain', body: '' }
  return {
    atStart: silence === undefined ? start : { level: 'info', reason: silence },
    atEnd(run) {
      if (silence !== undefined && run.exitCode === 0) return undefined
      const announcement = announcementOf(run, runEvents)
      const text = announcement ? composeText(announcement) : 'dashkeep: no account to back up'
      return composePing({ exitCode: run.exitCode, text }, { config, logTail })
    },
    chooseAddress: (configured) => pingAddress(configured, shard),
  }
}

/** Why a run does not ping its start and its success; undefined when it does. */
function whySilent({ accounts, isPartial }: NotifiedRun): string | undefined {
  if (accounts === 0) return 'there is no account to back up'
  if (isPartial) return '--account leaves out accounts, and a success would hide their failures'
  return undefined
}

/** The content of a ping: the result of a run, or of `status` for the whole archive. */
export interface Judgement {
  readonly exitCode: number
  /** Clean text. */
  readonly text: string
}

/** The ping of a judgement: its text and the end of the log. */
export function composePing(
  { exitCode, text }: Judgement,
  { config, logTail }: { config: PingConfig; logTail: () => string },
): OutgoingMessage {
  const failure = config.exitStatus ? `/${exitCode}` : '/fail'
  return {
    suffix: exitCode === 0 ? '' : failure,
    contentType: 'text/plain; charset=utf-8',
    body: `${text}\n\n${logTail().slice(-MAX_LOG_BYTES)}`,
  }
}

/** Placeholder for the index of the shard in the address of a ping. */
const placeholder = '{shard}'

/**
 * The address that a run pings. An address with `{shard}` is for runs of one shard. Any other
 * address is for runs over all shards: if shards shared it, a good one would hide a failed one.
 */
export function pingAddress(configured: string, shard: Shard | undefined): string | Skipped {
  if (isForShards(configured)) {
    if (shard) return configured.replaceAll(placeholder, String(shard.index))
    return { level: 'warn', reason: 'its address has {shard}, and this run is not for one shard' }
  }
  if (shard === undefined || shard.count === 1) return configured
  const reason = 'its address has no {shard}: a good shard would hide a failed one'
  return { level: 'info', reason }
}

/** Whether each shard has an address of its own. */
export function isForShards(address: string): boolean {
  return address.includes(placeholder)
}
