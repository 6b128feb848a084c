import { once } from 'node:events'
import { listFolders } from '../../archive/archive.ts'
import type { Config, Environment } from '../../config/config.ts'
import { parseDuration } from '../../config/duration.ts'
import { isListenAddress } from '../../config/fields.ts'
import type { ConfigNeed } from '../../config/load.ts'
import { DashkeepError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { openArchive, openEncryption, scanLimitsOf } from '../../open.ts'
import { readCopy } from '../../run/copy-status.ts'
import { exitCodeOfInterruption } from '../../run/exit-codes.ts'
import { exportLive } from '../../run/live-snapshot.ts'
import { findOwner } from '../../run/owners.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { ServiceReader } from '../../web/compare/live.ts'
import type { LibraryOptions } from '../../web/library-options.ts'
import { createDesk } from '../../web/restore/desk.ts'
import { startWeb, type UserProxy } from '../../web/server.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { createColors } from '../print/colors.ts'
import { formatDifferences } from '../print/format-diff.ts'
import { describeAbsence } from '../print/nothing-proven.ts'
import { configuredName } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'
import { compareSubAccounts } from './accounts-coverage.ts'
import { manage } from './management.ts'

interface WebVerbOptions extends CommonOptions {
  readonly listen: string
  readonly behindProxy?: string
  readonly userHeader?: string
  readonly maxAge?: string
  readonly maxProofAge?: string
  readonly allowRestore?: boolean
}

/** How long a page waits for an export of the service. */
const PATIENCE_MS = 8000

/** Differences of one version that a page shows. */
const MAX_DIFFERENCES = 30

/** `dashkeep web`: serves the pages until a signal stops it. */
export async function web(terminal: Terminal, options: WebVerbOptions): Promise<number> {
  const { env, signal, now } = terminal
  const proxy = readProxy(options)
  checkAddress(options.listen, proxy)
  const maxAgeMs = options.maxAge === undefined ? undefined : parseDuration(options.maxAge)
  const { allowRestore = false, maxProofAge } = options
  const needs: ConfigNeed[] = allowRestore ? ['store', 'accounts'] : ['store']
  const context = await createContext({ ...terminal, watched: false }, options, needs)
  const { config, log } = context
  const opener = await openEncryption(config, env)
  await using store = await openArchive(config, { env, log })
  const colors = createColors(false)
  const library = {
    store,
    read: { opener, limits: scanLimitsOf(config), signal },
    configured: config.accounts,
    nameOf: (accountId: number, recorded?: string) => configuredName(config, accountId, recorded),
    describe: (diff: Parameters<typeof formatDifferences>[0]) =>
      formatDifferences(diff, { colors, limit: MAX_DIFFERENCES }),
    maxAgeMs,
    maxProofAgeMs: maxProofAge === undefined ? undefined : parseDuration(maxProofAge),
    ...askingCoverage(terminal, context, maxAgeMs),
    copies: config.copies.map((copy) => ({
      name: copy.name,
      url: copy.url,
      read: () =>
        readCopy(copy, { source: store, config }, { now: now(), maxAgeMs, env, log, signal }),
    })),
    now,
    service: readService(config, { env, log, now }),
  }
  const desk = allowRestore ? createDesk({ config, env, log, now, store }) : undefined
  await using server = await startWeb(library, { listen: options.listen, proxy, desk, log })
  announce(terminal, server.address, { proxy, allowRestore })
  void warnOfEmptyStore(store, log, signal)
  if (!signal.aborted) await once(signal, 'abort')
  return exitCodeOfInterruption(signal)
}

/** Logs what is wrong with the store, before somebody opens a page. The pages are served in any case. */
async function warnOfEmptyStore(
  store: ObjectStore,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const { complete } of listFolders(store, { signal })) if (complete) return
    log.warn(describeAbsence(store.url, 'snapshot', undefined))
  } catch (error) {
    if (!signal.aborted) log.warn({ reason: (error as Error).message }, 'cannot read the archive')
  }
}

