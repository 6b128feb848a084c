import { vi } from 'vitest'
import { startTlsFront } from '../http/tls-front.ts'
import { type Received, startReceiver } from '../run/notify/receiver.ts'
import { type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import { startBucketTrial } from './bucket-trial.ts'
import type { Trial } from './trial.ts'

/** Everything that dashkeep speaks to, over TLS and by host names that only a proxy can resolve. */
export interface ProxyTrial extends AsyncDisposable {
  readonly trial: Trial
  /** One account, an archive in a bucket, a ping and a Pushgateway; names no proxy. */
  readonly env: Record<string, string>
  readonly server: S3Server
  readonly notifications: readonly Received[]
  /** The three of them, as `host:port`. */
  readonly hosts: Readonly<Record<'service' | 'storage' | 'hooks', string>>
}

/** Starts it. The process's variables of AWS are changed until `vi.unstubAllEnvs`. */
export async function startProxyTrial(): Promise<ProxyTrial> {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startS3Server())
  const receiver = stack.use(await startReceiver())
  const { bucketName: bucket, credentials } = server
  const storage = stack.use(await startTlsFront(server.url))
  const endpoint = `https://storage.dashkeep.test:${storage.port}`
  const started = stack.use(await startBucketTrial({ endpoint, bucket, credentials }))
  const service = stack.use(await startTlsFront(started.trial.sandbox.url))
  const hooks = stack.use(await startTlsFront(receiver.url))
  const hosts = {
    service: `service.dashkeep.test:${service.port}`,
    storage: `storage.dashkeep.test:${storage.port}`,
    hooks: `hooks.dashkeep.test:${hooks.port}`,
  }
  const env = {
    ...started.env,
    DASHKEEP_BASE_URL: `https://${hosts.service}`,
    DASHKEEP_PING_URL: `https://${hosts.hooks}/ping`,
    DASHKEEP_PUSHGATEWAY: `https://${hosts.hooks}/push`,
  }
  return {
    trial: started.trial,
    env,
    server,
    notifications: receiver.received,
    hosts,
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs()
      await stack.disposeAsync()
    },
  }
}
