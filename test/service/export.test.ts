import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { collect, quickClient, serviceErrorOf } from './fixtures.ts'
import {
  cutOff,
  json,
  type Scene,
  smallExport,
  startScriptedServer,
  text,
} from './scripted-server.ts'

const megabyte = 1024 * 1024
const largeExport = JSON.stringify({
  kibanaVersion: '7.0.0',
  hits: Array.from({ length: 2000 }, (_, n) => ({ _id: `search:${n}`, text: 'x'.repeat(500) })),
})

describe('an answer with status 206', () => {
  it('is a part of an export: it is asked for again, then refused', async () => {
    await using server = await startScriptedServer([
      json(smallExport, { status: 206 }),
      json(smallExport),
    ])
    await using client = quickClient(server.url)
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
    expect(server.requests).toHaveLength(2)
    await using stubborn = await startScriptedServer([
      text(largeExport, { status: 206 }),
      text(largeExport, { status: 206 }),
      text(largeExport, { status: 206 }),
      text(largeExport, { status: 206 }),
      text(largeExport, { status: 206 }),
    ])
    await using other = quickClient(stubborn.url)
    const error = await serviceErrorOf(other.exportObjects('search'))
    expect(error.message).toContain('only a part of the export (status 206)')
  })
})

describe('encodings', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['GZIP', gzipSync],
    ['identity', Buffer.from],
  ])('decodes %s', async (encoding, encode: (body: string) => Uint8Array) => {
    await using server = await startScriptedServer([
      text(encode(largeExport), { headers: { 'content-encoding': encoding } }),
      text(encode(JSON.stringify(smallExport)), { headers: { 'content-encoding': encoding } }),
    ])
    await using client = quickClient(server.url)
    expect(await collect(await client.exportObjects('search'))).toBe(largeExport)
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
  })

  it('refuses an encoding it did not ask for', async () => {
    await using server = await startScriptedServer([
      text('…', { headers: { 'content-encoding': 'br' } }),
    ])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.exportObjects('search'))
    expect(error.code).toBe('not-json')
    expect(error.message).toContain('encoded as "br"')
    expect(server.requests).toHaveLength(1)
  })

  it('explains a refusal by its status when its encoding is unknown', async () => {
    await using server = await startScriptedServer([
      text('…', { status: 403, headers: { 'content-encoding': 'br' } }),
    ])
    await using client = quickClient(server.url)
    expect((await serviceErrorOf(client.exportObjects('search'))).code).toBe('refused-token')
  })

  it('repeats an export whose short compressed body was cut off', async () => {
    const compressed = gzipSync(JSON.stringify(smallExport))
    const headers = { 'content-encoding': 'gzip' }
    await using server = await startScriptedServer([
      text(compressed.subarray(0, -9), { headers }),
      text(compressed, { headers }),
    ])
    await using client = quickClient(server.url)
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
    expect(server.requests).toHaveLength(2)
  })

  it.each([
    ['cut off', (body: Buffer) => body.subarray(0, -9)],
    ['damaged', (body: Buffer) => Buffer.concat([body.subarray(0, -8), Buffer.alloc(8)])],
    ['no gzip at all', () => Buffer.from('{"kibanaVersion":"7.0.0","hits":[]}')],
  ])('fails when a compressed body is %s', async (_damage, damage) => {
    const body = damage(gzipSync(largeExport))
    await using server = await startScriptedServer([
      text(body, { headers: { 'content-encoding': 'gzip' } }),
    ])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.exportObjects('search').then(collect))
    expect(error).toMatchObject({ code: 'network', transient: true })
    expect(error.message).toContain('incomplete or damaged')
  })

  it('stops a compressed bomb at the limit', async () => {
    const bomb = gzipSync(`{"kibanaVersion":"7.0.0","hits":[${' '.repeat(8 * megabyte)}]}`)
    await using server = await startScriptedServer([
      text(bomb, { headers: { 'content-encoding': 'gzip' } }),
    ])
    await using client = quickClient(server.url, { limits: { maxExportBytes: megabyte } })
    const error = await serviceErrorOf(client.exportObjects('search').then(collect))
    expect(error).toMatchObject({ code: 'too-large', transient: false })
    expect(server.requests).toHaveLength(1)
  })

  it('stops a compressed bomb in any other answer, and in a refusal', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * megabyte, ' '))
    const headers = { 'content-encoding': 'gzip' }
    await using server = await startScriptedServer([
      text(bomb, { headers }),
      text(bomb, { headers, status: 403 }),
    ])
    await using client = quickClient(server.url)
    expect(await serviceErrorOf(client.whoami())).toMatchObject({ code: 'too-large' })
    const refused = await serviceErrorOf(client.exportObjects('search').then(collect))
    expect(refused).toMatchObject({ status: 403, transient: false })
    expect(refused.message.length).toBeLessThan(1000)
    expect(server.requests).toHaveLength(2)
  })
})