/** Reads the present objects of configured accounts for the pages. */
function readService(
  config: Config,
  options: { env: Environment; log: Logger; now: () => Date },
): ServiceReader {
  return {
    patienceMs: PATIENCE_MS,
    has: (account) => findOwner(config, account) !== undefined,
    async export(account, { types, signal }) {
      const owner = findOwner(config, account)
      if (owner === undefined) throw new Error(`no token for account ${account.id}`)
      return exportLive(owner, config, { ...options, accountId: account.id, types, signal })
    },
  }
}

/** How the pages ask which sub accounts have backups; nothing when no main account is managed. */
function askingCoverage(
  terminal: Terminal,
  context: Context,
  maxAgeMs = Number.POSITIVE_INFINITY,
): Pick<LibraryOptions, 'askCoverage'> {
  const { management } = context.config
  if (management === undefined) return {}
  return {
    async askCoverage(backups) {
      await using managing = await manage(terminal, context, management)
      const known = { readKnown: async () => backups, maxAgeMs }
      return await compareSubAccounts(terminal, managing, known)
    },
  }
}

function announce(
  terminal: Terminal,
  address: string,
  { proxy, allowRestore }: { proxy: UserProxy | undefined; allowRestore: boolean },
): void {
  if (terminal.json) terminal.printJson({ address })
  else if (proxy) terminal.print(`The pages are served at ${address} until you press Ctrl-C`)
  else {
    terminal.print('Open this address in a browser. It works once:')
    terminal.print(`  ${terminal.colors.bold(address)}`)
    const mode = allowRestore ? 'The pages can restore objects' : 'The pages are read only'
    terminal.print(`${mode}, and are served until you press Ctrl-C.`)
  }
}

function readProxy({ behindProxy, userHeader }: WebVerbOptions): UserProxy | undefined {
  if (behindProxy === undefined && userHeader === undefined) return undefined
  if (behindProxy === undefined || userHeader === undefined) {
    throw usage(
      `Cannot serve behind a proxy: ${behindProxy === undefined ? '--behind-proxy' : '--user-header'} is missing`,
      'give both, such as --behind-proxy https://dashkeep.example.com --user-header X-Forwarded-User',
    )
  }
  const origin = URL.parse(behindProxy)
  const isOrigin = origin?.origin === behindProxy.replace(/\/$/, '').toLowerCase()
  if (origin === null || !isOrigin || !/^https?:$/.test(origin.protocol)) {
    throw usage(
      `Cannot use --behind-proxy ${behindProxy}: it is not an origin`,
      'give scheme and host alone, such as https://dashkeep.example.com',
    )
  }
  if (!/^[\w-]+$/.test(userHeader)) {
    throw usage(
      `Cannot use --user-header ${userHeader}: it is not the name of a header`,
      'use a name such as X-Forwarded-User',
    )
  }
  if (ownHeaders.test(userHeader)) {
    throw usage(
      `Cannot use --user-header ${userHeader}: browsers or connections set this header`,
      'use a header that only the proxy sets, such as X-Forwarded-User',
    )
  }
  return { origin, userHeader }
}

/** Headers that describe the request itself. Their values name no user. */
const ownHeaders =
  /^(host|cookie|origin|authorization|referer|user-agent|date|expect|range|from|via|te|trailer|upgrade|connection|keep-alive|transfer-encoding|cache-control|pragma|x-requested-with|x-real-ip|(x-)?forwarded(-(for|host|port|proto|scheme|server|prefix|uri))?|(sec|content|accept|if|proxy|access-control)(-.*)?)$/i

function checkAddress(listen: string, proxy: UserProxy | undefined): void {
  if (!isListenAddress(listen)) {
    throw usage(
      `Cannot listen on ${listen}: it is not host:port`,
      'use an address such as 127.0.0.1:5338',
    )
  }
  if (proxy !== undefined || /^127\.0\.0\.1:\d+$/.test(listen)) return
  throw usage(
    `Cannot listen on ${listen}: without a proxy that authenticates users, only 127.0.0.1 is allowed`,
    'use --listen 127.0.0.1:5338, or add --behind-proxy and --user-header',
  )
}

function usage(message: string, hint: string): DashkeepError {
  return new DashkeepError(message, { kind: 'usage', hint })
}
