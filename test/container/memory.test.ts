import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { sentContent, storedContent } from '../e2e/archive-place.ts'
import { accountsOf, jsonLines } from '../e2e/run-dashkeep.ts'
import { leaveOut } from '../left-out.ts'
import { buildImage, docker, outputOf, startContainer } from './image.ts'
import { containersWanted, places, withContainers } from './places.ts'

if (!containersWanted) leaveOut('an export of 1 GiB in a container of 256 MiB', withContainers)

const GIB = 1024 ** 3
const memory = ['--memory=256m', '--memory-swap=256m']
const accountId = 1001
const token = 'token-of-the-large-account'

describe.skipIf(!containersWanted)('an export of 1 GiB in a container of 256 MiB', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    const generated = { seed: 1, bytes: { search: GIB, visualization: 10_000, dashboard: 10_000 } }
    const account = { accountId, accountName: 'Large', apiTokens: [token], objects: { generated } }
    sandbox = await startSandbox({ accounts: [account] })
    await buildImage()
  }, 600_000)
  afterAll(() => sandbox.close())

  it.each(places)(
    'is stored whole in %s, verified, and restored by a drill',
    async (_name, makePlace) => {
      await using place = await makePlace()
      const env = { ...place.env, DASHKEEP_BASE_URL: sandbox.url, DASHKEEP_API_TOKEN: token }
      const dashkeep = (...args: string[]) =>
        outputOf([...args, '--json'], { env, folder: place.folder, options: memory })
      const [account] = accountsOf(await dashkeep('backup'))
      const verified = jsonLines(await dashkeep('verify'))
      expect(verified).toMatchObject([{ snapshots: 1, defects: 0 }])
      // As the Job of `k8s/components/weekly/drill.yaml`: a volume of its own at /tmp.
      const drilled = await outputOf(['restore', '--drill', '--json'], {
        env,
        folder: place.folder,
        options: [...memory, '--volume=/tmp'],
      })
      expect(JSON.parse(drilled)).toMatchObject({
        accounts: [{ result: 'restored', different: 0 }],
      })
      await place.takeOver()
      const sent = await sentContent(sandbox, { token, type: 'search' })
      expect(sent.bytes).toBeGreaterThan(GIB)
      const key = `${accountId}/${account?.snapshot}/search.json.zst`
      expect(await storedContent(place, key)).toEqual(sent)
    },
    1_200_000,
  )

  it.each(places)(
    'is refused in %s when it has 30 million objects, which take more memory than there is',
    async (_name, makePlace) => {
      await using place = await makePlace()
      await using service = await startTinyHits(30_000_000)
      const env = { ...place.env, DASHKEEP_BASE_URL: service.url, DASHKEEP_API_TOKEN: token }
      await using container = startContainer(['backup', '--json'], {
        env,
        folder: place.folder,
        options: memory,
      })
      const { exitCode, stdout } = await container.finished
      expect(exitCode).toBe(1)
      expect(accountsOf(stdout)[0]?.error).toMatch(/it holds more than 3000000 objects/)
      await place.takeOver()
      expect(await place.keys()).toEqual([])
    },
    600_000,
  )

  it('would be killed if it held a third of it, since the limit is real', async () => {
    const greedy = 'Buffer.alloc(340 * 1024 ** 2, 1); console.log("held it")'
    const node = ['--rm', ...memory, '--entrypoint=node', 'dashkeep-test', '--eval', greedy]
    await expect(docker('run', ...node)).rejects.toMatchObject({ code: 137, stdout: '' })
  })
})

/** A service whose exports hold so many hits, each of them `{}`. */
async function startTinyHits(count: number): Promise<AsyncDisposable & { readonly url: string }> {
  function* body(): Generator<string> {
    yield '{"kibanaVersion":"7.10.2","hits":['
    for (let left = count; left > 1; left -= 10_000) yield '{},'.repeat(Math.min(10_000, left - 1))
    yield '{}]}'
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') response.end(JSON.stringify({ accountId, accountName: 'Tiny' }))
    else Readable.from(body()).pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
