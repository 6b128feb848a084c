import { z } from 'zod'
import { secretSource } from './fields.ts'

/** The events of a run that a notification can report, the worst first. */
export const runEvents = ['failure', 'suspect', 'recovery', 'success', 'change'] as const
/** An event of a run. */
export type RunEvent = (typeof runEvents)[number]

/**
 * The kinds of notifications in the configuration file. A new kind is an entry here, in the
 * variables and in the defaults below, and a message in `run/notify/receivers.ts`.
 */
export const notificationSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.enum(['webhook', 'slack']),
    url: secretSource.describe('Variable or file that holds the address'),
    on: z
      .array(z.enum(runEvents))
      .min(1)
      .optional()
      .describe('Events to send; failure, suspect and recovery by default'),
  }),
  z.strictObject({
    kind: z.literal('ping'),
    url: secretSource.describe(
      'Variable or file that holds the address; {shard} in it is replaced by the index of the shard',
    ),
    exitStatus: z
      .boolean()
      .optional()
      .describe('Pings /<exit status> instead of /fail; false by default'),
  }),
])

/** The variable that holds the address of each kind. */
export const notificationVariables = [
  ['ping', 'PING_URL'],
  ['webhook', 'WEBHOOK_URL'],
  ['slack', 'SLACK_URL'],
] as const satisfies readonly (readonly [kind: NotificationConfig['kind'], name: string])[]

/** A notification in the form of the configuration file. */
type FileNotification = z.infer<typeof notificationSchema>

type Complete<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> }

/** A receiver of notifications. Its address is a secret, because it gives the right to send. */
export type NotificationConfig = Complete<FileNotification>

/** Fills in the defaults. */
export function completeNotification(notification: FileNotification): NotificationConfig {
  if (notification.kind === 'ping') {
    return { ...notification, exitStatus: notification.exitStatus ?? false }
  }
  return { ...notification, on: notification.on ?? ['failure', 'suspect', 'recovery'] }
}
