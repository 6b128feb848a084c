import { createS3Store } from '../../../src/store/s3/store.ts'
import { describeObjectStore } from '../../contract/object-store.ts'
import { startS3Server } from '../../s3-server/s3-server.ts'

for (const checksums of [false, true]) {
  const name = checksums ? 'a bucket that keeps checksums' : 'a bucket'
  describeObjectStore(name, async () => {
    const pageSize = 100
    const server = await startS3Server({ pageSize })
    const store = createS3Store({
      endpoint: server.url,
      bucket: server.bucketName,
      prefix: 'some/prefix',
      credentials: server.credentials,
      checksums,
      retryDelayMs: 1,
    })
    return {
      store,
      pageSize,
      async readMetadata(key) {
        const { metadata = {} } = server.bucket.objects.get(`some/prefix/${key}`) ?? {}
        return Object.fromEntries(
          Object.entries(metadata).map(([name, value]) => [name, decodeURIComponent(value)]),
        )
      },
      findLeftovers: async () => [...server.bucket.uploads.keys()],
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  })
}
