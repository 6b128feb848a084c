import { createHash } from 'node:crypto'
import type { z } from 'zod'

/**
 * Encodes a document as indented JSON. The bytes end with the SHA-256 of all bytes before that line, so
 * that a reader can prove them without any other file.
 */
export function encodeSealed(document: object): Uint8Array {
  const before = Buffer.from(`${JSON.stringify(document, undefined, 2).slice(0, -2)},\n`)
  return Buffer.concat([before, sealOf(before)])
}

function sealOf(before: Uint8Array): Buffer {
  const digest = createHash('sha256').update(before).digest('hex')
  return Buffer.from(`  "sha256": "${digest}"\n}\n`)
}

const sealBytes = sealOf(new Uint8Array()).length

/** What to read, and how to refuse it. */
interface SealedFormat<Document> {
  /** Names the document in errors. */
  readonly label: string
  readonly formatVersion: number
  readonly schema: z.ZodType<Document>
  /** Makes the error. `newer`: a newer dashkeep wrote the document. */
  readonly refuse: (message: string, why: { newer: boolean; cause?: Error | undefined }) => Error
}

/**
 * Decodes a sealed document. Ignores unknown members. Throws what `refuse` makes of a greater
 * `formatVersion`, a wrong SHA-256, and anything that the schema does not allow.
 */
export function decodeSealed<Document>(
  bytes: Uint8Array,
  { label, formatVersion, schema, refuse }: SealedFormat<Document>,
): Document {
  const damaged = (state: string, cause?: Error) =>
    refuse(`Cannot read ${label}: ${state}`, { newer: false, cause })
  const document = parseJson(bytes, damaged)
  const version = (document as { formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'number' && version > formatVersion) {
    throw refuse(
      `Cannot read ${label}: it has format ${version}, this dashkeep reads up to ${formatVersion}`,
      { newer: true },
    )
  }
  const result = schema.safeParse(document)
  if (!result.success) {
    const path = result.error.issues[0]?.path.join('.') || 'the document'
    throw damaged(`${path} is invalid in format ${formatVersion}`, result.error)
  }
  const before = bytes.subarray(0, -sealBytes)
  if (!sealOf(before).equals(bytes.subarray(before.length))) {
    throw damaged('its bytes do not match the SHA-256 at its end')
  }
  return result.data
}

function parseJson(bytes: Uint8Array, damaged: (state: string, cause: Error) => Error): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw damaged('it is not JSON', cause as Error)
  }
}
