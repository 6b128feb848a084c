import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createServiceClient } from '../../src/service/client.ts'
import { createSanitizer } from '../../src/service/sanitize.ts'
import { collect, everythingIn, quickClient, serviceErrorOf, token } from './fixtures.ts'
import { json, type Scene, startScriptedServer, text } from './scripted-server.ts'

const said = `the token ${token} is bad`

describe('the token', () => {
  it.each([
    ['a refusal', json({ code: 403, message: said, requestId: token, errorCode: token })],
    ['a rejection', json({ message: said, errorCode: said, requestId: said }, { status: 400 })],
    ['a web page', text(`<html>${said}</html>`)],
    ['plain text', text(said, { status: 502 })],
    ['the text around the limit', text(`${'x'.repeat(40)}${token}`)],
    ['a redirect', text('', { status: 302, headers: { location: `https://${token}.example/` } })],
    ['a request id', text('', { status: 400, headers: { 'x-request-id': token } })],
    ['an encoding', text('', { headers: { 'content-encoding': token } })],
    ['the parts of a cut connection', echoAndHangUp()],
    ['what is not HTTP', echoRaw()],
  ])('echoed in %s stays out of message, hint, cause and stack', async (_place, scene) => {
    await using server = await startScriptedServer([scene])
    await using client = quickClient(server.url, { limits: { attempts: 1 } })
    const calls = [() => client.whoami(), () => client.exportObjects('search').then(collect)]
    for (const call of calls) {
      const error = await serviceErrorOf(call())
      expect(everythingIn(error)).not.toContain(token)
      expect(JSON.stringify(error)).not.toContain(token)
      expect(everythingIn(error)).not.toContain(token.slice(0, 12))
    }
  })

  it.each(['', 'two words', `${token}\n`, 'pass\r\nX-Evil: 1', 'nul\0', 'ümlaut', '“quoted”'])(
    'that cannot be a header is refused unseen: %j',
    (bad) => {
      const create = () => createServiceClient({ baseUrl: 'https://api.example.com', token: bad })
      expect(create).toThrowError(expect.objectContaining({ kind: 'usage' }))
      if (bad !== '') expect(create).not.toThrowError(bad)
    },
  )

  it('of a new sub account stays out of an answer that cannot be read', async () => {
    const answer = '{"accountToken":"shipping-secret","accountId":'
    for (const scene of [text(answer), json({ accountToken: 'shipping-secret', accountId: 'x' })]) {
      await using server = await startScriptedServer([scene])
      await using client = quickClient(server.url)
      const error = await serviceErrorOf(
        client.createSubAccount({ email: 'a@example.com', accountName: 'B', retentionDays: 1 }),
      )
      expect(everythingIn(error)).not.toContain('shipping')
    }
  })
})

describe('text from the service', () => {
  it('keeps no control characters, line breaks or direction marks', () => {
    const sanitize = createSanitizer(token)
    expect(sanitize('\u001b[31mred\u001b[0m\r\nline\ttwo\u202e\u200b\u0000', 100)).toBe(
      '[31mred[0m line two',
    )
  })

  it('is one line of limited length without the token, for any answer', () => {
    const sanitize = createSanitizer(token)
    const pieces = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constant(token)))
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 80 }), (parts, maxLength) => {
        const clean = sanitize(parts.join(''), maxLength)
        expect(clean.length).toBeLessThanOrEqual(maxLength)
        expect(clean).not.toContain(token)
        expect(clean).not.toMatch(/\p{Cc}/u)
      }),
    )
  })
})

function echoAndHangUp(): Scene {
  return (response) => {
    response.writeHead(200, { 'content-length': 9999 })
    response.write(`{"message":"${said}"`, () => setTimeout(() => response.destroy(), 20))
  }
}

function echoRaw(): Scene {
  return (response) => response.socket?.end(`${said}\r\n\r\n`)
}
