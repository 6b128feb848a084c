import type { TakeProgress } from '../../archive/take-options.ts'
import { cleanLine } from '../../clean-text.ts'
import { formatBytes, plural } from '../../wording.ts'

/** What a step counts, and the totals if they are known. */
interface StepSize {
  /** What is counted, such as `snapshot`. */
  readonly unit?: string | undefined
  readonly total?: number | undefined
  readonly totalBytes?: number | undefined
  /** Counts this action of the store (see `watchStore`). Without it, the caller counts. */
  readonly counting?: StoreAction | undefined
}

/** An action of a store on one object. */
type StoreAction = 'list' | 'read' | 'remove'

/**
 * A line at the bottom of a terminal: the present step, its counts, rate and duration, and the
 * remaining time if the total is known. Draws nothing when standard error is not a terminal.
 */
export interface Progress {
  /** Starts a step and ends the one before. */
  begin(what: string, size?: StepSize): void
  /** Adds to the count, by default one. */
  advance(by?: number): void
  addBytes(bytes: number): void
  /** Counts an action of the store, if the step counts this action. */
  saw(action: StoreAction): void
  /** Shows a text at the end of the line, such as the present account. */
  note(text: string): void
  /** Hides the line until the next update, so that results can be written. */
  hide(): void
  /** Hides the line while `write` writes log lines, and draws it again below them. */
  around(write: () => void): void
  /** Hides the line until the next step. */
  end(): void
}

/** Where the line is drawn. */
interface ProgressOptions {
  readonly watched: boolean
  readonly draw: (text: string) => void
  /** Columns of the terminal. */
  readonly columns: () => number
}

interface Step extends StepSize {
  readonly what: string
  readonly begunAt: number
  done: number
  bytes: number
  note: string
}

/** Minimum time between two drawings, and the time between two when nothing changes. */
const REDRAW_MS = 100
const TICK_MS = 1000

/** Creates the progress of a command. Draws nothing when nobody watches the terminal. */
export function createProgress({ watched, draw, columns }: ProgressOptions): Progress {
  let step: Step | undefined
  let drawnAt = Number.NEGATIVE_INFINITY
  let isDrawn = false
  let ticks: NodeJS.Timeout | undefined

  const clear = () => {
    if (isDrawn) draw('\r\x1b[K')
    isDrawn = false
  }
  const redraw = () => {
    if (step === undefined) return
    drawnAt = performance.now()
    isDrawn = true
    draw(`\r\x1b[K${fitWidth(describeStep(step, drawnAt - step.begunAt), columns() - 1)}`)
  }
  const change = (apply: (current: Step) => void) => {
    if (step === undefined) return
    apply(step)
    if (performance.now() - drawnAt >= REDRAW_MS) redraw()
  }
  const advance = (by = 1) =>
    change((current) => {
      current.done += by
    })
  return {
    begin(what, size = {}) {
      if (!watched) return
      step = { ...size, what, begunAt: performance.now(), done: 0, bytes: 0, note: '' }
      // The timer must not keep the process alive.
      ticks ??= setInterval(redraw, TICK_MS).unref()
      redraw()
    },
    advance,
    addBytes: (bytes) =>
      change((current) => {
        current.bytes += bytes
      }),
    saw(action) {
      if (step?.counting === action) advance()
    },
    note: (text) =>
      change((current) => {
        current.note = text
      }),
    hide: clear,
    around(write) {
      const wasDrawn = isDrawn
      clear()
      write()
      if (wasDrawn) redraw()
    },
    end() {
      clear()
      step = undefined
      clearInterval(ticks)
      ticks = undefined
    },
  }
}

/** Returns a function that adds received exports to the progress. */
export function countArrivals(progress: Progress): (name: string, step: TakeProgress) => void {
  const counted = new Map<string, number>()
  return (name, step) => {
    if (step.step !== 'receiving') return
    const { type, objects, bytes } = step
    const before = counted.get(`${name}/${type}`) ?? 0
    counted.set(`${name}/${type}`, bytes)
    progress.note(`${name}: ${type}, ${plural(objects, 'object')}`)
    // A repeated export starts again at zero.
    progress.addBytes(bytes >= before ? bytes - before : bytes)
  }
}

/** `verifying · 12 of 210 snapshots · 3.4 MB · 1.2 MB/s · 0:03 · about 0:41 left`. */
function describeStep(step: Step, elapsedMs: number): string {
  const { what, unit, total, totalBytes, done, bytes, note } = step
  const seconds = elapsedMs / 1000
  const parts = [what]
  if (unit !== undefined) {
    parts.push(total === undefined ? plural(done, unit) : `${done} of ${plural(total, unit)}`)
  }
  if (bytes > 0) {
    parts.push(formatBytes(bytes) + (totalBytes ? ` of ${formatBytes(totalBytes)}` : ''))
  }
  // The rate of the first second is not reliable.
  if (seconds >= 1 && bytes > 0) parts.push(`${formatBytes(bytes / seconds)}/s`)
  else if (seconds >= 1 && done > 0) parts.push(`${formatRate(done / seconds)}/s`)
  parts.push(formatClock(seconds))
  const share = shareOf(step)
  if (seconds >= 1 && share > 0 && share < 1) {
    parts.push(`about ${formatClock((seconds * (1 - share)) / share)} left`)
  }
  if (note !== '') parts.push(note)
  return parts.join(' · ')
}

/** The share of the work that is done, from 0 to 1; 0 when the total is unknown. */
function shareOf({ total, totalBytes, done, bytes }: Step): number {
  if (totalBytes) return bytes / totalBytes
  return total ? done / total : 0
}

function formatRate(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1)
}

/** `0:03`, `12:05`, `1:02:03`. */
function formatClock(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const twoDigits = (number: number) => String(number).padStart(2, '0')
  const front = hours > 0 ? `${hours}:${twoDigits(minutes)}` : String(minutes)
  return `${front}:${twoDigits(rest)}`
}

/** Cuts a line to the width, because a wrapped line cannot be erased. Wide characters count as two columns. */
function fitWidth(text: string, columns: number): string {
  let width = 0
  let fitting = ''
  for (const character of cleanLine(text)) {
    width += (character.codePointAt(0) as number) >= 0x1100 ? 2 : 1
    if (width > columns) return fitting
    fitting += character
  }
  return fitting
}
