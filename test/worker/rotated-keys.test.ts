import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTrial } from '../e2e/trial.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { startWorker } from './start-worker.ts'
import { minutes } from './stepped-clock.ts'

/** A volume of a Secret with the file `credentials`, which Kubernetes replaces by a symbolic link. */
async function mountCredentials() {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-mount-'))
  let version = 0
  return {
    path: join(folder, 'credentials'),
    async rotate(accessKeyId: string, secretAccessKey: string) {
      version += 1
      const text = `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`
      await mkdir(join(folder, `..${version}`))
      await writeFile(join(folder, `..${version}`, 'credentials'), text)
      await symlink(`..${version}`, join(folder, '..next'))
      await rename(join(folder, '..next'), join(folder, '..data'))
      if (version === 1) await symlink('..data/credentials', join(folder, 'credentials'))
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

describe('a worker whose S3 keys come from a mounted file', () => {
  it('uses rotated keys from the next run on, without a restart', async () => {
    await using server = await startS3Server()
    await using mounted = await mountCredentials()
    await mounted.rotate('retired-access', 'retired-secret')
    await using trial = await startTrial()
    const env = {
      ...trial.env,
      DASHKEEP_STORE: `s3://${server.bucketName}/dashkeep`,
      DASHKEEP_SCHEDULE: '*/5 * * * *',
      AWS_ENDPOINT_URL_S3: server.url,
      AWS_SHARED_CREDENTIALS_FILE: mounted.path,
      AWS_CONFIG_FILE: '/dev/null',
    }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await worker.stepUntilEnded(4 * minutes, 1)
    expect(worker.log().find(({ msg }) => msg === 'backup failed')?.reason).toContain(
      'the server does not know the access key',
    )
    const { accessKeyId, secretAccessKey } = server.credentials
    await mounted.rotate(accessKeyId, secretAccessKey)
    await worker.stepUntilEnded(5 * minutes, 2)
    expect(worker.log().filter(({ msg }) => msg === 'snapshot taken')).toHaveLength(1)
  })
})
