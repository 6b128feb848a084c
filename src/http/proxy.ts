import { BlockList, isIP } from 'node:net'

/** A proxy that requests go through. */
export interface HttpProxy {
  /** Its address, with user and password: no message contains it. */
  readonly url: URL
  /** Host and port, for messages. */
  readonly name: string
  /** The environment variable that the address comes from. */
  readonly variable: string
}

/** Finds the proxy for an address; `undefined` when the request goes there directly. */
export type FindProxy = (address: URL) => HttpProxy | undefined

/** Names a proxy for people, without user and password. */
export function describeProxy({ name, variable }: HttpProxy): string {
  return `the proxy ${name} (${variable})`
}

/** For requests that never go through a proxy. */
export const noProxy: FindProxy = () => undefined

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy`, in lower or upper case. The rules are curl's:
 * lower case wins, and an empty variable counts as unset. As in Go, loopback addresses are always
 * reached directly. A variable that cannot be used is added to the problems, without its value,
 * which may contain a password.
 */
export function readProxies(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): FindProxy {
  const variableOf = (name: string) => [name, name.toUpperCase()].find((one) => env[one]?.trim())
  const proxyOf = (name: string) => {
    const variable = variableOf(name)
    return variable && parseProxy(env[variable]?.trim() ?? '', variable, problems)
  }
  const proxies = new Map([
    ['http:', proxyOf('http_proxy')],
    ['https:', proxyOf('https_proxy')],
  ])
  const exceptions = env[variableOf('no_proxy') ?? '']?.toLowerCase().match(/[^\s,]+/g) ?? []
  return (address) => {
    const proxy = proxies.get(address.protocol) || undefined
    if (proxy === undefined) return undefined
    const target = targetOf(address)
    const isDirect = isLoopback(target.host) || exceptions.some((entry) => covers(entry, target))
    return isDirect ? undefined : proxy
  }
}

function parseProxy(text: string, variable: string, problems: string[]): HttpProxy | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol) || !decode(url.username + url.password)) {
    problems.push(
      `${variable}: expected the address of a proxy such as http://proxy.example.com:3128, with http:// or https://, and % in a user or password as %25`,
    )
    return undefined
  }
  return { url, name: `${url.hostname}:${portOf(url)}`, variable }
}

/** Returns undefined when the percent signs encode nothing. The bundler drops a call without use. */
function decode(text: string): { text: string } | undefined {
  try {
    return { text: decodeURIComponent(text) }
  } catch {
    return undefined
  }
}

interface Target {
  /** In lower case, without the brackets of IPv6 and without a dot at the end. */
  readonly host: string
  readonly port: string
}

function targetOf(address: URL): Target {
  const host = address.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return { host: host.replace(/\.$/, ''), port: portOf(address) }
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80')
}

function isLoopback(host: string): boolean {
  return /(^|\.)localhost$/.test(host) || contains('127.0.0.0/8', host) || host === '::1'
}

/**
 * Whether an entry of `no_proxy` covers a host: `*`, the host, a domain above it (`example.com` and
 * `.example.com`; `*.example.com` leaves out the domain itself), its address or a network around
 * that, such as `10.0.0.0/8`. A port at the end of a host or domain must be the same.
 */
function covers(entry: string, { host, port }: Target): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return contains(entry, host)
  const [, name = '', entryPort] =
    isIP(entry) === 0 ? (/^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry) ?? []) : [entry, entry]
  if (name === '' || (entryPort !== undefined && entryPort !== port)) return false
  const domain = name.replace(/^\*?\./, '')
  return host.endsWith(`.${domain}`) || (host === domain && !name.startsWith('*'))
}

function contains(network: string, host: string): boolean {
  const [base = '', prefix] = network.split('/')
  const bits = Number(prefix)
  const version = isIP(base)
  if (version === 0 || isIP(host) !== version) return false
  if (!Number.isInteger(bits) || bits < 0 || bits > (version === 4 ? 32 : 128)) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(base, bits, family)
  return list.check(host, family)
}

/**
 * A proxy did not make the connection that was asked for, so nothing was sent to the server behind
 * it. The message is a state, for "Cannot …: <message>", and names the proxy and its variable.
 */
export class ProxyError extends Error {
  readonly hint: string
  /** Whether the same request may succeed a moment later. */
  readonly transient: boolean

  constructor(message: string, { hint, transient }: { hint: string; transient: boolean }) {
    super(message)
    this.name = 'ProxyError'
    this.hint = hint
    this.transient = transient
  }
}

/** Explains a status with which a proxy refused to connect to a server. */
export function proxyRefusal(
  proxy: HttpProxy,
  { status, target }: { status: number; target: string },
): ProxyError {
  const { name, variable } = proxy
  const subject = describeProxy(proxy)
  // Some proxies answer 401 to a wrong password.
  if (status === 407 || status === 401) {
    const state = `refuses the user or password, or wants one (status ${status})`
    return new ProxyError(`${subject} ${state}`, {
      hint: `Write user and password into ${variable}, as in http://user:password@${name}`,
      transient: false,
    })
  }
  const transient = status === 429 || status >= 500
  const state = transient ? 'cannot connect to' : 'refuses to connect to'
  return new ProxyError(`${subject} ${state} ${target} (status ${status})`, {
    hint: 'Check the address, allow it in the proxy, or add the host to NO_PROXY to go there directly; the log of the proxy says more',
    transient,
  })
}

/** Explains an error on the way to a proxy, by its code, such as `ECONNREFUSED`. */
export function proxyFailure(proxy: HttpProxy, code: string): ProxyError {
  const short = code.replace(/^UND_ERR_/, '')
  const [, state, transient] = failures.find(([pattern]) => pattern.test(short)) ?? anyFailure
  return new ProxyError(`${describeProxy(proxy)} ${state} (${short})`, {
    hint: `Check ${proxy.variable} and the proxy, or add the host of the request to NO_PROXY to go there directly`,
    transient,
  })
}

const anyFailure = [/(?:)/, 'cannot be reached', true] as const

const failures: readonly (readonly [RegExp, string, boolean])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'has a host name that cannot be resolved', true],
  [/TIMEOUT|^ETIMEDOUT$/, 'did not answer in time', true],
  [/CERT|SELF_SIGNED|UNABLE_TO_|TLS|SSL|^EPROTO$/, 'cannot be reached securely', false],
  [/^(SOCKET|PRX_CONN|ECONNRESET|EPIPE|ERR_PROXY_TUNNEL)$/, 'closed the connection', true],
  [/^HPE_|^HTTPParserError$/, 'does not answer as a proxy does', false],
]