describe('bodies that break off', () => {
  const start = largeExport.slice(0, 300_000)

  it.each([
    ['in chunks', cutOff(start)],
    ['short of its Content-Length', cutOff(start, { headers: { 'content-length': '999999' } })],
  ])('fails as transient from the iteration when a long body %s ends', async (_form, scene) => {
    await using server = await startScriptedServer([scene])
    await using client = quickClient(server.url)
    const chunks = await client.exportObjects('dashboard')
    const error = await serviceErrorOf(collect(chunks))
    expect(error).toMatchObject({ code: 'network', transient: true })
    expect(error.message).toMatch(/^Cannot export .* was interrupted after \d+ bytes \(\w+\)$/)
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    ['in chunks', cutOff('{"kibanaVersion":"7.0.0","hits":[')],
    ['short of its Content-Length', cutOff('{"kib', { headers: { 'content-length': '99' } })],
  ])('repeats a short body that ends %s', async (_form, scene) => {
    await using server = await startScriptedServer([scene, json(smallExport)])
    await using client = quickClient(server.url)
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
    expect(server.requests).toHaveLength(2)
  })

  it('gives up on a body that stops coming', async () => {
    const stall: Scene = (response) => response.write(start)
    await using server = await startScriptedServer([stall])
    await using client = quickClient(server.url)
    const error = await serviceErrorOf(client.exportObjects('dashboard').then(collect))
    expect(error).toMatchObject({ code: 'timeout', transient: true })
    expect(error.message).toContain('stopped sending its answer')
  })

  it('does not give up on a body that comes slowly', async () => {
    const body = JSON.stringify(smallExport)
    const drip: Scene = async (response) => {
      for (let at = 0; at < body.length; at += 40) {
        response.write(body.slice(at, at + 40))
        await sleep(70)
      }
      response.end()
    }
    await using server = await startScriptedServer([drip])
    await using client = quickClient(server.url)
    expect(await collect(await client.exportObjects('search'))).toBe(body)
  })

  it('does not blame the service for a slow reader', async () => {
    await using server = await startScriptedServer([text(largeExport)])
    await using client = quickClient(server.url, { limits: { bodyTimeoutMs: 200 } })
    let bytes = 0
    for await (const chunk of await client.exportObjects('search')) {
      if (bytes === 0) await sleep(500)
      bytes += chunk.byteLength
    }
    expect(bytes).toBe(largeExport.length)
  })
})

describe('flow', () => {
  function endless(written: { bytes: number }): Scene {
    const block = Buffer.alloc(256 * 1024, ' ')
    return (response) => {
      response.write('{"kibanaVersion":"7.0.0","hits":[')
      const pump = () => {
        while (!response.destroyed) {
          written.bytes += block.length
          if (!response.write(block)) return response.once('drain', pump)
        }
      }
      pump()
    }
  }

  it('holds the service back while nobody reads', async () => {
    const written = { bytes: 0 }
    await using server = await startScriptedServer([endless(written)])
    await using client = quickClient(server.url)
    const chunks = await client.exportObjects('search')
    const iterator = chunks[Symbol.asyncIterator]()
    await iterator.next()
    const growth = async () => {
      const before = written.bytes
      await sleep(150)
      return written.bytes - before
    }
    await expect.poll(growth, { timeout: 10_000 }).toBe(0)
    expect(written.bytes).toBeLessThan(64 * megabyte)
    await iterator.return?.()
  })

  it('closes the connection when the reader leaves early', async () => {
    await using server = await startScriptedServer([endless({ bytes: 0 })])
    await using client = quickClient(server.url)
    for await (const _chunk of await client.exportObjects('search')) break
    await expect.poll(() => server.openConnections()).toBe(0)
  })

  it('ends at once when the signal aborts while reading', async () => {
    await using server = await startScriptedServer([endless({ bytes: 0 })])
    await using client = quickClient(server.url)
    const controller = new AbortController()
    const chunks = await client.exportObjects('search', { signal: controller.signal })
    const reading = collect(chunks)
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrowError('enough')
    await expect.poll(() => server.openConnections()).toBe(0)
  })

  it('frees the connection of an export that is never read when the client closes', async () => {
    await using server = await startScriptedServer([endless({ bytes: 0 })])
    const client = quickClient(server.url)
    await client.exportObjects('search')
    await client.close()
    await expect.poll(() => server.openConnections()).toBe(0)
  })
})
