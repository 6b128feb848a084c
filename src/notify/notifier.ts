import { cleanStrings } from '../clean-text.ts'
import { type NotificationConfig, runEvents } from '../config/config.ts'
import type { FindProxy } from '../http/proxy.ts'
import type { Logger } from '../log.ts'
import type { RunOutcome } from '../outcome.ts'
import { post } from '../post.ts'
import { newsOf } from './events.ts'
import { composeJson, composeMarkup, composeText } from './message.ts'

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
}

/** Makes the notifier of one run. A second event is told only once the first is through. */
export function createNotifier(
  receivers: readonly NotificationConfig[],
  options: NotifierOptions,
): Notifier {
  const queues = receivers.map((receiver) => createQueue(receiver, options))
  const tellAll = async (compose: (receiver: NotificationConfig) => Letter | undefined) => {
    await Promise.all(
      queues.map(async ({ receiver, send }) => {
        const letter = compose(receiver)
        if (letter !== undefined) await send(letter)
      }),
    )
  }
  return {
    started: () => tellAll((receiver) => (receiver.kind === 'ping' ? startPing : undefined)),
    ended(outcome) {
      // Here, so that no receiver is told anything but clean text.
      const run = cleanStrings(outcome)
      return tellAll((receiver) => composeLetter(receiver, run, options.logTail))
    },
  }
}

/** One message, ready to be sent. */
interface Letter {
  /** Goes behind the path of the address. */
  readonly suffix: string
  readonly contentType: string
  readonly body: string
}

const startPing: Letter = { suffix: '/start', contentType: 'text/plain', body: '' }

function createQueue(receiver: NotificationConfig, options: NotifierOptions) {
  const { readAddress, log, findProxy, onFailure, retryBaseMs, signal } = options
  let last = Promise.resolve()
  const deliver = async ({ suffix, contentType, body }: Letter) => {
    try {
      const address = withSuffix(await readAddress(receiver.url), suffix)
      await post(address, { body, contentType, findProxy, retryBaseMs, signal })
      log.debug({ kind: receiver.kind }, 'notified')
    } catch (error) {
      onFailure(receiver.kind)
      log.error({ kind: receiver.kind, reason: (error as Error).message }, 'notification failed')
    }
  }
  const send = (letter: Letter) => {
    last = last.then(() => deliver(letter))
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

function composeLetter(
  receiver: NotificationConfig,
  run: RunOutcome,
  logTail: () => string,
): Letter | undefined {
  if (receiver.kind === 'ping') return composePing(run, logTail(), receiver)
  const news = newsOf(run, receiver.on)
  if (news === undefined) return undefined
  const content = receiver.kind === 'slack' ? { text: composeMarkup(news) } : composeJson(news)
  return { suffix: '', contentType: 'application/json', body: JSON.stringify(content) }
}

function composePing(
  run: RunOutcome,
  log: string,
  { exitStatus }: { exitStatus: boolean },
): Letter {
  const news = newsOf(run, runEvents)
  const text = news ? composeText(news) : 'dashkeep: no account to back up'
  const failure = exitStatus ? `/${run.exitCode}` : '/fail'
  return {
    suffix: run.exitCode === 0 ? '' : failure,
    contentType: 'text/plain; charset=utf-8',
    body: `${text}\n\n${log.slice(-MAX_LOG_BYTES)}`,
  }
}
