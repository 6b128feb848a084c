import { BlockList, isIP } from 'node:net'

/** An HTTP proxy. */
export interface HttpProxy {
  /** Its address, with user and password. Never shown in messages. */
  readonly url: URL
  /** Host and port, as messages show them. */
  readonly name: string
  /** The environment variable that the address comes from. */
  readonly variable: string
}

/** Returns the proxy for an address; `undefined` for a direct connection. */
export type FindProxy = (address: URL) => HttpProxy | undefined

/** Describes a proxy in messages, without user and password. */
export function describeProxy({ name, variable }: HttpProxy): string {
  return `the proxy ${name} (${variable})`
}

/** Uses no proxy for any address. */
export const noProxy: FindProxy = () => undefined

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy`, in lower or upper case. The rules are curl's:
 * lower case takes precedence, and an empty variable counts as unset. As in Go, loopback addresses
 * never use a proxy. An invalid variable is added to `problems`, without its value, which may contain
 * a password.
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
      `${variable}: expected the http:// or https:// address of a proxy, such as http://proxy.example.com:3128; write % in a user or password as %25`,
    )
    return undefined
  }
  return { url, name: `${url.hostname}:${portOf(url)}`, variable }
}

/** Returns undefined for an invalid percent-encoding. An object, because the bundler drops unused results. */
function decode(text: string): { text: string } | undefined {
  try {
    return { text: decodeURIComponent(text) }
  } catch {
    return undefined
  }
}

interface Target {
  /** In lower case, without IPv6 brackets and without a final dot. */
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
 * Whether an entry of `no_proxy` covers a host. An entry is `*`, a host, a domain (`example.com` or
 * `.example.com`; `*.example.com` covers only its subdomains), an IP address, or a network such as
 * `10.0.0.0/8`. If a host or domain has a port, the port must be equal.
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
 * The proxy did not connect to the server, so nothing was sent to the server. The message is the
 * state in "Cannot …: <state>". It contains the proxy and its variable.
 */
export class ProxyError extends Error {
  readonly hint: string
  /** Whether a later attempt may succeed. */
  readonly transient: boolean

  constructor(message: string, { hint, transient }: { hint: string; transient: boolean }) {
    super(message)
    this.name = 'ProxyError'
    this.hint = hint
    this.transient = transient
  }
}

/** Explains the status of a proxy that did not connect to a server. */
export function proxyRefusal(
  proxy: HttpProxy,
  { status, target }: { status: number; target: string },
): ProxyError {
  const { name, variable } = proxy
  const subject = describeProxy(proxy)
  // Some proxies answer 401 to a wrong password.
  if (status === 407 || status === 401) {
    const state = `requires another user or password (status ${status})`
    return new ProxyError(`${subject} ${state}`, {
      hint: `set ${variable} with user and password, such as http://user:password@${name}`,
      transient: false,
    })
  }
  const transient = status === 429 || status >= 500
  const state = transient ? 'cannot connect to' : 'refuses to connect to'
  return new ProxyError(`${subject} ${state} ${target} (status ${status})`, {
    hint: 'check the address, allow it in the proxy, or add the host to NO_PROXY for a direct connection; the log of the proxy has the reason',
    transient,
  })
}

/** Explains an error of the connection to a proxy by its code, such as `ECONNREFUSED`. */
export function proxyFailure(proxy: HttpProxy, code: string): ProxyError {
  const short = code.replace(/^UND_ERR_/, '')
  const [, state, transient] = failures.find(([pattern]) => pattern.test(short)) ?? anyFailure
  return new ProxyError(`${describeProxy(proxy)} ${state} (${short})`, {
    hint: `check ${proxy.variable} and the proxy, or add the host of the request to NO_PROXY for a direct connection`,
    transient,
  })
}

const anyFailure = [/(?:)/, 'cannot be reached', true] as const

const failures: readonly (readonly [RegExp, string, boolean])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'has a host name that cannot be resolved', true],
  [/TIMEOUT|^ETIMEDOUT$/, 'did not answer in time', true],
  [/CERT|SELF_SIGNED|UNABLE_TO_|TLS|SSL|^EPROTO$/, 'cannot be reached securely', false],
  [/^(SOCKET|PRX_CONN|ECONNRESET|EPIPE|ERR_PROXY_TUNNEL)$/, 'closed the connection', true],
  [/^HPE_|^HTTPParserError$/, 'is not an HTTP proxy', false],
]
