import { afterEach, describe, expect, it, vi } from 'vitest'
import { credentialSources } from '../s3-server/credential-sources.ts'
import { type CredentialWorld, startCredentialWorld } from '../s3-server/credential-world.ts'
import { type S3Server, startS3Server } from '../s3-server/s3-server.ts'
import { type Finished, runDashkeep } from './run-dashkeep.ts'

/** A bucket whose keys come from elsewhere. */
interface Place extends AsyncDisposable {
  readonly server: S3Server
  readonly world: CredentialWorld
  /** Lists the archive, with these variables of AWS and no others. */
  list(variables: Readonly<Record<string, string>>): Promise<Finished>
}

async function startPlace(): Promise<Place> {
  const server = await startS3Server()
  const world = await startCredentialWorld(server.credentials)
  return {
    server,
    world,
    async list(variables) {
      vi.unstubAllEnvs()
      for (const name of Object.keys(process.env)) {
        if (name.startsWith('AWS_')) vi.stubEnv(name, undefined)
      }
      const env = {
        DASHKEEP_STORE: `s3://${server.bucketName}`,
        AWS_ENDPOINT_URL_S3: server.url,
        ...world.env,
        ...variables,
      }
      // The SDK reads some of them itself.
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value || undefined)
      return runDashkeep(['list'], { env })
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.each(credentialSources)('credentials from $name', ({ setUp, failures }) => {
  it('open the bucket', async () => {
    await using place = await startPlace()
    const variables = await setUp(place.world, place.server.credentials)
    expect(await place.list(variables)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(place.server.operations()).toEqual(['ListObjectsV2'])
  })

  it.each(failures)('are explained when $when', async ({ spoil, state, hint }) => {
    await using place = await startPlace()
    const variables = await setUp(place.world, place.server.credentials)
    const changes = await spoil(place.world)
    const { exitCode, stderr } = await place.list({ ...variables, ...changes })
    expect(stderr).toMatch(/^error: Cannot list s3:\/\/backups: /)
    expect(stderr).toMatch(state)
    expect(stderr).toMatch(new RegExp(`^hint: .*${hint.source}`, 'm'))
    expect(stderr).not.toMatch(/test-secret|secret-in-the-command|secret-output|session-token/)
    expect([1, 2]).toContain(exitCode)
  })
})

describe('a profile of the AWS files', () => {
  /** The region for which the first request was signed. */
  const regionOf = ({ requests }: S3Server) =>
    /Credential=[^/]+\/\d+\/([^/]+)\//.exec(requests[0]?.headers.authorization ?? '')?.[1]

  const keys = 'aws_access_key_id = test-access\naws_secret_access_key = test-secret\n'

  it.each([
    ['an endpoint', (url: string) => `endpoint_url = ${url}\n`],
    [
      'an endpoint in its section of services',
      (url: string) => `services = here\n[services here]\ns3 =\n  endpoint_url = ${url}\n`,
    ],
  ])('says where the bucket is, by region and %s', async (_what, endpoint) => {
    await using place = await startPlace()
    const { server, world } = place
    const text = `[profile nightly]\n${keys}region = eu-north-1\n${endpoint(server.url)}`
    await world.write('.aws/config', text)
    const variables = { AWS_PROFILE: 'nightly', AWS_ENDPOINT_URL_S3: '' }
    expect(await place.list(variables)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(regionOf(server)).toBe('eu-north-1')
  })

  it('counts less than variables do, and its region counts beside their endpoint', async () => {
    await using place = await startPlace()
    const text = `[default]\n${keys}region = eu-north-1\nendpoint_url = http://127.0.0.1:9\n`
    await place.world.write('.aws/config', text)
    expect(await place.list({})).toMatchObject({ exitCode: 0 })
    expect(await place.list({ AWS_REGION: 'eu-west-1' })).toMatchObject({ exitCode: 0 })
    const regions = place.server.requests.map(
      ({ headers }) => /\/\d+\/([^/]+)\//.exec(headers.authorization ?? '')?.[1],
    )
    expect(regions).toEqual(['eu-north-1', 'eu-west-1'])
  })

  it('is named when it names services that are not there', async () => {
    await using place = await startPlace()
    await place.world.write('.aws/config', `[profile nightly]\n${keys}services = gone\n`)
    const variables = { AWS_PROFILE: 'nightly', AWS_ENDPOINT_URL_S3: '' }
    const { exitCode, stderr } = await place.list(variables)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/profile nightly: there is no section \[services gone\]\nhint: /)
  })

  it('is read anew by each run of a process', async () => {
    await using place = await startPlace()
    const file = (id: string) =>
      `[default]\naws_access_key_id = ${id}\naws_secret_access_key = test-secret\n`
    await place.world.write('.aws/credentials', file('old-access'))
    expect((await place.list({})).stderr).toContain('does not know the access key')
    await place.world.write('.aws/credentials', file('test-access'))
    expect(await place.list({})).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it('makes dashkeep ignore keys in variables, and the log reports it as JSON', async () => {
    await using place = await startPlace()
    await place.world.write('.aws/config', `[profile nightly]\n${keys}`)
    const variables = { AWS_PROFILE: 'nightly', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' }
    const { exitCode, stderr } = await place.list(variables)
    expect(exitCode).toBe(0)
    expect(JSON.parse(stderr)).toMatchObject({
      msg: 'the AWS SDK warns',
      reason: expect.stringMatching(/^AWS_PROFILE is set, so AWS_ACCESS_KEY_ID/),
    })
  })
})
