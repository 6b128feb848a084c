import { DashkeepError } from '../errors.ts'

/** The address of a store cannot be used, for the reason given as `state`. */
export function addressError(url: string, state: string, cause?: unknown): DashkeepError {
  return new DashkeepError(`Cannot open the store ${url}: ${state}`, {
    kind: 'usage',
    hint: 'Write s3://bucket/prefix or file:///absolute/folder',
    cause,
  })
}
