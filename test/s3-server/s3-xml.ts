/** What the server sends back. */
export interface S3Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export function answerXml(root: string, content: string, status = 200): S3Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, content)}`
  return { status, headers: { 'Content-Type': 'application/xml' }, body }
}

export function answerError(status: number, code: string, more = ''): S3Answer {
  return answerXml(
    'Error',
    element('Code', code) + element('Message', `It is ${code}`) + more,
    status,
  )
}

export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

export function unescapeXml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, hex === '' ? 10 : 16)),
    )
    .replaceAll('&amp;', '&')
}
