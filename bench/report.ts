import type { Measurement } from './measure.ts'

/** A case with all its runs, or the reason why it was skipped. */
export interface CaseResult {
  readonly name: string
  readonly accounts?: number | undefined
  /** Missing programs. */
  readonly missing: readonly string[]
  readonly runs: readonly (Measurement & { readonly storedBytes: number })[]
}

export interface GroupResult {
  readonly title: string
  readonly cases: readonly CaseResult[]
}

/** Summary of a case, for a table and `--json`. */
export interface Summary {
  readonly seconds: number
  readonly fastest: number
  readonly slowest: number
  readonly cpuSeconds: number
  readonly peakBytes: number | undefined
  readonly storedBytes: number
  readonly accountsPerSecond: number | undefined
  /**
   * Time of the group's first case divided by the time of this case, per account. The median over
   * the rounds: within a round, both cases ran under the same load.
   */
  readonly ratio: number
}

/** Medians, range and peak memory; undefined for a skipped case. */
export function summarize(result: CaseResult, first: CaseResult): Summary | undefined {
  const { runs, accounts = 1 } = result
  if (runs.length === 0) return undefined
  const seconds = runs.map((run) => run.seconds)
  const peaks = runs.flatMap(({ peakBytes }) => peakBytes ?? [])
  const ratios = runs.map(
    (run, round) =>
      (first.runs[round]?.seconds ?? Number.NaN) / (first.accounts ?? 1) / (run.seconds / accounts),
  )
  return {
    seconds: median(seconds),
    fastest: Math.min(...seconds),
    slowest: Math.max(...seconds),
    cpuSeconds: median(runs.map((run) => run.cpuSeconds)),
    peakBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
    storedBytes: median(runs.map((run) => run.storedBytes)),
    accountsPerSecond: result.accounts && accounts / median(seconds),
    ratio: median(ratios),
  }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1)
  return (low + high) / 2
}

/** A group as a table in Markdown. */
export function formatGroup({ title, cases }: GroupResult): string {
  const header = ['', 'time', 'from–to', 'CPU', 'memory', 'stored', 'first ÷ this']
  const rows = cases.map((result) => formatCase(result, cases[0] ?? result))
  const lines = [header, header.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
  return `**${title}**\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function formatCase(result: CaseResult, first: CaseResult): string[] {
  const summary = summarize(result, first)
  if (summary === undefined) {
    return [
      `${inCell(result.name)}: skipped, no ${result.missing.join(', ')}`,
      ...Array(6).fill(''),
    ]
  }
  const { seconds, fastest, slowest, cpuSeconds, peakBytes, storedBytes, ratio } = summary
  const rate = summary.accountsPerSecond
  return [
    inCell(rate === undefined ? result.name : `${result.name}: ${rate.toFixed(1)} accounts/s`),
    formatSeconds(seconds),
    `${formatSeconds(fastest)}–${formatSeconds(slowest)}`,
    formatSeconds(cpuSeconds),
    peakBytes === undefined ? '?' : formatMb(peakBytes),
    storedBytes === 0 ? '' : formatMb(storedBytes),
    result === first ? '' : ratio.toFixed(2),
  ]
}

function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`
}

function formatMb(bytes: number): string {
  const mb = bytes / 1024 ** 2
  return `${mb < 10 ? mb.toFixed(2) : Math.round(mb)} MB`
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|')
}
