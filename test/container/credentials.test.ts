import { beforeAll, describe, expect, it } from 'vitest'
import { leaveOut } from '../left-out.ts'
import { credentialSources } from '../s3-server/credential-sources.ts'
import { type CredentialWorld, startCredentialWorld } from '../s3-server/credential-world.ts'
import { type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import { buildImage, startContainer } from './image.ts'
import { containersWanted, withContainers } from './places.ts'

if (!containersWanted) leaveOut('sources of credentials in the image', withContainers)

const timeout = 300_000

/** Lists an archive in a container, with these variables of AWS and no others. */
async function list(
  { url, bucketName }: S3Server,
  { home, env }: CredentialWorld,
  variables: Readonly<Record<string, string>>,
) {
  await using container = startContainer(['list'], {
    env: {
      DASHKEEP_STORE: `s3://${bucketName}`,
      AWS_ENDPOINT_URL_S3: url,
      ...env,
      ...variables,
    },
    folder: home,
  })
  return await container.finished
}

describe.skipIf(!containersWanted)('in the image, credentials', { timeout }, () => {
  beforeAll(() => buildImage(), timeout)

  describe.each(credentialSources)('from $name', ({ setUp, failures }) => {
    it('open the bucket', async () => {
      await using server = await startS3Server()
      await using world = await startCredentialWorld(server.credentials)
      const variables = await setUp(world, server.credentials)
      expect(await list(server, world, variables)).toMatchObject({ exitCode: 0, stderr: '' })
      expect(server.operations()).toEqual(['ListObjectsV2'])
    })

    it.each(failures)('are explained when $when', async ({ spoil, state, hint }) => {
      await using server = await startS3Server()
      await using world = await startCredentialWorld(server.credentials)
      const variables = await setUp(world, server.credentials)
      const changes = await spoil(world)
      const { exitCode, stderr } = await list(server, world, { ...variables, ...changes })
      expect(stderr).toMatch(/^error: Cannot list s3:\/\/backups: /)
      expect(stderr).toMatch(state)
      expect(stderr).toMatch(new RegExp(`^hint: .*${hint.source}`, 'm'))
      expect(stderr).not.toMatch(/test-secret|secret-in-the-command|secret-output|session-token/)
      expect([1, 2]).toContain(exitCode)
    })
  })
})
