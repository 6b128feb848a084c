import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { answerXml, element, type S3Answer } from './s3-xml.ts'

/** Everything that gives credentials, on this machine: a home folder, STS, SSO, containers, EC2. */
export interface CredentialWorld extends AsyncDisposable {
  /** The home folder, which users of containers can read. */
  readonly home: string
  /** Variables that lead to the folder and the servers, and to no other credentials. */
  readonly env: Readonly<Record<string, string>>
  /** The address of the endpoint for credentials of containers. */
  readonly containerUrl: string
  /** Writes a file below the home folder and returns its path. */
  write(path: string, text: string): Promise<string>
  /** Keeps a session of SSO, named by its session or its start address. */
  writeSso(name: string, expiresAt: Date): Promise<string>
  /** What the next requests whose path fits are answered with. */
  refuse(path: RegExp, status: number, answer: string): void
}

interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

interface Refusal {
  readonly path: RegExp
  readonly status: number
  readonly answer: string
}

const inAnHour = () => new Date(Date.now() + 3_600_000)

/** Starts it; every source gives the same keys. */
export async function startCredentialWorld(keys: Keys): Promise<CredentialWorld> {
  const home = await mkdtemp(join(tmpdir(), 'dashkeep-home-'))
  await chmod(home, 0o755)
  const refusals: Refusal[] = []
  const server = createServer((request, response) => {
    void answer(request, response, { keys, refusals })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const write: CredentialWorld['write'] = async (path, text) => {
    const full = join(home, path)
    await mkdir(dirname(full), { recursive: true })
    await writeFile(full, text, { mode: 0o644 })
    return full
  }
  return {
    home,
    env: {
      HOME: home,
      AWS_CONFIG_FILE: join(home, '.aws/config'),
      AWS_SHARED_CREDENTIALS_FILE: join(home, '.aws/credentials'),
      AWS_ENDPOINT_URL_STS: url,
      AWS_ENDPOINT_URL_SSO: url,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    containerUrl: `${url}/container`,
    write,
    writeSso: (name, expiresAt) => {
      const file = `${createHash('sha1').update(name).digest('hex')}.json`
      const token = { accessToken: 'sso-token', expiresAt: expiresAt.toISOString() }
      return write(`.aws/sso/cache/${file}`, JSON.stringify(token))
    },
    refuse: (path, status, text) => refusals.push({ path, status, answer: text }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { keys, refusals }: { keys: Keys; refusals: readonly Refusal[] },
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const form = new URLSearchParams(Buffer.concat(chunks).toString())
  // STS names what is asked of it in the form, all others in the path.
  const asked = form.get('Action') ?? request.url ?? ''
  const refusal = refusals.find(({ path }) => path.test(asked))
  const { status, headers, body } = refusal
    ? { status: refusal.status, headers: {}, body: refusal.answer }
    : give(asked, keys)
  response.writeHead(status, { ...headers })
  response.end(body)
}

/** What each service says when it gives the keys. */
function give(asked: string, { accessKeyId, secretAccessKey }: Keys): S3Answer {
  const json = (body: unknown) => ({ status: 200, body: JSON.stringify(body) })
  const AccessKeyId = accessKeyId
  const SecretAccessKey = secretAccessKey
  const Expiration = inAnHour().toISOString()
  if (asked.startsWith('AssumeRole')) {
    const parts = { AccessKeyId, SecretAccessKey, SessionToken: 'sts-token', Expiration }
    const members = Object.entries(parts).map(([name, value]) => element(name, value))
    const result = element('Credentials', members.join(''))
    return answerXml(`${asked}Response`, element(`${asked}Result`, result))
  }
  if (asked.startsWith('/federation/credentials')) {
    const parts = { accessKeyId, secretAccessKey, sessionToken: 'sso-role-token' }
    return json({ roleCredentials: { ...parts, expiration: inAnHour().getTime() } })
  }
  if (asked.startsWith('/container')) {
    return json({ AccessKeyId, SecretAccessKey, Token: 'container-token', Expiration })
  }
  if (asked === '/latest/api/token') return { status: 200, body: 'metadata-token' }
  const roles = '/latest/meta-data/iam/security-credentials/'
  if (asked === roles) return { status: 200, body: 'the-role' }
  if (asked === `${roles}the-role`) {
    const parts = { Code: 'Success', AccessKeyId, SecretAccessKey, Expiration }
    return json({ ...parts, Token: 'instance-token' })
  }
  return { status: 404 }
}

/** The answer with which STS refuses. */
export function stsError(code: string, message = 'No'): string {
  const error = element('Error', element('Code', code) + element('Message', message))
  return element('ErrorResponse', error)
}
