import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'
import {
  createProofKey,
  decodeProof,
  encodeProof,
  maxProofBytes,
  type NewProof,
  parseProofKey,
} from './proof.ts'

/**
 * Stores the record of a check and returns its key. Never overwrites a record: the key is new, and it
 * is read first, because not every store refuses to write a key twice. Throws when the store refuses
 * the record.
 */
export async function writeProof(
  store: ObjectStore,
  proof: NewProof,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const key = createProofKey(proof)
  const bytes = encodeReadable(proof, key)
  if ((await store.get(key, { ...options, maxBytes: maxProofBytes })) !== undefined) {
    throw new DashkeepError(`Cannot record ${key}: the store already holds it`, {
      hint: 'run the command again; it chooses another name',
    })
  }
  await store.put(key, bytes, options)
  return key
}

/** Encodes a record and checks that readers list and decode it. Throws otherwise. */
function encodeReadable(proof: NewProof, key: string): Uint8Array {
  const bytes = encodeProof(proof)
  const parsed = parseProofKey(key)
  if (parsed === undefined || bytes.length > maxProofBytes) {
    throw new DashkeepError(`Cannot record ${key}: a reader would refuse it`, {
      hint: "check this machine's clock",
    })
  }
  decodeProof(bytes, parsed)
  return bytes
}
