import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { DashkeepError } from '../errors.ts'
import { isKey } from './keys.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3StoreOptions } from './s3/options.ts'

/** How to reach an S3 server; a folder needs none of it. */
export interface OpenStoreOptions
  extends Omit<S3StoreOptions, 'bucket' | 'prefix' | 'authorities'> {
  /** A file of certificates in PEM, of authorities that are trusted besides Node's. */
  readonly caBundle?: string | undefined
}

/**
 * Opens the store at `s3://bucket/prefix` or `file:///folder`. Nothing is reached yet, so a store
 * that cannot answer shows with the first call.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<ObjectStore> {
  if (url.startsWith('s3:')) return await openBucket(url, options)
  if (url.startsWith('file:')) return await openDirectory(url)
  throw refused(url, 'it begins with neither s3:// nor file://')
}

async function openDirectory(url: string): Promise<ObjectStore> {
  if (!url.startsWith('file:///')) throw refused(url, 'the folder is not absolute')
  const parsed = URL.parse(url)
  if (parsed === null) throw refused(url, 'it is no valid URL')
  if (parsed.search !== '' || parsed.hash !== '') {
    throw refused(url, 'a ? or # in the name of the folder must be written %3F or %23')
  }
  if (parsed.pathname === '/') throw refused(url, 'it names no folder')
  const { createDirectoryStore } = await import('./directory/store.ts')
  return createDirectoryStore({ root: toPath(url, parsed) })
}

function toPath(url: string, parsed: URL): string {
  try {
    return fileURLToPath(parsed)
  } catch (error) {
    throw refused(url, 'its percent signs do not encode a path', error)
  }
}

async function openBucket(
  url: string,
  { caBundle, ...options }: OpenStoreOptions,
): Promise<ObjectStore> {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(.*)$/s.exec(url) ?? []
  // Such an address may hold a secret: say nothing of it but that.
  if (bucket.includes('@')) throw refused('s3://…@…', 'credentials do not belong in it')
  if (bucket === '') throw refused(url, 'it names no bucket')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) {
    throw refused(url, `${JSON.stringify(bucket)} cannot be the name of a bucket`)
  }
  const prefix = rest.replace(/^\/|\/+$/g, '')
  if (prefix !== '' && (!isKey(prefix) || /[?#]/.test(prefix))) {
    throw refused(url, `${JSON.stringify(prefix)} cannot be the beginning of keys`)
  }
  const { completePlace } = await import('./s3/profile.ts')
  const place = await completePlace(options, options.env ?? {})
  checkEndpoint(place.endpoint)
  const authorities = caBundle && (await readAuthorities(caBundle))
  const { createS3Store } = await import('./s3/store.ts')
  return createS3Store({ ...options, ...place, bucket, prefix, authorities })
}

function checkEndpoint(endpoint: string | undefined): void {
  if (endpoint === undefined) return
  const parsed = URL.parse(endpoint)
  if (parsed !== null && parsed.username === '' && parsed.password === '') {
    if (parsed.protocol === 'http:' || parsed.protocol === 'https:') return
  }
  throw new DashkeepError('Cannot use the S3 endpoint: it is no plain http or https address', {
    kind: 'usage',
    hint: 'Write it as in https://s3.example.com, without credentials',
  })
}

async function readAuthorities(path: string): Promise<string> {
  const unusable = (state: string) =>
    new DashkeepError(`Cannot use the certificates in ${path}: ${state}`, {
      kind: 'usage',
      hint: 'set AWS_CA_BUNDLE or store.caBundle to a file of certificates in PEM',
    })
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(`the file cannot be read (${error.code})`)
  })
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g)
  if (certificates === null) throw unusable('it holds no certificate')
  // TLS passes over what it cannot read, and what comes after it, without an error.
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate))
  if (broken >= 0) throw unusable(`certificate ${broken + 1} of ${certificates.length} is damaged`)
  return text
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0
  } catch {
    return false
  }
}

function refused(url: string, state: string, cause?: unknown): DashkeepError {
  return new DashkeepError(`Cannot open the store ${url}: ${state}`, {
    kind: 'usage',
    hint: 'Write s3://bucket/prefix or file:///absolute/folder',
    cause,
  })
}
