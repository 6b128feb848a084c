import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { DashkeepError } from '../../errors.ts'
import { addressError } from '../address-error.ts'
import { isKey } from '../keys.ts'
import type { ObjectStore } from '../object-store.ts'
import type { S3StoreOptions } from './options.ts'
import { completePlace } from './profile.ts'
import { createS3Store } from './store.ts'

/** Options of a bucket. */
export interface OpenBucketOptions
  extends Omit<S3StoreOptions, 'bucket' | 'prefix' | 'authorities'> {
  /** PEM file with certificates of authorities to trust in addition to Node's. */
  readonly caBundle?: string | undefined
}

/** Opens the bucket at an address such as `s3://bucket/prefix`. */
export async function openBucket(
  url: string,
  { caBundle, ...options }: OpenBucketOptions,
): Promise<ObjectStore> {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(.*)$/s.exec(url) ?? []
  // The address may contain a secret, so the message leaves it out.
  if (bucket.includes('@')) throw addressError('s3://…@…', 'it must not contain credentials')
  if (bucket === '') throw addressError(url, 'it has no bucket name')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) {
    throw addressError(url, `${JSON.stringify(bucket)} is not a valid bucket name`)
  }
  const prefix = rest.replace(/^\/|\/+$/g, '')
  if (prefix !== '' && (!isKey(prefix) || /[?#]/.test(prefix))) {
    throw addressError(url, `${JSON.stringify(prefix)} is not a valid prefix`)
  }
  const place = await completePlace(options, options.env ?? {})
  checkEndpoint(place.endpoint)
  const authorities = caBundle && (await readAuthorities(caBundle))
  return createS3Store({ ...options, ...place, bucket, prefix, authorities })
}

function checkEndpoint(endpoint: string | undefined): void {
  if (endpoint === undefined) return
  const parsed = URL.parse(endpoint)
  if (parsed !== null && parsed.username === '' && parsed.password === '') {
    if (parsed.protocol === 'http:' || parsed.protocol === 'https:') return
  }
  throw new DashkeepError(
    'Cannot use the S3 endpoint: it must be an http:// or https:// address without credentials',
    {
      kind: 'usage',
      hint: 'use an address such as https://s3.example.com',
    },
  )
}

async function readAuthorities(path: string): Promise<string> {
  const unusable = (state: string) =>
    new DashkeepError(`Cannot use the certificates in ${path}: ${state}`, {
      kind: 'usage',
      hint: 'set AWS_CA_BUNDLE or store.caBundle to a PEM file of certificates',
    })
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(`the file cannot be read (${error.code})`)
  })
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g)
  if (certificates === null) throw unusable('it contains no certificate')
  // TLS silently ignores an unreadable certificate and all certificates after it.
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
