import type { Decrypter } from 'age-encryption'
import { DashkeepError } from '../errors.ts'
import type { TransformSink } from './transform-sink.ts'

/** Takes encrypted or decrypted bytes. */
type Output = (chunk: Uint8Array) => Promise<void> | void

/** Description of a file's encryption in a manifest. */
export interface FileEncryption {
  readonly format: 'age'
  /** Public keys that can open the file, or `passphrase`. Not secret. */
  readonly recipients: readonly string[]
}

/** Encrypts files in the age format, which the `age` tool can decrypt. */
export interface Sealer {
  readonly encryption: FileEncryption
  /** Starts a file. */
  seal(onOutput: Output): TransformSink
  /**
   * Whether a file was encrypted with the same passphrase, according to its first `HEAD_BYTES` bytes.
   * Absent for recipients, because the manifest lists them.
   */
  hasSealed?(head: Uint8Array): Promise<boolean>
}

/** Bytes that contain the whole header of a file with a passphrase. The header has 150. */
export const HEAD_BYTES = 1024

/** Decrypts files in the age format. */
export interface Opener {
  /** Starts a file. The sink throws an `OpenError` when the key does not open the file. */
  open(onOutput: Output): TransformSink
}

/** No configured key opens a file. The file may still be sound. */
export class OpenError extends DashkeepError {}

/** The error for a file of the archive that no configured key opens. */
export function cannotOpen(key: string, opener: Opener | undefined): OpenError {
  if (opener === undefined) {
    return new OpenError(`Cannot read ${key}: it is encrypted, and no key is configured`, {
      kind: 'usage',
      hint: 'set DASHKEEP_IDENTITY_FILE to a file of private keys, or encryption.identity or .passphrase in the configuration file',
    })
  }
  return new OpenError(`Cannot decrypt ${key}: the configured key does not open it`, {
    kind: 'usage',
    hint: '`dashkeep show --json` lists its recipients; configure the identity of one of them, or the passphrase of the file',
  })
}

/**
 * Work factor for passphrases. scrypt needs 2^logN kB of memory: 32 MB here. The `age` tool uses 256 MB,
 * which is often more than a container has. Five random words compensate for the lower value.
 */
const SCRYPT_LOG_N = 15

/** Creates a sealer for recipients or with a passphrase. Needs no private keys. */
export async function createSealer(
  key: { recipients: readonly string[] } | { passphrase: string },
): Promise<Sealer> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  const decrypter = await createDecrypter()
  if ('passphrase' in key) {
    encrypter.setPassphrase(key.passphrase)
    encrypter.setScryptWorkFactor(SCRYPT_LOG_N)
    decrypter.addPassphrase(key.passphrase)
  } else for (const recipient of key.recipients) addRecipient(encrypter, recipient)
  const recipients = 'passphrase' in key ? ['passphrase'] : key.recipients.toSorted()
  return {
    encryption: { format: 'age', recipients },
    seal: (onOutput) => createStreamSink((readable) => encrypter.encrypt(readable), onOutput),
    ...('passphrase' in key && {
      hasSealed: (head) =>
        decrypter.decryptHeader(head).then(
          () => true,
          () => false,
        ),
    }),
  }
}

function addRecipient(encrypter: { addRecipient(text: string): void }, recipient: string): void {
  try {
    encrypter.addRecipient(recipient)
  } catch (cause) {
    throw new DashkeepError(`Cannot encrypt for ${recipient}: it is not an age recipient`, {
      kind: 'usage',
      hint: 'a recipient begins with age1; age-keygen prints it together with the private key',
      cause,
    })
  }
}

/** Whether a text is an age recipient with a correct checksum. */
export async function isRecipient(text: string): Promise<boolean> {
  const { Encrypter } = await import('age-encryption')
  try {
    new Encrypter().addRecipient(text)
    return true
  } catch {
    return false
  }
}

/** Creates an opener with the identities of an `age-keygen` key file, a passphrase, or both. */
export async function createOpener({
  identity,
  passphrase,
}: {
  identity?: string | undefined
  passphrase?: string | undefined
}): Promise<Opener> {
  const decrypter = await createDecrypter()
  if (passphrase !== undefined) decrypter.addPassphrase(passphrase)
  if (identity !== undefined) {
    for (const one of readIdentities(identity)) addIdentity(decrypter, one)
  }
  const decrypt = (readable: ReadableStream<Uint8Array>) =>
    decrypter.decrypt(readable).catch((cause: unknown) => {
      if (!/no identity matched/.test(String(cause))) throw cause
      throw new OpenError('Cannot decrypt a file: the configured key does not open it', { cause })
    })
  return { open: (onOutput) => limitHeader(decrypt, onOutput) }
}

/** Creates a decrypter that refuses headers that need more memory than dashkeep's own files. */
async function createDecrypter(): Promise<Decrypter> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  // Identities are tried in order. An error of the first one ends the attempt.
  decrypter.addIdentity({ unwrapFileKey: refuseCostlyKey })
  return decrypter
}

function refuseCostlyKey(stanzas: readonly { readonly args: readonly string[] }[]): null {
  for (const { args } of stanzas) {
    const logN = Number(args[2])
    if (args[0] !== 'scrypt' || !(logN > SCRYPT_LOG_N)) continue
    throw new Error(`its passphrase needs ${2 ** (logN - 10)} MB of memory`)
  }
  return null
}

/** Largest header. It must be in memory as a whole before the first byte can be decrypted. */
const MAX_HEADER_BYTES = 1024 ** 2

/** Starts to decrypt. Throws when the header is larger than 1 MiB. */
function limitHeader(decrypt: Conversion, onOutput: Output): TransformSink {
  let isOver = false
  let bytes = 0
  const sink = createStreamSink(async (readable) => {
    const decrypted = await decrypt(readable)
    isOver = true
    return decrypted
  }, onOutput)
  return {
    ...sink,
    async write(chunk) {
      if (!isOver && bytes > MAX_HEADER_BYTES) {
        throw new Error('its age header is larger than 1 MiB')
      }
      bytes += chunk.length
      // A copy: the streams may keep the chunk, while the store reads into its buffer again.
      await sink.write(Uint8Array.from(chunk))
    },
  }
}

/** Returns the keys of a key file. The text is secret and never shown. */
function readIdentities(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (identities.length === 0) throw badIdentity()
  return identities
}

function addIdentity(decrypter: { addIdentity(text: string): void }, identity: string): void {
  try {
    decrypter.addIdentity(identity)
  } catch {
    throw badIdentity()
  }
}

function badIdentity(): DashkeepError {
  return new DashkeepError('Cannot use the identity: it is not a private key of age', {
    kind: 'usage',
    hint: 'give the file that age-keygen wrote, with a line that begins AGE-SECRET-KEY-',
  })
}

type Conversion = (readable: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>

/** Makes a sink from a function over web streams. */
function createStreamSink(convert: Conversion, onOutput: Output): TransformSink {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const output = forward(convert(readable), onOutput)
  // The next write or end throws the failure. Without a handler, Node would end the process.
  output.catch(() => {})
  writer.closed.catch(() => {})
  return {
    write: (chunk) => Promise.race([writer.write(chunk), output]),
    async end() {
      await Promise.race([writer.close(), output])
      await output
    },
    destroy: () => void writer.abort().catch(() => {}),
  }
}

async function forward(
  converted: Promise<ReadableStream<Uint8Array>>,
  onOutput: Output,
): Promise<void> {
  for await (const chunk of await converted) await onOutput(chunk)
}
