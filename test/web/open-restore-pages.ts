import { loadConfig } from '../../src/config/load.ts'
import { openEncryption } from '../../src/open.ts'
import { backupAccount } from '../../src/run/back-up.ts'
import type { AccountSeed, SandboxOptions } from '../../src/sandbox/options.ts'
import { sampleAccount, sampleApiToken } from '../../src/sandbox/sample-account.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import type { LibraryOptions } from '../../src/web/library-options.ts'
import { createDesk, type RestoreDesk } from '../../src/web/restore/desk.ts'
import type { Access } from '../../src/web/security.ts'
import { createMemoryStore } from '../archive/memory-store.ts'
import { keepLog, openApp } from './open-app.ts'
import { libraryOptions } from './open-pages.ts'

const now = () => new Date(Date.UTC(2026, 10, 22, 12))

/** A service with one account, its archive with one snapshot, and the pages that restore. */
export async function openRestorePages({
  account = {},
  access = { kind: 'token', port: 5338 },
  isAllowed = true,
  wrapDesk = (desk) => desk,
  sandbox: sandboxOptions = {},
  variables = {},
  limits = {},
  library: changed = {},
}: {
  account?: Partial<AccountSeed>
  access?: Access
  isAllowed?: boolean
  wrapDesk?: (desk: RestoreDesk) => RestoreDesk
  sandbox?: SandboxOptions
  variables?: Record<string, string>
  limits?: { maxImportBytes?: number }
  library?: Partial<LibraryOptions>
} = {}) {
  const stack = new AsyncDisposableStack()
  const accounts = [{ ...sampleAccount(), ...account }]
  const sandbox = stack.use(
    await startSandbox({ extraOperations: true, now, accounts, ...sandboxOptions }),
  )
  const env = { DASHKEEP_BASE_URL: sandbox.url, DASHKEEP_API_TOKEN: sampleApiToken, ...variables }
  const loaded = await loadConfig(env, {}, ['accounts'])
  const config = {
    ...loaded,
    limits: { ...loaded.limits, retryBaseMs: 1, attempts: 2, ...limits },
  }
  const { log, logged } = await keepLog()
  const store = createMemoryStore()
  const backUp = async () => {
    const [own] = config.accounts
    if (own === undefined) throw new Error('no account')
    const { taken, error } = await backupAccount(own, config, store, { env, log, now })
    if (taken === undefined) throw error
    return taken.manifest
  }
  const manifest = await backUp()
  const stop = new AbortController()
  const opener = await openEncryption(config, env)
  const library: LibraryOptions = {
    ...libraryOptions(store, now().getUTCDate()),
    read: { signal: stop.signal, opener },
    nameOf: (_id, recorded) => (recorded === 'default' ? undefined : recorded),
    describe: ({ differences }) => differences.map(({ kind, path }) => `${kind} ${path.join('.')}`),
    ...changed,
  }
  const desk = isAllowed ? wrapDesk(createDesk({ config, env, log, now, store })) : undefined
  const pages = await openApp(library, { access, log, desk })
  const origin = access.kind === 'token' ? `http://127.0.0.1:${access.port}` : access.origin.origin
  const postHeaders = {
    ...pages.own,
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const path = `/accounts/${manifest.account.id}/snapshots/${manifest.snapshot}`
  return {
    ...pages,
    sandbox,
    store,
    manifest,
    logged,
    stop,
    origin,
    postHeaders,
    /** The address of the snapshot. */
    path,
    backUp,
    /** Posts fields as the browser does. */
    async post(address: string, fields: URLSearchParams, headers: Record<string, string> = {}) {
      const request = { method: 'POST', body: String(fields) }
      const answer = await pages.send(address, { ...postHeaders, ...headers }, request)
      const location = answer.headers.get('location') ?? ''
      return { status: answer.status, text: await answer.text(), location, answer }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export type RestorePages = Awaited<ReturnType<typeof openRestorePages>>

/** The fields of the form that is posted to an address, with the values that the page gives them. */
export function formOf(text: string, action: string | RegExp): URLSearchParams {
  const forms = [...text.matchAll(/<form method="post" action="([^"]*)"[\s\S]*?<\/form>/g)]
  const found = forms.find(([, target = '']) =>
    typeof action === 'string' ? target === action : action.test(target),
  )
  if (found === undefined) throw new Error(`no form for ${action}`)
  const fields = new URLSearchParams()
  for (const [, name = '', value = ''] of found[0].matchAll(
    /<input type="hidden" name="([^"]*)" value="([^"]*)">/g,
  )) {
    fields.append(name, unescapeMarkup(value))
  }
  return fields
}

/** The text that markup stands for. */
export function unescapeMarkup(text: string): string {
  const entities: Record<string, string> = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&amp;': '&',
  }
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity)
}
