import { DashkeepError } from '../errors.ts'
import { readSmallFile } from '../local-files.ts'
import type { Environment, SecretSource } from './config.ts'

/** Reads a secret again for each use, so that a rotated one is used. Throws a `usage` error if there is none. */
export async function readSecret(
  source: SecretSource,
  env: Environment,
  what: 'token' | 'passphrase' | 'identity' | 'address',
): Promise<string> {
  const unreadable = (state: string, cause?: unknown) =>
    new DashkeepError(`Cannot read the ${what}: ${state}`, {
      kind: 'usage',
      hint: `set it, or correct the place of the ${what} in the configuration`,
      ...(cause !== undefined && { cause }),
    })
  if ('env' in source) {
    const value = env[source.env]?.trim()
    if (value) return value
    throw unreadable(`the variable ${source.env} is not set`)
  }
  const value = await readText(source.file).catch((cause) => {
    throw unreadable(fileState(source.file, cause), cause)
  })
  if (value) return value
  throw unreadable(`${source.file} is empty`)
}

/** Room for thousands of keys. */
const MAX_SECRET_BYTES = 1024 ** 2

/** Reads a file without surrounding white space. */
export async function readText(path: string): Promise<string> {
  return (await readSmallFile(path, { maxBytes: MAX_SECRET_BYTES })).trim()
}

/** Describes why a file cannot be read. */
export function fileState(path: string, error: unknown): string {
  const { code } = error as { code?: string }
  if (code === 'ENOENT') return `${path} is not there`
  if (code === 'EACCES') return `${path} cannot be read by this user`
  if (code === 'EFBIG') return `${path} is too large`
  if (code === 'EILSEQ') return `${path} is not UTF-8 text`
  if (code === 'EISDIR') return `${path} is a folder`
  return `${path} cannot be read (${code ?? 'unknown reason'})`
}
