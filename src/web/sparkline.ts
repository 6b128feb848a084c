import { html } from 'hono/html'
import type { Markup } from './markup.ts'

const WIDTH = 120
const HEIGHT = 24

/** A line of numbers over time, the oldest first, with the same in words. */
export function sparkline(counts: readonly number[]): Markup | undefined {
  const [first, last] = [counts[0], counts.at(-1)]
  if (counts.length < 2 || first === undefined || last === undefined) return undefined
  const [low, high] = [Math.min(...counts), Math.max(...counts)]
  const x = (place: number) => Math.round(2 + (place * (WIDTH - 4)) / (counts.length - 1))
  // Equal counts are a line in the middle.
  const y = (count: number) =>
    high === low
      ? HEIGHT / 2
      : Math.round(HEIGHT - 3 - ((count - low) * (HEIGHT - 6)) / (high - low))
  const points = counts.map((count, place) => `${x(place)},${y(count)}`).join(' ')
  const words = `${first} to ${last} objects over ${counts.length} snapshots, ${low} at the least and ${high} at the most`
  return html`<svg class="sparkline" role="img" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"><title>${words}</title><polyline points="${points}" fill="none" stroke="currentColor" stroke-width="1.5"/><circle cx="${x(counts.length - 1)}" cy="${y(last)}" r="2.5" fill="currentColor"/></svg>`
}
