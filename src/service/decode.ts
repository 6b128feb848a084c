import { pipeline, type Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'

/** The content encodings that requests accept and {@link decodedBody} decodes. */
export const acceptedEncodings = 'gzip, deflate'

/**
 * Decodes the content encoding of a body. Returns `undefined` for an encoding that was not accepted. An
 * error of the body, such as an early end, is an error of the returned stream.
 */
export function decodedBody(body: Readable, encoding: string): Readable | undefined {
  switch (encoding) {
    case '':
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
      return through(body, createGunzip({ chunkSize }))
    case 'deflate':
      return through(body, createInflate({ chunkSize }))
    default:
      return undefined
  }
}

const chunkSize = 128 * 1024

function through(body: Readable, decoder: ReturnType<typeof createGunzip>): Readable {
  pipeline(body, decoder, () => {})
  return decoder
}
