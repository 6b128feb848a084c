import { createExportScanner, type RawHit } from '../../src/export/export-scanner.ts'

/** A hit as the scanner reports it, copied so that it may be kept. */
export function rawHit(text: string | Uint8Array): RawHit {
  let found: RawHit | undefined
  const scanner = createExportScanner(({ bytes, index, members }) => {
    found = { bytes: Buffer.from(bytes), index, members: Int32Array.from(members) }
  })
  scanner.feed(
    Buffer.concat([
      Buffer.from('{"kibanaVersion":"7","hits":['),
      Buffer.from(text as Uint8Array),
      Buffer.from(']}'),
    ]),
  )
  scanner.end()
  if (found === undefined) throw new Error('there is no hit')
  return found
}
