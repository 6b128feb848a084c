import { describe, expect, it } from 'vitest'
import { createColors } from '../../../src/cli/print/colors.ts'
import { formatDifferences } from '../../../src/cli/print/format-diff.ts'
import { diffValues } from '../../../src/objects/diff-objects.ts'

function format(before: string, after: string, columns?: number): string[] {
  const diff = { ...diffValues(before, after), type: 'visualization', references: [] }
  return formatDifferences(diff, { colors: createColors(false), columns }).map((line) =>
    line.trim(),
  )
}

describe('a change that is longer than a line', () => {
  const [before, after] = [`${'a'.repeat(50)} before`, `${'a'.repeat(50)} after`]

  it('has a line for each value', () => {
    expect(format(before, after, 80)).toEqual(['~ the hit:', `- "${before}"`, `+ "${after}"`])
  })

  it('is one line in a pipe', () => {
    expect(format(before, after)).toEqual([`~ the hit: "${before}" → "${after}"`])
  })
})

describe('a text of several lines', () => {
  const lines = Array.from({ length: 50 }, (_, place) => `line ${place}`)

  it('shows the lines that were added and removed, and none between them', () => {
    const after = ['first', ...lines.slice(0, 40), 'changed', ...lines.slice(41, 49)]
    expect(format(lines.join('\n'), after.join('\n')).slice(1)).toEqual([
      '+ first',
      '- line 40',
      '+ changed',
      '- line 49',
    ])
  })

  it('prints the number of further lines that differ', () => {
    const shown = format(lines.join('\n'), 'x\ny')
    expect(shown).toHaveLength(1 + 40 + 1)
    expect(shown.at(-1)).toBe('… and 12 more lines')
  })
})
