import {
  createServiceClient,
  type ServiceClient,
  type ServiceClientOptions,
  ServiceError,
} from '../../src/service/client.ts'

export const token = '0f5c3f0e-11d2-4a83-a1b7-5d0c1b2e77aa'

/** A client that does not wait long for anything. */
export function quickClient(
  baseUrl: string,
  options: Partial<ServiceClientOptions> = {},
): ServiceClient {
  const limits = { retryBaseMs: 1, headersTimeoutMs: 500, bodyTimeoutMs: 500, ...options.limits }
  return createServiceClient({ baseUrl, token, ...options, limits })
}

/** The error of a call that must fail; anything but a ServiceError fails the test. */
export async function serviceErrorOf(call: Promise<unknown>): Promise<ServiceError> {
  const outcome = await call.then(
    () => new Error('expected a failure, got an answer'),
    (error: unknown) => error,
  )
  if (outcome instanceof ServiceError) return outcome
  throw outcome
}

/** Everything an export yields, as text. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const collected: Uint8Array[] = []
  for await (const chunk of chunks) collected.push(chunk)
  return Buffer.concat(collected).toString()
}

/** Every text that an error could show or log: message, hint, stack and its causes' alike. */
export function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = Object.getOwnPropertyNames(error)
    .filter((name) => name !== 'cause')
    .map((name) => String(Reflect.get(error, name)))
  return [...own, everythingIn(error.cause)].join('\n')
}
