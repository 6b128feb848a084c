import { hash } from 'node:crypto'

/**
 * Derives the id of a copy from the account and the id of its original. The same original always gives the
 * same id, which looks like the ids that services make: a UUID of version 8 (RFC 9562), from SHA-256.
 */
export function deriveId(accountId: number, type: string, objectId: string): string {
  const digest = hash('sha256', JSON.stringify([accountId, type, objectId]), 'buffer')
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(digest.toString('hex')) ?? []
  return parts.join('-')
}
