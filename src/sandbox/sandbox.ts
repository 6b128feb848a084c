import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { DashkeepError } from '../errors.ts'
import type { Service } from './http/exchange.ts'
import { exportOf } from './http/exports.ts'
import { createFaultList, type FaultList } from './http/faults.ts'
import { createRecorder, type RecordedRequest } from './http/recorder.ts'
import { createRoutes } from './http/routes.ts'
import { knownAccount, putObjects } from './objects/put-objects.ts'
import { seedAccounts } from './objects/seeds.ts'
import {
  type ExportDocument,
  type Hits,
  type ResolvedOptions,
  resolveOptions,
  type SandboxOptions,
} from './options.ts'
import { sampleAccount } from './sample-account.ts'
import { createListLag } from './state/list-lag.ts'
import { openState, type State, type StoredAccount } from './state/state.ts'

/** A running sandbox. */
export interface Sandbox extends AsyncDisposable {
  /** Base address, without the path prefix. */
  readonly url: string
  readonly port: number
  /** Prefix of every path except `/v2/whoami`; empty in the specified form. */
  readonly pathPrefix: string
  /** All accounts, including sub accounts. */
  accounts(): StoredAccount[]
  /** API tokens of an account, oldest first. */
  tokens(accountId: number): string[]
  /** Adds an API token to an account. The service has no such operation. */
  issueToken(accountId: number): string
  /** Sets the objects of one type: a document, kept byte for byte, or its hits. */
  setObjects(accountId: number, type: string, objects: ExportDocument | Hits): void
  /** The export document of an account and type. */
  objects(accountId: number, type: string): Uint8Array
  readonly faults: Pick<FaultList, 'add' | 'clear' | 'pending'>
  /** The most recent requests, oldest first. */
  requests(): RecordedRequest[]
  /** Clears the recorded requests and the high-water marks. */
  clearRequests(): void
  /** Highest number of concurrent requests of an account. */
  highWater(accountId: number): number
  /** Closes every connection and stops listening. */
  close(): Promise<void>
}

/**
 * Starts the service of the specification on this machine, with an admin interface under
 * `/_sandbox`. Without accounts, it has the sample account. Throws a `usage` error for invalid
 * options.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const resolved = resolveOptions(options)
  const service = createService(resolved, openState(options.database))
  try {
    const { region, exports } = resolved
    const accounts = options.accounts ?? [sampleAccount()]
    await seedAccounts(service.state, accounts, { region, types: exports.types })
    for (const fault of options.faults ?? []) service.faults.add(fault)
    const server = await listen(service)
    return asSandbox(service, server)
  } catch (error) {
    service.state.close()
    throw error
  }
}

function createService(options: ResolvedOptions, state: State): Service {
  const turns = new Map<string, number>()
  return {
    options,
    state,
    faults: createFaultList(),
    recorder: createRecorder(),
    lag: createListLag(options.behaviour.staleLists),
    nextTurn(account, type) {
      const key = `${account} ${type}`
      const turn = turns.get(key) ?? 0
      turns.set(key, turn + 1)
      return turn
    },
  }
}

async function listen(service: Service): Promise<Server> {
  const { host, port } = service.options
  const routes = createRoutes(service)
  const server = createAdaptorServer({
    fetch: routes.fetch,
    overrideGlobalObjects: false,
  }) as Server
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    return server
  } catch (error) {
    throw cannotListen(error, host, port)
  }
}

function cannotListen(error: unknown, host: string, port: number): DashkeepError {
  const code = (error as NodeJS.ErrnoException).code
  const states: Record<string, string> = {
    EADDRINUSE: `port ${port} is in use`,
    EACCES: `this user may not listen on port ${port}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
    ENOTFOUND: `${host} is not an address of this machine`,
    ERR_SOCKET_BAD_PORT: `the port ${port} is larger than 65535`,
  }
  const state = states[code ?? ''] ?? (error instanceof Error ? error.message : String(error))
  return new DashkeepError(`Cannot start the sandbox: ${state}`, {
    kind: 'usage',
    hint: 'omit the port to get a free one, and the host to listen on 127.0.0.1',
    cause: error,
  })
}

function asSandbox(service: Service, server: Server): Sandbox {
  const { state, faults, recorder, options } = service
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= stop(server).then(() => state.close())
    return closing
  }
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    pathPrefix: options.behaviour.pathPrefix,
    accounts: () => state.accounts(),
    tokens: (accountId) => state.tokensOf(accountId),
    issueToken: (accountId) => state.addToken(knownAccount(state, accountId).accountId),
    setObjects: (accountId, type, given) => putObjects(service, accountId, { type, given }),
    objects(accountId, type) {
      const plain = { type, turn: 0, shuffle: undefined, kibanaVersionLast: false }
      return Buffer.concat([...exportOf(state, knownAccount(state, accountId), plain).chunks])
    },
    faults: { add: faults.add, clear: faults.clear, pending: faults.pending },
    requests: recorder.requests,
    clearRequests: recorder.clear,
    highWater: recorder.highWater,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
