import { type Config, knownTypes } from './config.ts'
import { hasBothDays } from './cron.ts'

/** Finds settings that are valid and often a mistake. */
export function warningsOf({ schedule, types, encryption }: Config): string[] {
  const warnings: string[] = []
  if (schedule !== undefined && hasBothDays(schedule.cron)) {
    warnings.push(
      `schedule.cron: ${schedule.cron} is due only when day of month and day of week both match; cron and CronJobs run when either does`,
    )
  }
  for (const type of types.filter((one) => !knownTypes.includes(one))) {
    warnings.push(
      `types: ${type} is not a known type; if the service does not have it, its export is empty or fails`,
    )
  }
  if (encryption?.identity && !encryption.recipients && !encryption.passphrase) {
    warnings.push(
      'encryption.identity: it only decrypts; without recipients or a passphrase, new files are not encrypted',
    )
  }
  return warnings
}
