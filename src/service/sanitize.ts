/** Cleans text for a message: one line, without the token, at most `maxLength` characters. */
export type Sanitize = (text: string, maxLength: number) => string

/**
 * Returns a function that cleans text of the service.
 *
 * Removes invisible characters first, because they could hide the token. Then replaces the token, and
 * shortens the text last, so that no part of the token remains.
 */
export function createSanitizer(token: string): Sanitize {
  const secrets = [token, encodeURIComponent(token), JSON.stringify(token).slice(1, -1)]
  return (text, maxLength) => {
    const visible = text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim()
    const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[token]'), visible)
    return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).trimEnd()}…`
  }
}
