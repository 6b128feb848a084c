// A page of another origin, in a browser that has the cookie of the pages. `window.loot` tells what
// each way to read or to post has brought; undefined means nothing.

const target = new URLSearchParams(location.search).get('target') ?? ''
const address = (/** @type {string} */ path) => new URL(path, target).href

Object.assign(window, { loot: stealAll() })

async function stealAll() {
  return {
    fetch: await tried(async () => (await fetch(target, { credentials: 'include' })).text()),
    'fetch without CORS': await tried(async () => {
      const answer = await fetch(target, { credentials: 'include', mode: 'no-cors' })
      return `an answer of type ${answer.type}`
    }),
    'post with fetch': await tried(async () => {
      const answer = await fetch(target, { method: 'POST', credentials: 'include', body: 'a=b' })
      return answer.text()
    }),
    script: await load(make('script', { src: address('/script.js') })),
    image: await load(make('img', { src: address('/style.css') })),
    style: await load(make('link', { rel: 'stylesheet', href: address('/style.css') })),
    frame: await readFrame(make('iframe', { src: target })),
    form: await postForm(),
    window: await tried(readWindow),
  }
}

/** @param {() => Promise<string | undefined>} attempt */
async function tried(attempt) {
  return attempt().catch(() => undefined)
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 */
function make(name, attributes) {
  return Object.assign(document.createElement(name), attributes)
}

/** @param {HTMLElement} element */
async function load(element) {
  const loaded = new Promise((resolve) => {
    element.addEventListener('load', () => resolve('loaded'))
    element.addEventListener('error', () => resolve(undefined))
  })
  document.body.append(element)
  return loaded
}

/** @param {HTMLIFrameElement} frame */
async function readFrame(frame) {
  await load(frame)
  return tried(async () => frame.contentDocument?.body.innerText || undefined)
}

async function postForm() {
  const frame = make('iframe', { name: 'answer' })
  const form = make('form', { action: target, method: 'post', target: 'answer' })
  document.body.append(frame, form)
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
  form.submit()
  await loaded
  return tried(async () => frame.contentDocument?.body.innerText || undefined)
}

async function readWindow() {
  const opened = open(target)
  // What it shows can be read from the moment on when it has loaded, if ever.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return opened?.closed ? undefined : opened?.document.body.innerText
}
