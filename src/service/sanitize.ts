/** Makes text from outside fit for a message: one line, without the token, at most `maxLength` long. */
export type Sanitize = (text: string, maxLength: number) => string

/**
 * Returns a function that cleans text the service sent.
 *
 * The token is replaced before the text is shortened, so that no part of it stays at the cut;
 * invisible characters go before that, so that they cannot hide it.
 */
export function createSanitizer(token: string): Sanitize {
  const secrets = [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1)]
  return (text, maxLength) => {
    const visible = text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim()
    const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[token]'), visible)
    return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).trimEnd()}…`
  }
}
