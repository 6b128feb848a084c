import { expect, it } from 'vitest'
import { namesIndexInText } from '../../src/objects/own-text.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'

function visualization(state: unknown) {
  const visState = typeof state === 'string' ? state : JSON.stringify(state)
  const source = { type: 'visualization', visualization: { title: 'A', visState } }
  const hit = { _id: 'visualization:a', _source: source }
  return parseSavedObject(Buffer.from(JSON.stringify(hit)), 'visualization')
}

it.each([
  ['a Timelion expression', { type: 'timelion', params: { expression: '.es(index=logs-*)' } }],
  ['a Vega specification', { type: 'vega', params: { spec: '{url: {index: "logs-*"}}' } }],
  ['one in strict JSON', { type: 'vega', params: { spec: '{"url": {"index": "logs-*"}}' } }],
])('finds the name of an index in %s', (_what, state) => {
  expect(namesIndexInText(visualization(state))).toBe(true)
})

it.each([
  ['an expression without an index', { type: 'timelion', params: { expression: '.es(*)' } }],
  ['another visualization', { type: 'markdown', params: { markdown: 'index=logs' } }],
  ['a parameter that is not text', { type: 'vega', params: { spec: { index: 1 } } }],
  ['nested text that is not JSON', '{'],
])('finds none in %s', (_what, state) => {
  expect(namesIndexInText(visualization(state))).toBe(false)
})

it.each([
  ['finds', true, '.es(index=logs-*)'],
  ['does not find', false, '.es(*)'],
])(
  '%s the name of an index in a panel that contains its visualization: %s',
  (...[, named, expression]) => {
    const savedVis = { type: 'timelion', params: { expression } }
    const panels = [null, { type: 'visualization' }, { embeddableConfig: { savedVis } }]
    const dashboard = { title: 'A', panelsJSON: JSON.stringify(panels) }
    const hit = { _id: 'dashboard:a', _source: { type: 'dashboard', dashboard } }
    const object = parseSavedObject(Buffer.from(JSON.stringify(hit)), 'dashboard')
    expect(namesIndexInText(object)).toBe(named)
  },
)
