import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'

/** Who may read the pages, and under which addresses. */
export type Access =
  /** A browser on this machine that has exchanged the one-time token for a cookie. */
  | { readonly kind: 'token'; readonly port: number }
  /** A user whom a proxy has authenticated and names in a header. */
  | { readonly kind: 'proxy'; readonly origin: URL; readonly userHeader: string }

/** The headers of every answer. */
export const answerHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Sets the headers of every answer: nothing is loaded from elsewhere, framed, kept or sniffed. */
export const secureHeaders: MiddlewareHandler = async (context, next) => {
  // Before the answer exists: afterwards, hono would copy the answer for each header.
  for (const [name, value] of Object.entries(answerHeaders)) context.header(name, value)
  await next()
}

/** Whether the `Host` of a request is one of this server. A page of another name may not read it. */
export function isOwnHost(access: Access, host: string | undefined): boolean {
  if (host === undefined) return false
  if (access.kind === 'proxy') return host.toLowerCase() === access.origin.host
  return [`127.0.0.1:${access.port}`, `localhost:${access.port}`].includes(host.toLowerCase())
}

/** The origin of the server's own pages, for a request whose `Host` is its own. */
export function ownOrigin(access: Access, host: string): string {
  return access.kind === 'proxy' ? access.origin.origin : `http://${host.toLowerCase()}`
}

/** Who sends a request, or why access is refused. */
export type Reader =
  | { readonly user: string }
  | { readonly refusal: 'not signed in' | 'several names' | 'name too long' }

/** Characters of the name of a user. Longer names are refused. */
export const MAX_USER = 256

/** Decides who has access to the pages. */
export interface Gate {
  /** The one-time token; undefined behind a proxy. */
  readonly token: string | undefined
  /** Exchanges the one-time token for a cookie. Returns false for a wrong token and for a second use. */
  exchange(context: Context, token: string): boolean
  /** Returns who sends the request, or why access is refused. */
  readerOf(context: Context): Reader
  /** What every form of a user contains, so that no other page can post it. */
  formTokenOf(user: string): string
}

/** Creates the gate of a server. Token and cookie are random and live as long as the process. */
export function createGate(access: Access): Gate {
  const formSecret = createSecret()
  const formTokenOf = (user: string) =>
    createHmac('sha256', formSecret).update(user).digest('base64url')
  if (access.kind === 'proxy') {
    const readerOf = (context: Context) => readUser(context, access.userHeader)
    return { token: undefined, exchange: () => false, readerOf, formTokenOf }
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
    readerOf: (context) =>
      isSame(getCookie(context, cookie) ?? '', session)
        ? { user: 'this browser' }
        : { refusal: 'not signed in' },
    formTokenOf,
  }
}

function readUser(context: Context, header: string): Reader {
  const user = context.req.header(header)?.trim() ?? ''
  if (user === '') return { refusal: 'not signed in' }
  // Several headers are joined to one value: a name that the browser sent could be a part of it.
  const incoming = (context.env as Partial<HttpBindings> | undefined)?.incoming
  const given = incoming?.headersDistinct[header.toLowerCase()] ?? []
  if (given.length > 1) return { refusal: 'several names' }
  return user.length > MAX_USER ? { refusal: 'name too long' } : { user }
}

function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares in the same time, whatever differs. */
export function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
