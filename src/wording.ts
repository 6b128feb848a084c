// Tested by test/e2e/finding.test.ts

/** Formats a time in UTC, such as `2026-11-20 16:31:00`. */
export function formatTime(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ')
}

/** Formats the approximate age of a time, such as `3 days ago`. */
export function formatAge(time: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - time.getTime()) / 1000)
  if (seconds < 0) return 'in the future'
  const steps: [number, string][] = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]
  for (const [length, unit] of steps) {
    const value = Math.floor(seconds / length)
    if (value >= 1) return `${value} ${unit}${value === 1 ? '' : 's'} ago`
  }
  return 'just now'
}

/** Formats a number with a noun, such as `1 object` or `2 objects`. */
export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Formats a size, such as `1.2 MB`, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
