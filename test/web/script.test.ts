import { readFile } from 'node:fs/promises'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { openPages } from './open-pages.ts'

it('serves a small script that creates no markup from text', async () => {
  const pages = await openPages([])
  const answer = await pages.send('/script.js')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  const text = await answer.text()
  expect(text).toBe(
    await readFile(new URL('../../src/web/client/script.js', import.meta.url), 'utf8'),
  )
  expect(text.length).toBeLessThan(12_000)
  expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/)
  const { text: page } = await pages.read('/')
  expect(page).toContain('<script type="module" src="/script.js"></script>')
  expect(page.match(/<script/g)).toHaveLength(1)
})

it.each([0, 403, 404])(
  'shows a note that the progress is not known after status %i',
  async (status) => {
    const { loadEnd, notes, timers } = await pollWith(status)
    loadEnd()
    loadEnd()
    expect(notes).toEqual(['gone'])
    // It asks again, because the server may answer later.
    expect(timers.count).toBe(3)
  },
)

it('removes the note once the server answers', async () => {
  const { loadEnd, notes, request } = await pollWith(0)
  loadEnd()
  Object.assign(request, {
    status: 200,
    responseXML: { querySelector: () => ({ childNodes: [] }) },
  })
  loadEnd()
  expect(notes).toEqual([])
})

it('shows new progress, and adds no second button to the command of the page', async () => {
  const { loadEnd, shown, copyButtons, request } = await pollWith(200)
  const progress = { textContent: '1 of 2', childNodes: ['1 of 2'] }
  Object.assign(request, { responseXML: { querySelector: () => progress } })
  loadEnd()
  expect([shown, copyButtons.count]).toEqual([['1 of 2'], 0])
})

/** Runs the polling of the script on a page with progress, and answers its requests. */
async function pollWith(status: number) {
  const path = new URL('../../src/web/client/script.js', import.meta.url)
  const [source] =
    /function pollProgress\(\) {[\s\S]*?\n}\n/.exec(await readFile(path, 'utf8')) ?? []
  const notes: string[] = []
  const shown: string[] = []
  const [timers, copyButtons] = [{ count: 0 }, { count: 0 }]
  let loadEnd = () => {}
  const request = {
    status,
    responseXML: null,
    addEventListener: (_name: string, listener: () => void) => {
      loadEnd = listener
    },
  }
  class HTMLElement {
    dataset = { lost: 'gone' }
    getAttribute = () => '2'
    after = (note: { text: string }) => notes.push(note.text)
    replaceChildren = (...nodes: string[]) => shown.push(...nodes)
  }
  runInNewContext(`${source} pollProgress()`, {
    HTMLElement,
    addCopyButtons() {
      copyButtons.count += 1
    },
    showTimes() {},
    document: { querySelector: () => new HTMLElement() },
    location: { reload() {} },
    XMLHttpRequest: function create() {
      return request
    },
    make: (_name: string, _attributes: object, text: string) => ({
      text,
      get isConnected() {
        return notes.includes(text)
      },
      remove: () => notes.splice(0),
    }),
    setTimeout: () => {
      timers.count += 1
    },
  })
  return { loadEnd: () => loadEnd(), notes, shown, copyButtons, timers, request }
}
