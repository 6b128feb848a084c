import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { cleanLine } from '../clean-text.ts'

/** Who may read the pages, and under which addresses. */
export type Access =
  /** A browser on this machine that has exchanged the one-time token for a cookie. */
  | { readonly kind: 'token'; readonly port: number }
  /** A user whom a proxy has authenticated and names in a header. */
  | { readonly kind: 'proxy'; readonly origin: URL; readonly userHeader: string }

/** The headers of every answer. */
export const answerHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Sets the headers of every answer: nothing is loaded from elsewhere, framed, kept or sniffed. */
export const secureHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value)
}

/** Whether the `Host` of a request is one of this server. A page of another name may not read it. */
export function isOwnHost(access: Access, host: string | undefined): boolean {
  if (host === undefined) return false
  if (access.kind === 'proxy') return host.toLowerCase() === access.origin.host
  return [`127.0.0.1:${access.port}`, `localhost:${access.port}`].includes(host.toLowerCase())
}

/** Lets readers in. */
export interface Gate {
  /** The one-time token; undefined behind a proxy. */
  readonly token: string | undefined
  /** Exchanges the one-time token for a cookie. Returns false for a wrong token and for a second use. */
  exchange(context: Context, token: string): boolean
  /** Says who sends the request; undefined when nobody is let in. */
  userOf(context: Context): string | undefined
}

/** Creates the gate of a server. Token and cookie are random and live as long as the process. */
export function createGate(access: Access): Gate {
  if (access.kind === 'proxy') {
    const userOf = (context: Context) => readUser(context, access.userHeader)
    return { token: undefined, exchange: () => false, userOf }
  }
  const [token, session] = [createSecret(), createSecret()]
  // Cookies of 127.0.0.1 are shared by all its ports.
  const cookie = `dashkeep-${access.port}`
  let used = false
  return {
    token,
    exchange(context, given) {
      if (used || !isSame(given, token)) return false
      used = true
      setCookie(context, cookie, session, { httpOnly: true, sameSite: 'Strict', path: '/' })
      return true
    },
    userOf: (context) =>
      isSame(getCookie(context, cookie) ?? '', session) ? 'this browser' : undefined,
  }
}

function readUser(context: Context, header: string): string | undefined {
  const user = context.req.header(header)?.trim()
  return user ? cleanLine(user, 100) : undefined
}

function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares in the same time, whatever differs. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
