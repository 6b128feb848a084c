import { cleanStrings } from '../../clean-text.ts'
import type { NotificationConfig } from '../../config/notifications.ts'
import type { RunOutcome } from '../outcome.ts'
import { createDelivery, type DeliveryOptions } from './delivery.ts'
import {
  composePing,
  createReceiver,
  isForShards,
  type Judgement,
  type NotifiedRun,
  type PingConfig,
  pingAddress,
} from './receivers.ts'

/** Notifies every configured receiver of a run. Never throws: failures are logged. */
interface Notifier {
  started(): Promise<void>
  ended(run: RunOutcome): Promise<void>
}

/** Creates the notifier of one run. Each receiver gets one message at a time, in order. */
export function createNotifier(
  notifications: readonly NotificationConfig[],
  options: DeliveryOptions & NotifiedRun,
): Notifier {
  const receivers = notifications.map((config) => {
    const receiver = createReceiver(config, options)
    return { ...receiver, send: createDelivery(config, receiver, options) }
  })
  return {
    async started() {
      await Promise.all(receivers.map(({ atStart, send }) => atStart && send(atStart)))
    },
    async ended(outcome) {
      const run = cleanStrings(outcome)
      await Promise.all(
        receivers.map(({ atEnd, send }) => {
          const message = atEnd(run)
          return message && send(message)
        }),
      )
    },
  }
}

/**
 * Finds the pings whose address is for all shards. Includes those whose address cannot be read:
 * sending then logs why.
 */
export async function pingsOfAllShards(
  notifications: readonly NotificationConfig[],
  readAddress: DeliveryOptions['readAddress'],
): Promise<PingConfig[]> {
  const pings = notifications.filter((notification) => notification.kind === 'ping')
  const addresses = await Promise.all(
    pings.map(({ url }) => readAddress(url).catch(() => undefined)),
  )
  return pings.filter((_ping, index) => !isForShards(addresses[index] ?? ''))
}

/** Sends a judgement to these pings. Never throws: failures are logged. */
export async function pingJudgement(
  pings: readonly PingConfig[],
  judgement: Judgement,
  options: DeliveryOptions & { logTail: () => string },
): Promise<void> {
  const { logTail } = options
  const chooseAddress = (configured: string) => pingAddress(configured, undefined)
  await Promise.all(
    pings.map((config) => {
      const send = createDelivery(config, { chooseAddress }, options)
      return send(composePing(judgement, { config, logTail }))
    }),
  )
}
