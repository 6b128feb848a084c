import { cleanStrings } from '../../clean-text.ts'
import { type NotificationConfig, runEvents } from '../../config/config.ts'
import type { Shard } from '../../config/shard.ts'
import { hintOf } from '../../errors.ts'
import type { FindProxy } from '../../http/proxy.ts'
import type { Logger } from '../../log.ts'
import type { RunOutcome } from '../outcome.ts'
import { post } from '../post.ts'
import { announcementOf } from './events.ts'
import { composeJson, composeMarkup, composeText } from './message.ts'
import { isForShards, pingAddress } from './ping-address.ts'

/** Bytes of log that a ping carries. */
const MAX_LOG_BYTES = 10_000

/** Tells everybody configured how a run goes. Never throws: what could not be told is logged. */
export interface Notifier {
  started(): Promise<void>
  ended(run: RunOutcome): Promise<void>
}

export interface NotifierOptions {
  /** Reads an address anew. */
  readonly readAddress: (source: NotificationConfig['url']) => Promise<string>
  /** What the run has logged, for the body of a ping. */
  readonly logTail: () => string
  readonly log: Logger
  readonly findProxy: FindProxy
  readonly onFailure: (kind: NotificationConfig['kind']) => void
  readonly retryBaseMs?: number | undefined
  /** Ends what is being sent. */
  readonly signal?: AbortSignal | undefined
  /** Which part of the accounts the run is over; all of them when undefined. */
  readonly shard?: Shard | undefined
}

/**
 * Makes the notifier of one run. A second event is told only once the first is through. A run over
 * no account pings nothing but a failure.
 */
export function createNotifier(
  receivers: readonly NotificationConfig[],
  options: NotifierOptions & { accounts: number },
): Notifier {
  const isEmpty = options.accounts === 0
  const queues = receivers.map((receiver) => createQueue(receiver, options))
  const tellAll = async (
    compose: (receiver: NotificationConfig) => OutgoingMessage | undefined,
  ) => {
    await Promise.all(
      queues.map(async ({ receiver, send }) => {
        const message = compose(receiver)
        if (message !== undefined) await send(message)
      }),
    )
  }
  return {
    async started() {
      if (!isEmpty) return tellAll(({ kind }) => (kind === 'ping' ? startPing : undefined))
      const isHeard = receivers.some(({ kind }) => kind === 'ping')
      if (isHeard) options.log.info('ping left out: there is no account to back up')
    },
    ended(outcome) {
      // Here, so that no receiver is told anything but clean text.
      const run = cleanStrings(outcome)
      return tellAll((receiver) => {
        if (receiver.kind !== 'ping') return composeAnnouncement(receiver, run)
        const isUntold = isEmpty && run.exitCode === 0
        return isUntold ? undefined : composePing(judge(run), options.logTail(), receiver)
      })
    },
  }
}

/** What a ping says of a run, or `status` of the whole archive. */
export interface Judgement {
  readonly exitCode: number
  /** Clean text. */
  readonly text: string
}

/**
 * Finds the pings whose address is not for single shards. One whose address cannot be read counts:
 * sending it says why.
 */
export async function pingsOfAllShards(
  receivers: readonly NotificationConfig[],
  readAddress: NotifierOptions['readAddress'],
): Promise<PingConfig[]> {
  const pings = receivers.filter((receiver) => receiver.kind === 'ping')
  const addresses = await Promise.all(
    pings.map(({ url }) => readAddress(url).catch(() => undefined)),
  )
  return pings.filter((_ping, place) => !isForShards(addresses[place] ?? ''))
}

/** Pings a judgement. Never throws: what could not be told is logged. */
export async function pingJudgement(
  pings: readonly PingConfig[],
  judgement: Judgement,
  options: NotifierOptions,
): Promise<void> {
  const send = (ping: PingConfig) =>
    createQueue(ping, options).send(composePing(judgement, options.logTail(), ping))
  await Promise.all(pings.map(send))
}

export type PingConfig = Extract<NotificationConfig, { kind: 'ping' }>
type AnnouncementConfig = Exclude<NotificationConfig, PingConfig>

/** One message, ready to be sent. */
interface OutgoingMessage {
  /** Goes behind the path of the address. */
  readonly suffix: string
  readonly contentType: string
  readonly body: string
}

const startPing: OutgoingMessage = { suffix: '/start', contentType: 'text/plain', body: '' }

function createQueue(receiver: NotificationConfig, options: NotifierOptions) {
  const { readAddress, log, findProxy, onFailure, retryBaseMs, signal, shard } = options
  const { kind, url } = receiver
  let last = Promise.resolve()
  let isLeftOut = false
  const deliver = async ({ suffix, contentType, body }: OutgoingMessage) => {
    try {
      const configured = await readAddress(url)
      const address = kind === 'ping' ? pingAddress(configured, shard) : configured
      if (typeof address === 'string') {
        const target = withSuffix(address, suffix)
        await post(target, { body, contentType, findProxy, retryBaseMs, signal })
        log.debug({ kind }, 'notified')
      } else if (!isLeftOut) {
        isLeftOut = true
        log[address.level]({ kind }, `ping left out: ${address.reason}`)
      }
    } catch (error) {
      onFailure(kind)
      log.error(
        { kind, reason: (error as Error).message, hint: hintOf(error) },
        'notification failed',
      )
    }
  }
  const send = (message: OutgoingMessage) => {
    last = last.then(() => deliver(message))
    return last
  }
  return { receiver, send }
}

function withSuffix(address: string, suffix: string): string {
  const url = URL.parse(address)
  if (url === null || suffix === '') return address
  url.pathname = `${url.pathname.replace(/\/$/, '')}${suffix}`
  return url.href
}

function composeAnnouncement(
  receiver: AnnouncementConfig,
  run: RunOutcome,
): OutgoingMessage | undefined {
  const announcement = announcementOf(run, receiver.on)
  if (announcement === undefined) return undefined
  const content =
    receiver.kind === 'slack' ? { text: composeMarkup(announcement) } : composeJson(announcement)
  return { suffix: '', contentType: 'application/json', body: JSON.stringify(content) }
}

function judge(run: RunOutcome): Judgement {
  const announcement = announcementOf(run, runEvents)
  const text = announcement ? composeText(announcement) : 'dashkeep: no account to back up'
  return { exitCode: run.exitCode, text }
}

function composePing(
  { exitCode, text }: Judgement,
  log: string,
  { exitStatus }: PingConfig,
): OutgoingMessage {
  const failure = exitStatus ? `/${exitCode}` : '/fail'
  return {
    suffix: exitCode === 0 ? '' : failure,
    contentType: 'text/plain; charset=utf-8',
    body: `${text}\n\n${log.slice(-MAX_LOG_BYTES)}`,
  }
}
