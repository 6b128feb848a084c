import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { quickClient, serviceErrorOf } from './fixtures.ts'

/** A server that sends the beginning of an answer, and then a space whenever there is a turn. */
async function startDripping(begin: string) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${begin}`)
      const drip = setInterval(() => socket.write(' '), 5)
      socket.once('close', () => clearInterval(drip))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

// No pause of these answers is long enough for the limit of pauses.
const limits = { headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, answerTimeoutMs: 100 }

describe('an answer that comes drop by drop and never ends', () => {
  it('is given up on, once, when it is read whole', async () => {
    await using server = await startDripping('{')
    await using client = quickClient(server.url, { limits })
    const error = await serviceErrorOf(client.whoami())
    expect(error).toMatchObject({ code: 'timeout', transient: false, attempt: 1 })
    expect(error.message).toBe(
      `Cannot find the account of the token: ${server.url} has not sent the whole answer after 0.1 s`,
    )
    expect(error.hint).toContain('limits.answerTimeoutMs')
  })

  it('is given up on while an export is read', async () => {
    const begin = `{"kibanaVersion":"7.9.1","hits":[${' '.repeat(70_000)}`
    await using server = await startDripping(begin)
    await using client = quickClient(server.url, { limits })
    const read = async () => {
      for await (const chunk of await client.exportObjects('search')) expect(chunk).toBeDefined()
    }
    expect(await serviceErrorOf(read())).toMatchObject({ code: 'timeout', transient: false })
  })
})
