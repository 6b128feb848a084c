import type { NotificationConfig } from '../../config/notifications.ts'
import { hintOf } from '../../errors.ts'
import type { FindProxy } from '../../http/proxy.ts'
import type { Logger } from '../../log.ts'
import { post } from '../post.ts'
import type { OutgoingMessage, Receiver, Skipped } from './receivers.ts'

/** How messages are delivered. */
export interface DeliveryOptions {
  /** Reads the address each time, so that a changed one takes effect. */
  readonly readAddress: (source: NotificationConfig['url']) => Promise<string>
  readonly log: Logger
  readonly findProxy: FindProxy
  /** Called for each message that could not be delivered. */
  readonly onFailure: (kind: NotificationConfig['kind']) => void
  readonly retryBaseMs?: number | undefined
  /** Aborts the delivery in progress. */
  readonly signal?: AbortSignal | undefined
}

/** Sends a message, or logs why it is skipped. Never throws: a failure is logged and counted. */
type Send = (message: OutgoingMessage | Skipped) => Promise<void>

/** Creates the delivery to one receiver. Each message is sent after the previous one. */
export function createDelivery(
  { kind, url }: NotificationConfig,
  { chooseAddress = (configured) => configured }: Pick<Receiver, 'chooseAddress'>,
  { readAddress, log, findProxy, onFailure, retryBaseMs, signal }: DeliveryOptions,
): Send {
  let isSkipLogged = false
  const skip = ({ level, reason }: Skipped) => {
    if (!isSkipLogged) log[level]({ kind }, `${kind} skipped: ${reason}`)
    isSkipLogged = true
  }
  const deliver = async (message: OutgoingMessage | Skipped) => {
    if ('reason' in message) return skip(message)
    try {
      const address = chooseAddress(await readAddress(url))
      if (typeof address !== 'string') return skip(address)
      const { suffix, body, contentType } = message
      const target = withSuffix(address, suffix)
      await post(target, { body, contentType, findProxy, retryBaseMs, signal })
      log.debug({ kind }, 'notification sent')
    } catch (error) {
      onFailure(kind)
      const { message: reason } = error as Error
      log.error({ kind, reason, hint: hintOf(error) }, 'notification failed')
    }
  }
  let previous = Promise.resolve()
  return (message) => {
    previous = previous.then(() => deliver(message))
    return previous
  }
}

/** Adds a suffix to the path of an address. */
function withSuffix(address: string, suffix: string): string {
  const url = URL.parse(address)
  if (url === null || suffix === '') return address
  url.pathname = `${url.pathname.replace(/\/$/, '')}${suffix}`
  return url.href
}
