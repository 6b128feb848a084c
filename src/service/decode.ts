import { pipeline, type Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'

/** Names the encodings that a request asks for and {@link decodedBody} undoes. */
export const acceptedEncodings = 'gzip, deflate'

/**
 * Undoes the content encoding of a body; returns `undefined` for an encoding that was not asked
 * for. What goes wrong on either side destroys both, and shows in the stream returned; a
 * compressed body that ends too early is an error.
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
