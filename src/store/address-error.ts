import { DashkeepError } from '../errors.ts'

/** The error of an invalid store address. `state` says what is wrong with it. */
export function addressError(url: string, state: string, cause?: unknown): DashkeepError {
  return new DashkeepError(`Cannot open the store ${url}: ${state}`, {
    kind: 'usage',
    hint: 'write s3://bucket/prefix or file:///absolute/folder',
    cause,
  })
}
