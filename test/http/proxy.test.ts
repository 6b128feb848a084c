import { describe, expect, it } from 'vitest'
import { readProxies } from '../../src/http/proxy.ts'

/** Which proxy, and by which variable, requests to an address go through; undefined for none. */
function proxyFor(address: string, env: Record<string, string>): string | undefined {
  const problems: string[] = []
  const proxy = readProxies(env, problems)(new URL(address))
  expect(problems).toEqual([])
  return proxy && `${proxy.name} ${proxy.variable}`
}

describe('the variables of proxies', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['https://a.test', { HTTPS_PROXY: 'http://p:3128' }, 'p:3128 HTTPS_PROXY'],
    ['https://a.test', { https_proxy: 'http://p:3128' }, 'p:3128 https_proxy'],
    ['http://a.test', { HTTP_PROXY: 'http://p:3128' }, 'p:3128 HTTP_PROXY'],
    ['http://a.test', { http_proxy: 'http://p:3128' }, 'p:3128 http_proxy'],
    ['https://a.test', { http_proxy: 'http://p:3128' }, undefined],
    ['http://a.test', { https_proxy: 'http://p:3128' }, undefined],
    [
      'https://a.test',
      { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:1' },
      'low:1 https_proxy',
    ],
    ['https://a.test', { https_proxy: '', HTTPS_PROXY: 'http://up:1' }, 'up:1 HTTPS_PROXY'],
    ['https://a.test', { https_proxy: ' ' }, undefined],
    ['https://a.test', { https_proxy: 'p:3128' }, 'p:3128 https_proxy'],
    ['https://a.test', { https_proxy: 'user:sesame@p:3128' }, 'p:3128 https_proxy'],
    ['https://a.test', { https_proxy: 'http://p' }, 'p:80 https_proxy'],
    ['https://a.test', { https_proxy: 'https://p' }, 'p:443 https_proxy'],
    ['https://a.test', { https_proxy: 'http://[fd00::1]:3128' }, '[fd00::1]:3128 https_proxy'],
  ])('%s with %j goes through %s', (address, env, expected) => {
    expect(proxyFor(address, env)).toBe(expected)
  })

  it.each([
    'socks5://u:sesame@p:1080',
    'http://u:sesame@:3128',
    'http://u:sesame%@p:3128',
    'ftp://u:sesame@p',
  ])('refuse %s without a word of it', (address) => {
    const problems: string[] = []
    readProxies({ HTTPS_PROXY: address }, problems)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(
      /^HTTPS_PROXY: expected the http:\/\/ or https:\/\/ address of a proxy/,
    )
    expect(problems[0]).not.toMatch(/sesame/)
  })
})

describe('NO_PROXY', () => {
  const env = { HTTP_PROXY: 'http://p:3128', HTTPS_PROXY: 'http://p:3128' }
  const isDirect = (address: string, NO_PROXY: string) =>
    proxyFor(address, { ...env, NO_PROXY }) === undefined

  it.each([
    ['*', 'https://a.test'],
    ['a.test', 'https://a.test'],
    ['a.test', 'https://A.TEST.'],
    ['A.Test', 'https://a.test'],
    ['a.test', 'https://b.a.test'],
    ['.a.test', 'https://b.a.test'],
    ['.a.test', 'https://a.test'],
    ['*.a.test', 'https://b.a.test'],
    ['x.test, a.test', 'https://a.test'],
    ['x.test a.test', 'https://a.test'],
    ['a.test:443', 'https://a.test'],
    ['a.test:8080', 'http://a.test:8080'],
    ['10.1.2.3', 'http://10.1.2.3'],
    ['10.0.0.0/8', 'http://10.1.2.3'],
    ['fd00::1', 'http://[fd00::1]:9000'],
    ['[fd00::1]:9000', 'http://[fd00::1]:9000'],
    ['fd00::/8', 'http://[fd00::1]:9000'],
  ])('%j leads directly to %s', (entries, address) => {
    expect(isDirect(address, entries)).toBe(true)
  })

  it.each([
    ['', 'https://a.test'],
    ['b.test', 'https://a.test'],
    ['a.test', 'https://ba.test'],
    ['*.a.test', 'https://a.test'],
    ['a.test:8443', 'https://a.test'],
    ['a.test.com', 'https://a.test'],
    ['10.0.0.0/8', 'http://11.1.2.3'],
    ['10.0.0.0/99', 'http://10.1.2.3'],
    ['10.0.0.0/8', 'http://a.test'],
    ['[fd00::1]:9000', 'http://[fd00::1]:9001'],
    ['nonsense/8', 'http://a.test'],
  ])('%j leaves %s to the proxy', (entries, address) => {
    expect(isDirect(address, entries)).toBe(false)
  })

  it('is taken in lower case first', () => {
    const variables = { ...env, no_proxy: 'a.test', NO_PROXY: 'b.test' }
    expect(proxyFor('https://a.test', variables)).toBeUndefined()
    expect(proxyFor('https://b.test', variables)).toBe('p:3128 HTTPS_PROXY')
  })

  it.each(['http://localhost:1', 'http://a.localhost', 'http://127.9.9.9', 'http://[::1]:9'])(
    'is not needed for %s',
    (address) => expect(proxyFor(address, env)).toBeUndefined(),
  )
})
