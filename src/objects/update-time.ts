/** Reads the time of an object's last change: epoch milliseconds or ISO text. Returns ISO text. */
export function readUpdateTime(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const time = new Date(/^\d+$/.test(String(value)) ? Number(value) : value)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
