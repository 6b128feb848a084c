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

/** A running service of one's own. */
export interface Sandbox extends AsyncDisposable {
  /** Base address, without the path prefix. */
  readonly url: string
  readonly port: number
  /** Stands before every path but whoami's; empty in the specified form. */
  readonly pathPrefix: string
  /** Every account, sub accounts included. */
  accounts(): StoredAccount[]
  /** API tokens of an account, oldest first. */
  tokens(accountId: number): string[]
  /** Gives an account one more API token; the service itself has no way to. */
  issueToken(accountId: number): string
  /** Gives an account the objects of one type: a document, kept byte for byte, or its hits. */
  setObjects(accountId: number, type: string, objects: ExportDocument | Hits): void
  /** The export document of an account and type, as an export would begin with. */
  objects(accountId: number, type: string): Uint8Array
  readonly faults: Pick<FaultList, 'add' | 'clear' | 'pending'>
  /** The newest requests received, oldest of them first. */
  requests(): RecordedRequest[]
  /** Forgets the recorded requests and the high-water marks. */
  clearRequests(): void
  /** The most requests of an account that were under way at once. */
  highWater(accountId: number): number
  /** Cuts every connection and stops listening. */
  close(): Promise<void>
}

/**
 * Starts the service of the specification on this machine, with an admin interface under
 * `/_sandbox`. Without accounts it begins with the sample account. Throws a `usage` error for
 * options that cannot be followed.
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
    EACCES: `port ${port} is not for this user`,
    EADDRNOTAVAIL: `${host} is no address of this machine`,
    ENOTFOUND: `${host} is no address of this machine`,
    ERR_SOCKET_BAD_PORT: `the port ${port} is larger than 65535`,
  }
  const state = states[code ?? ''] ?? (error instanceof Error ? error.message : String(error))
  return new DashkeepError(`Cannot start the sandbox: ${state}`, {
    kind: 'usage',
    hint: 'leave the port out to get a free one, and the host out to listen on 127.0.0.1',
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
