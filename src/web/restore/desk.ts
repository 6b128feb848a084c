import type { Manifest } from '../../archive/manifest.ts'
import type { Restoring } from '../../restore/restoring.ts'
import {
  findRefusal,
  type PreparedRestore,
  prepareRestore,
  type RestoreProgress,
  type ServiceRestoreChoice,
  type ServiceRestoreOptions,
} from '../../run/restore-to-service.ts'

/** Restores to the service with the tokens of the configuration. Returns no token. */
export interface RestoreDesk {
  /** Why objects of an account cannot be restored; undefined when they can. */
  refusalOf(account: Manifest['account']): string | undefined
  /** Exports the present objects and plans a restore into the account of the objects. */
  prepare(
    restoring: Restoring,
    choice: ServiceRestoreChoice,
    options: RestoreProgress & { signal: AbortSignal },
  ): Promise<PreparedRestore>
}

/** The pages restore into the account of the objects only. */
const otherOwnerHint =
  'correct the token in the configuration and start `dashkeep web` again; only the command line restores into another account'

/** Creates what restores with a configuration and its archive. */
export function createDesk(options: Omit<ServiceRestoreOptions, 'signal'>): RestoreDesk {
  return {
    refusalOf: (account) => findRefusal(options.config, account),
    prepare: (restoring, choice, more) =>
      prepareRestore(restoring, choice, { ...options, ...more, otherOwnerHint }),
  }
}
