import { fileURLToPath } from 'node:url'
import { S3Client } from '@aws-sdk/client-s3'
import { GenericContainer, Wait } from 'testcontainers'

/** What servers have beside what every store needs. What one lacks is stated here, and tested. */
const kinds = {
  /** Ceph 16. */
  ceph: { tags: true, objectLock: true, serverEncryption: true, knowsKeys: true },
  /** OpenStack Swift 2.30 with s3api. */
  swift: { tags: false, objectLock: false, serverEncryption: false, knowsKeys: false },
} as const satisfies Record<string, S3Capabilities>

/** What an S3 server can do. */
export interface S3Capabilities {
  readonly tags: boolean
  readonly objectLock: boolean
  readonly serverEncryption: boolean
  /** Whether it tells an access key that it does not know from a wrong secret key. */
  readonly knowsKeys: boolean
}

/** What the server that is named can do, by `DASHKEEP_TEST_S3_KIND`; Ceph by default. */
export function serverKind(): { readonly name: string; readonly can: S3Capabilities } {
  const name = process.env.DASHKEEP_TEST_S3_KIND ?? 'ceph'
  const can = kinds[name as keyof typeof kinds]
  if (can === undefined) throw new Error(`DASHKEEP_TEST_S3_KIND: ${name} is no known kind`)
  return { name, can }
}

/** A real S3 server and the keys to it. */
export interface RealS3Server extends AsyncDisposable {
  readonly endpoint: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Reaches the server as somebody else would. */
  readonly client: S3Client
  /** A key with which the server can encrypt, where it is known to have one. */
  readonly kmsKeyId: string | undefined
}

/** How to include the tests that need a real S3 server. */
export const withRealS3Server =
  'with DASHKEEP_TEST_CONTAINERS=1 and Docker, or by naming one in ' +
  'DASHKEEP_TEST_S3_ENDPOINT, _ACCESS_KEY and _SECRET_KEY'

/**
 * Where a real S3 server may be had: the one that `DASHKEEP_TEST_S3_ENDPOINT` names, or a Ceph
 * gateway in a container when `DASHKEEP_TEST_CONTAINERS` is 1.
 */
export function findRealS3Server(): (() => Promise<RealS3Server>) | undefined {
  const endpoint = process.env.DASHKEEP_TEST_S3_ENDPOINT
  if (endpoint !== undefined) return async () => useRunning(endpoint)
  return process.env.DASHKEEP_TEST_CONTAINERS === '1' ? startContainer : undefined
}

function useRunning(endpoint: string): RealS3Server {
  const accessKeyId = process.env.DASHKEEP_TEST_S3_ACCESS_KEY ?? ''
  const secretAccessKey = process.env.DASHKEEP_TEST_S3_SECRET_KEY ?? ''
  const credentials = { accessKeyId, secretAccessKey }
  return describeServer(endpoint, credentials, {
    kmsKeyId: process.env.DASHKEEP_TEST_S3_KMS_KEY,
    stop: async () => {},
  })
}

function describeServer(
  endpoint: string,
  credentials: RealS3Server['credentials'],
  { kmsKeyId, stop }: { kmsKeyId: string | undefined; stop: () => Promise<unknown> },
): RealS3Server {
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
  return {
    endpoint,
    credentials,
    client,
    kmsKeyId,
    async [Symbol.asyncDispose]() {
      client.destroy()
      await stop()
    },
  }
}

async function startContainer(): Promise<RealS3Server> {
  const credentials = { accessKeyId: 'container-access', secretAccessKey: 'container-secret' }
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const image = await GenericContainer.fromDockerfile(folder).build('dashkeep-test-ceph', {
    deleteOnExit: false,
  })
  const container = await image
    .withEnvironment({
      S3_ACCESS_KEY: credentials.accessKeyId,
      S3_SECRET_KEY: credentials.secretAccessKey,
    })
    .withExposedPorts(7480)
    .withWaitStrategy(Wait.forHttp('/', 7480).withStartupTimeout(120_000))
    .start()
  const endpoint = `http://${container.getHost()}:${container.getMappedPort(7480)}`
  return describeServer(endpoint, credentials, {
    kmsKeyId: 'testkey-1',
    stop: () => container.stop(),
  })
}
