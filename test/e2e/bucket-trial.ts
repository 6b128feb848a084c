import { vi } from 'vitest'
import { startTrial, type Trial } from './trial.ts'

/** A bucket and the keys to it. */
export interface Bucket {
  readonly endpoint: string
  readonly bucket: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** A trial whose archive is in a bucket, all of it said by variables. */
export interface BucketTrial extends AsyncDisposable {
  readonly trial: Trial
  readonly env: Record<string, string>
}

/**
 * Starts a trial below `kept/here` in the bucket. The SDK looks for credentials in the process's own
 * environment, which is changed until `vi.unstubAllEnvs`.
 */
export async function startBucketTrial(
  { endpoint, bucket, credentials }: Bucket,
  changes: Record<string, string | undefined> = {},
): Promise<BucketTrial> {
  const trial = await startTrial()
  const env = {
    ...(trial.env as Record<string, string>),
    DASHKEEP_STORE: `s3://${bucket}/kept/here`,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...(changes as Record<string, string>),
  }
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('AWS_')) vi.stubEnv(name, value)
  }
  return { trial, env, [Symbol.asyncDispose]: () => trial[Symbol.asyncDispose]() }
}
