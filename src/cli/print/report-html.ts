import { cleanLine } from '../../clean-text.ts'
import { escapeMarkup } from '../../web/dashboard/text.ts'
import type { Block } from './report-document.ts'

/** Longest text of a cell or a paragraph, in UTF-16 units. With escapes it still fits one line. */
const MAX_TEXT = 300

/** Forbids everything but the style in the document itself. */
const policy = "default-src 'none'; style-src 'unsafe-inline'"

const style = `
@page { size: A4; margin: 16mm 14mm; }
:root { color-scheme: light; }
body { background: #fff; color: #1a1f26; font: 10.5pt/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1.5rem; }
h1 { font-size: 1.7em; margin: 0 0 .6em; }
h2 { border-top: 1px solid #c6ccd4; font-size: 1.25em; margin: 2em 0 .5em; padding-top: .8em; }
h3 { font-size: 1em; margin: 1.2em 0 .3em; }
h1, h2, h3 { break-after: avoid; overflow-wrap: anywhere; }
p, ul { margin: .4em 0; }
ul { padding-left: 1.3em; }
li { overflow-wrap: anywhere; }
.short { columns: 2; column-gap: 2em; }
table { border-collapse: collapse; margin: .6em 0; width: 100%; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { border-bottom: 1px solid #dde1e6; overflow-wrap: anywhere; padding: .3em .6em; text-align: left; vertical-align: top; }
tbody th { font-weight: 600; }
thead th { border-bottom: 2px solid #8a94a3; font-size: .9em; }
.facts th { color: #48525f; font-weight: normal; width: 9.5em; }
.unbroken { font-size: .9em; white-space: nowrap; }
td:last-child { min-width: 9em; }
.right { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.good, .bad { border-left: 4px solid; break-inside: avoid; list-style-position: inside; padding: .4em .8em; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.good { background: #eef7f0; border-color: #22813d; }
.bad { background: #fdf0ee; border-color: #b3261e; }
@media print { body { margin: 0; max-width: none; padding: 0; } }
`.trim()

/**
 * Formats a document as one HTML page that loads nothing and has no script. It prints on A4. Each text
 * is on a line of its own.
 */
export function formatHtml(blocks: readonly Block[]): string[] {
  const title = blocks.find((block) => block.kind === 'heading')?.text ?? ''
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeText(title)}</title>`,
    '<style>',
    ...style.split('\n'),
    '</style>',
    '</head>',
    '<body>',
    ...blocks.flatMap(formatBlock),
    '</body>',
    '</html>',
  ]
}

function formatBlock(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`<h${block.level}>${escapeText(block.text)}</h${block.level}>`]
    case 'text':
      return [`<p${classOf(block.tone)}>${escapeText(block.text)}</p>`]
    case 'list': {
      const items = block.items.map((item) => `<li>${escapeText(item)}</li>`)
      return [`<ul${classOf(block.tone)}>`, ...items, '</ul>']
    }
    case 'facts': {
      const rows = block.facts.flatMap(([name, value]) => [
        `<tr><th scope="row">${escapeText(name)}</th>`,
        `<td>${escapeText(value)}</td></tr>`,
      ])
      return ['<table class="facts">', ...rows, '</table>']
    }
    case 'table':
      return formatTable(block)
  }
}

function formatTable({
  header,
  rows,
  right = [],
  unbroken = [],
}: Block & { kind: 'table' }): string[] {
  const kindOf = (place: number) => {
    if (right.includes(place)) return ' class="right"'
    return unbroken.includes(place) ? ' class="unbroken"' : ''
  }
  const heads = header.map((text, place) => {
    return `<th scope="col"${kindOf(place)}>${escapeText(text)}</th>`
  })
  const body = rows.flatMap(([first = '', ...others]) => [
    '<tr>',
    `<th scope="row"${kindOf(0)}>${escapeText(first)}</th>`,
    ...others.map((text, index) => `<td${kindOf(index + 1)}>${escapeText(text)}</td>`),
    '</tr>',
  ])
  return [
    '<table>',
    '<thead><tr>',
    ...heads,
    '</tr></thead>',
    '<tbody>',
    ...body,
    '</tbody>',
    '</table>',
  ]
}

function classOf(name: string | undefined): string {
  return name === undefined ? '' : ` class="${name}"`
}

function escapeText(text: string): string {
  return escapeMarkup(cleanLine(text, MAX_TEXT))
}
