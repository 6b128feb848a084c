import { describe, expect, it } from 'vitest'
import type { Block } from '../../../src/cli/print/report-document.ts'
import { formatHtml } from '../../../src/cli/print/report-html.ts'
import { formatMarkdown } from '../../../src/cli/print/report-markdown.ts'

const hostile =
  '<script>alert("1")</script> & | [link](javascript:1) ![](x) *a* _b_ \u202e\u001b[31m\nnew'

function blocksWith(text: string): Block[] {
  return [
    { kind: 'heading', level: 1, text },
    { kind: 'text', text, tone: 'bad' },
    { kind: 'list', items: [text, text], tone: 'short' },
    { kind: 'facts', facts: [[text, text]] },
    { kind: 'table', header: [text, text], rows: [[text, text]], right: [1], unbroken: [0] },
  ]
}

describe('a report as HTML', () => {
  it('shows hostile text as text', () => {
    const page = formatHtml(blocksWith(hostile)).join('\n')
    const inert =
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; | [link](javascript:1) ![](x) *a* _b_ \ufffd\ufffd[31m new'
    expect(page.split(inert)).toHaveLength(12)
    for (const part of ['<script', '\u001b', '\u202e']) expect(page).not.toContain(part)
  })

  it('loads nothing and has no script', () => {
    const page = formatHtml(blocksWith('plain')).join('\n')
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(page).not.toMatch(/<(script|link|img|iframe)|\b(src|href|on\w+)=|url\(|@import/)
  })

  it('has no line that the terminal would shorten, for texts of any length', () => {
    const lines = formatHtml(blocksWith('"'.repeat(5000)))
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(2000)
  })

  it('closes what it opens', () => {
    const open: string[] = []
    const page = formatHtml(blocksWith('plain')).join('\n')
    for (const [, end, name = ''] of page.matchAll(/<(\/?)([a-z]\w*)[^>]*>/g)) {
      if (name === 'meta') continue
      if (end) expect(open.pop()).toBe(name)
      else open.push(name)
    }
    expect(open).toEqual([])
  })
})

describe('a report as Markdown', () => {
  it('shows hostile text as text', () => {
    const [heading] = formatMarkdown(blocksWith(hostile))
    expect(heading).toBe(
      '# \\<script\\>alert("1")\\</script\\> & \\| \\[link\\](javascript:1) !\\[\\](x) \\*a\\* \\_b\\_ \ufffd\ufffd\\[31m new',
    )
  })

  it.each([
    ['# heading', '- \\# heading'],
    ['- item', '- \\- item'],
    ['* item', '- \\* item'],
    ['1. item', '- 1\\. item'],
    ['&lt;b&gt;', '- \\&lt;b\\&gt;'],
    ['see https://evil.example', '- see https\\://evil.example'],
    ['see www.evil.example', '- see www\\.evil.example'],
    ['30 1 * * * team_a 1.5 days', '- 30 1 * * * team_a 1.5 days'],
  ])('writes %s as text, and escapes no more than it must', (text, line) => {
    expect(formatMarkdown([{ kind: 'list', items: [text] }])).toEqual([line])
  })

  it('aligns its tables, also with wide characters', () => {
    const rows = [
      ['a', '1'],
      ['日本', '1000'],
    ]
    const table = { kind: 'table', header: ['Name', 'Due'], rows, right: [1] } as const
    expect(formatMarkdown([table])).toEqual([
      '| Name |  Due |',
      '| ---- | ---: |',
      '| a    |    1 |',
      '| 日本 | 1000 |',
    ])
  })
})
