const hourMs = 3600_000
const dayMs = 24 * hourMs

/** The clock changes of 2026 of a time zone, written down by hand. Offsets are in hours. */
const zones = {
  'Europe/Berlin': {
    standard: 1,
    summer: 2,
    begins: Date.parse('2026-03-29T01:00:00Z'),
    ends: Date.parse('2026-10-25T01:00:00Z'),
  },
  'America/New_York': {
    standard: -5,
    summer: -4,
    begins: Date.parse('2026-03-08T07:00:00Z'),
    ends: Date.parse('2026-11-01T06:00:00Z'),
  },
  'Asia/Tokyo': { standard: 9, summer: 9, begins: 0, ends: 0 },
} as const

export type ZoneName = keyof typeof zones
export const zoneNames = Object.keys(zones) as ZoneName[]

/** When the clocks of the zone show half past each of these hours on each day of 2026, as instants. */
export function halfPast(zoneName: ZoneName, hours: readonly number[]): Date[] {
  const zone = zones[zoneName]
  const offsetAt = (instant: number) =>
    instant >= zone.begins && instant < zone.ends ? zone.summer : zone.standard
  const instants = Array.from({ length: 365 }, (_, day) => day).flatMap((day) =>
    hours.map((hour) => {
      const shown = Date.UTC(2026, 0, 1) + day * dayMs + (hour + 0.5) * hourMs
      const times = [zone.summer, zone.standard]
        .map((offset) => ({ offset, instant: shown - offset * hourMs }))
        .filter(({ offset, instant }) => offsetAt(instant) === offset)
      // The first of two such times; in the skipped hour, the time an hour later.
      return times[0]?.instant ?? shown - zone.standard * hourMs
    }),
  )
  return instants.toSorted((a, b) => a - b).map((instant) => new Date(instant))
}
