import type { PanelKind } from '../../objects/panel-content.ts'

/** The name of each kind, for people. */
export const kindNames: Readonly<Record<PanelKind, string>> = {
  area: 'area chart',
  bar: 'bar chart',
  code: 'Vega',
  control: 'controls',
  gauge: 'gauge',
  heat: 'heat map',
  line: 'line chart',
  map: 'map',
  number: 'number',
  other: 'panel',
  pie: 'pie chart',
  search: 'saved search',
  table: 'table',
  text: 'text',
  words: 'word cloud',
}

/** Side of the square that a sign is drawn on. */
export const ICON_SIZE = 24

/** The sign of a kind, as path data of lines on a square of 24 by 24. */
export const iconPaths: Readonly<Record<PanelKind, string>> = {
  area: 'M3 21V3M3 21H21M6 18V13L11 8L15 12L20 6V18Z',
  bar: 'M3 3V21H21M7 18V11H10V18M12 18V6H15V18M17 18V14H20V18',
  code: 'M8 6L2 12L8 18M16 6L22 12L16 18M14 3L10 21',
  control: 'M2 7H9M15 7H22M9 4H15V10H9ZM2 17H4M10 17H22M4 14H10V20H4Z',
  gauge: 'M3 19A10 10 0 1 1 21 19M12 16L16 9M10.5 17.5H13.5',
  heat: 'M3 3H21V21H3ZM9 3V21M15 3V21M3 9H21M3 15H21M4 8L8 4M10 14L14 10M16 20L20 16',
  line: 'M3 3V21H21M6 16L10 11L14 14L20 6',
  map: 'M3 6L9 3L15 6L21 3V18L15 21L9 18L3 21ZM9 3V18M15 6V21',
  number: 'M4 9H20M4 15H20M9 4L7 20M17 4L15 20',
  other: 'M4 4H20V20H4ZM4 9H20',
  pie: 'M12 3A9 9 0 1 0 21 12H12ZM15 3A7 7 0 0 1 21 9H15Z',
  search: 'M16.5 10A6.5 6.5 0 1 1 3.5 10A6.5 6.5 0 1 1 16.5 10M15 15L21 21M7 8.5H13M7 11.5H11',
  table: 'M3 4H21V20H3ZM3 9H21M3 14.5H21M9 4V20M15 4V20',
  text: 'M4 5H20M4 10H20M4 15H20M4 20H13',
  words: 'M2 7H10M13 6H22M5 12H19M2 17H8M11 18H21',
}

/** The sign of a panel whose object is not in the snapshot: a cross in a broken frame. */
export const missingPath =
  'M3 8V3H8M16 3H21V8M21 16V21H16M8 21H3V16M8.5 8.5L15.5 15.5M15.5 8.5L8.5 15.5'
