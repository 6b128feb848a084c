import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { quickClient, serviceErrorOf } from './fixtures.ts'
import { account } from './scripted-server.ts'

const final = `HTTP/1.1 200 OK\r\ncontent-length: ${JSON.stringify(account).length}\r\n\r\n${JSON.stringify(account)}`
const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'

describe('an answer 101, which leaves HTTP', () => {
  it.each([
    ['alone', `HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n`],
    ['and bytes behind it', `HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n\x81\x05hello`],
    ['that names no protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['and an answer behind it', `HTTP/1.1 101 Switching Protocols\r\n\r\n${final}`],
  ])('ends at once, with the connection: %s', async (_what, answer) => {
    await using server = await startRawServer(answer)
    // Waiting for any of these limits would fail the test.
    await using client = quickClient(server.url, {
      limits: { headersTimeoutMs: 600_000, bodyTimeoutMs: 600_000, retryBaseMs: 600_000 },
    })
    const error = await serviceErrorOf(client.whoami())
    expect(error).toMatchObject({ code: 'network', transient: false, attempt: 1 })
    expect(error.message).toContain(
      `Cannot find the account of the token: ${server.url} answers with status 101, which ends HTTP`,
    )
    expect(error.hint).toMatch(/^check the base address/)
    await server.closed
  })
})

it.each(['102 Processing', '103 Early Hints'])(
  'an answer %s is passed over, and the one behind it counts',
  async (status) => {
    const interim = `HTTP/1.1 ${status}\r\nlink: </x>\r\n\r\n`
    await using server = await startRawServer(interim + interim + final)
    await using client = quickClient(server.url)
    expect(await client.whoami()).toEqual(account)
  },
)

it('an answer 100 Continue, which dashkeep never asks for, is a broken connection to undici', async () => {
  await using server = await startRawServer(`HTTP/1.1 100 Continue\r\n\r\n${final}`)
  await using client = quickClient(server.url, { limits: { attempts: 1 } })
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'network', transient: true })
  await server.closed
})

it('interim answers without end are given up on, as silence is', async () => {
  await using server = await startRawServer('HTTP/1.1 103 Early Hints\r\n\r\n', { everyMs: 10 })
  await using client = quickClient(server.url, { limits: { attempts: 1, headersTimeoutMs: 100 } })
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'timeout', transient: true })
  await server.closed
})

/** Answers whatever comes first on a connection with these bytes, again and again when asked to. */
async function startRawServer(answer: string, { everyMs }: { everyMs?: number } = {}) {
  const sockets = new Set<Socket>()
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer, 'latin1'))
    const repeating = everyMs && setInterval(() => socket.write(answer, 'latin1'), everyMs)
    socket.on('close', () => {
      clearInterval(repeating)
      resolve()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Once a connection has ended. */
    closed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
