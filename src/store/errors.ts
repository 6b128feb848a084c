import { DashkeepError } from '../errors.ts'

/** A store could not do what was asked. The message names the store, never a credential. */
export class StoreError extends DashkeepError {
  override readonly hasCleanCause = true
}
