import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownAuthority } from '../http/tls-front.ts'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'
import {
  account,
  json,
  type Scene,
  silence,
  smallExport,
  startScriptedServer,
} from './scripted-server.ts'

it('keeps one connection for requests one after another', async () => {
  await using server = await startScriptedServer([json(account), json(smallExport), json(account)])
  await using client = quickClient(server.url)
  await client.whoami()
  await collect(await client.exportObjects('search'))
  await client.whoami()
  expect(server.connections).toBe(1)
})

it('opens no more connections than it may', async () => {
  const late: Scene = (response, request) => setTimeout(() => json(account)(response, request), 20)
  await using server = await startScriptedServer([late])
  await using client = quickClient(server.url, { limits: { concurrency: 2 } })
  await Promise.all(Array.from({ length: 7 }, () => client.whoami()))
  expect(server.connections).toBe(2)
})

it('does not take waiting for an answer for connecting, on a connection that was waited for', async () => {
  const late: Scene = (response, request) => setTimeout(() => json(account)(response, request), 150)
  await using server = await startScriptedServer([late])
  await using client = quickClient(server.url, {
    limits: { concurrency: 1, connectTimeoutMs: 60, attempts: 1 },
  })
  await Promise.all([client.whoami(), client.whoami(), client.whoami()])
  expect(server.connections).toBe(1)
})

it('ends requests under way and those that wait when it is closed, and sends none after', async () => {
  await using server = await startScriptedServer([silence])
  const client = quickClient(server.url, {
    limits: { concurrency: 1, headersTimeoutMs: 60_000 },
  })
  const asking = [client.whoami(), client.whoami()].map(serviceErrorOf)
  await expect.poll(() => server.requests.length).toBe(1)
  await client.close()
  for (const error of await Promise.all(asking)) expect(error.message).toContain('(DESTROYED)')
  expect((await serviceErrorOf(client.whoami())).message).toContain('(DESTROYED)')
  expect(server.requests).toHaveLength(1)
  await expect.poll(() => server.openConnections()).toBe(0)
  expect(server.connections).toBe(1)
})

it('gives up on headers that never end', async () => {
  await using server = await startServer(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('x-more: x\r\n'), 20)
      socket.on('close', () => clearInterval(drip))
    }),
  )
  await using client = quickClient(`http://127.0.0.1:${server.port}`, { limits: { attempts: 1 } })
  const error = await serviceErrorOf(client.whoami())
  expect(error).toMatchObject({ code: 'timeout', transient: true })
  expect(error.message).toContain('did not answer in time (HEADERS_TIMEOUT)')
})

describe('with TLS', () => {
  let authorities: string[]
  beforeEach(() => {
    authorities = getCACertificates()
  })
  afterEach(() => setDefaultCACertificates(authorities))

  it('calls a server whose authority is known, over one connection', async () => {
    setDefaultCACertificates([...authorities, ownAuthority])
    const ports: (number | undefined)[] = []
    await using server = await startSecure((request, response) => {
      ports.push(request.socket.remotePort)
      request.resume().on('end', () => response.end(JSON.stringify(account)))
    })
    await using client = quickClient(server.url)
    expect(await client.whoami()).toEqual(account)
    await client.whoami()
    expect(new Set(ports).size).toBe(1)
  })

  it('sends nothing to a server whose authority is unknown', async () => {
    const paths: (string | undefined)[] = []
    await using server = await startSecure((request, response) => {
      paths.push(request.url)
      response.end(JSON.stringify(account))
    })
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.whoami())
    expect(error).toMatchObject({ code: 'network', transient: false })
    expect(error.message).toContain('a secure connection')
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS')
    expect(paths).toEqual([])
  })

  it('gives up on a handshake that is never answered, before anything was sent', async () => {
    let connections = 0
    await using server = await startServer(createServer(() => (connections += 1)))
    await using client = quickClient(`https://127.0.0.1:${server.port}`, {
      limits: { connectTimeoutMs: 50, attempts: 2 },
    })
    const create = client.createSubAccount({
      email: 'admin@example.com',
      accountName: 'Team B',
      retentionDays: 3,
    })
    const error = await serviceErrorOf(create)
    expect(error).toMatchObject({ code: 'timeout', transient: true, attempt: 2 })
    expect(error.message).toContain('(CONNECT_TIMEOUT)')
    expect(connections).toBe(2)
  })
})

async function startSecure(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createSecureServer({ key: ownAuthority, cert: ownAuthority }, listener)
  const started = await startServer(server)
  return { ...started, url: `https://127.0.0.1:${started.port}` }
}

async function startServer(server: Server): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
