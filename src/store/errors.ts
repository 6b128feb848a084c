import { DashkeepError } from '../errors.ts'

/** A store failed. The message contains the address of the store and no credential. */
export class StoreError extends DashkeepError {
  override readonly hasCleanCause = true
}
