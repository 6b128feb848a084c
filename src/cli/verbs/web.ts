import { once } from 'node:events'
import { parseDuration } from '../../config/duration.ts'
import { isListenAddress } from '../../config/fields.ts'
import { DashkeepError } from '../../errors.ts'
import { openArchive, openEncryption, scanLimitsOf } from '../../open.ts'
import { exitCodeOfInterruption } from '../../run/exit-codes.ts'
import { startWeb, type UserProxy } from '../../web/server.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { createColors } from '../print/colors.ts'
import { formatDifferences } from '../print/format-diff.ts'
import { configuredName } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'

interface WebVerbOptions extends CommonOptions {
  readonly listen: string
  readonly behindProxy?: string
  readonly userHeader?: string
  readonly maxAge?: string
}

/** Differences of one version that a page shows. */
const MAX_DIFFERENCES = 30

/** `dashkeep web`: serves the pages until it is told to stop. */
export async function web(terminal: Terminal, options: WebVerbOptions): Promise<number> {
  const { env, signal, now } = terminal
  const proxy = readProxy(options)
  checkAddress(options.listen, proxy)
  const maxAgeMs = options.maxAge === undefined ? undefined : parseDuration(options.maxAge)
  const { config, log } = await createContext({ ...terminal, watched: false }, options, ['store'])
  const opener = await openEncryption(config, env)
  const store = await openArchive(config, { env, log })
  try {
    const colors = createColors(false)
    const library = {
      store,
      read: { opener, limits: scanLimitsOf(config), signal },
      configured: config.accounts,
      nameOf: (accountId: number, recorded?: string) => configuredName(config, accountId, recorded),
      describe: (diff: Parameters<typeof formatDifferences>[0]) =>
        formatDifferences(diff, { colors, limit: MAX_DIFFERENCES }),
      maxAgeMs,
      now,
    }
    await using server = await startWeb(library, { listen: options.listen, proxy, log })
    announce(terminal, server.address, proxy)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await store.close()
  }
  return exitCodeOfInterruption(signal)
}

function announce(terminal: Terminal, address: string, proxy: UserProxy | undefined): void {
  if (terminal.json) terminal.printJson({ address })
  else if (proxy) terminal.print(`The pages are served at ${address} until you press Ctrl-C`)
  else {
    terminal.print('Open this address in a browser. It works once:')
    terminal.print(`  ${terminal.colors.bold(address)}`)
    terminal.print('The pages are read only, and are served until you press Ctrl-C.')
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
  return { origin, userHeader }
}

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
