import { type AgentOptions, type ClientRequest, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler'
import { DashkeepError } from '../../errors.ts'
import {
  describeProxy,
  type FindProxy,
  type HttpProxy,
  proxyFailure,
  proxyRefusal,
} from '../../http/proxy.ts'
import { hasProxyAgents } from '../../node-version.ts'
import { UnexpectedAnswer } from './errors.ts'

type Request = Parameters<NodeHttpHandler['handle']>[0]

/** Sends the requests of an S3 client, and those of the SDK for its credentials. */
interface Handler {
  readonly requestHandler: NonNullable<S3ClientConfig['requestHandler']>
  /** The proxy of the last request; `undefined` for a direct request. */
  proxyInUse(): HttpProxy | undefined
}

/** Limits of the requests, and how connections are made. */
interface HandlerOptions extends Omit<NodeHttpHandlerOptions, 'httpAgent' | 'httpsAgent'> {
  readonly httpAgent: AgentOptions
  readonly httpsAgent: HttpsAgentOptions
}

/** Sends each request directly or through a proxy, as `findProxy` decides for its address. */
export function createHandler(options: HandlerOptions, findProxy: FindProxy): Handler {
  const direct = new NodeHttpHandler(withProxy(options, undefined))
  const proxied = new Map<HttpProxy, NodeHttpHandler>()
  let inUse: HttpProxy | undefined

  function through(proxy: HttpProxy): NodeHttpHandler {
    if (!hasProxyAgents(process.versions.node)) throw needsNewerNode(proxy)
    const handler = proxied.get(proxy) ?? new NodeHttpHandler(withProxy(options, proxy))
    proxied.set(proxy, handler)
    return handler
  }

  const handle: NodeHttpHandler['handle'] = async (request, how) => {
    const target = addressOf(request)
    inUse = findProxy(target)
    if (inUse === undefined) return direct.handle(request, how)
    const proxy = inUse
    const answer = await through(proxy)
      .handle(request, how)
      .catch((error: ConnectionError) => {
        throw explain(error, { proxy, target: target.host }) ?? error
      })
    if (answer.response.statusCode !== 407) return answer
    answer.response.body.destroy()
    throw proxyRefusal(proxy, { status: 407, target: target.host })
  }

  return {
    proxyInUse: () => inUse,
    requestHandler: {
      metadata: direct.metadata,
      handle,
      updateHttpClientConfig: (key, value) => {
        for (const handler of [direct, ...proxied.values()]) {
          handler.updateHttpClientConfig(key, value)
        }
      },
      httpHandlerConfigs: () => direct.httpHandlerConfigs(),
      destroy: () => {
        for (const handler of [direct, ...proxied.values()]) handler.destroy()
      },
    },
  }
}

function needsNewerNode(proxy: HttpProxy): DashkeepError {
  return new DashkeepError(
    `Cannot reach the store through ${describeProxy(proxy)}: Node ${process.versions.node} has no support for it`,
    { kind: 'usage', hint: 'use Node 24.5 or newer, or name the store in NO_PROXY' },
  )
}

/** Configures Node's agents with this proxy only. `findProxy` has already applied the exceptions. */
function withProxy(options: HandlerOptions, proxy: HttpProxy | undefined): NodeHttpHandlerOptions {
  const proxyEnv = proxy ? { HTTP_PROXY: proxy.url.href, HTTPS_PROXY: proxy.url.href } : {}
  return {
    ...options,
    httpAgent: refuseUpgrades(new HttpAgent({ ...options.httpAgent, proxyEnv } as AgentOptions)),
    httpsAgent: refuseUpgrades(new HttpsAgent({ ...options.httpsAgent, proxyEnv } as AgentOptions)),
  }
}

/**
 * Ends a request with answer 101. Node closes the connection without an event for the SDK, so the request
 * would wait for its timeout.
 */
function refuseUpgrades<Agent extends HttpAgent>(agent: Agent): Agent {
  const { addRequest } = agent as unknown as WithRequests
  const watched: WithRequests = {
    addRequest(request, ...rest) {
      request.once('upgrade', (_answer, socket) => {
        socket.destroy()
        request.emit('error', new UnexpectedAnswer('the answer is 101'))
      })
      addRequest.call(agent, request, ...rest)
    },
  }
  return Object.assign(agent, watched)
}

/** The undocumented method by which Node's agents receive requests. */
interface WithRequests {
  addRequest(request: ClientRequest, ...rest: unknown[]): void
}

function addressOf({ protocol, hostname, port }: Request): URL {
  return new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`)
}

/** A failed connection, as Node's agents and the SDK report it. */
type ConnectionError = NodeJS.ErrnoException & {
  readonly statusCode?: number
  readonly proxyTunnelTimeout?: number
}

function explain(error: ConnectionError, { proxy, target }: { proxy: HttpProxy; target: string }) {
  const { name, code = name, syscall, message, statusCode, proxyTunnelTimeout } = error
  if (code === 'ERR_PROXY_TUNNEL') {
    if (statusCode !== undefined) return proxyRefusal(proxy, { status: statusCode, target })
    return proxyFailure(proxy, proxyTunnelTimeout === undefined ? code : 'TIMEOUT')
  }
  if (syscall === 'connect' || syscall === 'getaddrinfo') return proxyFailure(proxy, code)
  // The SDK has one name for all timeouts. The text tells the timeout for connecting or the tunnel.
  const isOfConnecting = name === 'TimeoutError' && message.includes('did not establish')
  return isOfConnecting ? proxyFailure(proxy, 'TIMEOUT') : undefined
}
