// Adds live filters, shortcuts, highlighting, local times and progress to pages that work without
// them. The policy of the pages forbids markup from scripts, so everything is made of elements.

/** Tables with fewer rows get no filter. */
const MIN_ROWS = 8
const offKey = 'dashkeep-shortcuts-off'
const utcKey = 'dashkeep-utc'

addFilters()
addCopyButtons()
const help = addHelp()
showTimes()
pollProgress()
document.addEventListener('keydown', onKey)
for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, highlight)

/**
 * Creates an element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
function make(name, attributes, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children)
  return element
}

/** Filters tables while somebody types: by the page's own search field, or by one above each table. */
function addFilters() {
  const own = document.querySelector('input[data-filter]')
  if (own instanceof HTMLInputElement) {
    const table = document.querySelector('form[role=search] ~ .choosing table.data')
    if (table instanceof HTMLTableElement) filterWith(own, table)
    return
  }
  for (const table of document.querySelectorAll('table.data')) {
    if (!(table instanceof HTMLTableElement)) continue
    if ((table.tBodies[0]?.rows.length ?? 0) < MIN_ROWS) continue
    const input = make('input', { type: 'search', autocomplete: 'off' })
    table.before(make('p', { class: 'filter' }, make('label', {}, 'Filter these rows ', input)))
    filterWith(input, table)
  }
}

/**
 * Hides the rows that lack one of the typed words.
 * @param {HTMLInputElement} input
 * @param {HTMLTableElement} table
 */
function filterWith(input, table) {
  const rows = [...(table.tBodies[0]?.rows ?? [])]
  const texts = rows.map(({ textContent }) => textContent.toLowerCase())
  const status = make('p', { class: 'hint', role: 'status' })
  table.before(status)
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/[\s*?]+/)
    for (const [nth, row] of rows.entries()) {
      row.hidden = !words.every((word) => texts[nth]?.includes(word))
    }
    const shown = rows.filter(({ hidden }) => !hidden).length
    const more = input.form ? '. Press Enter to search everything' : ''
    status.textContent = input.value === '' ? '' : `${shown} of ${rows.length} rows${more}`
  })
}

/** Adds a button to each command that copies it. */
function addCopyButtons() {
  for (const box of document.querySelectorAll('.command')) {
    const button = make('button', { type: 'button', class: 'copy' }, 'Copy')
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(box.querySelector('code')?.textContent ?? '')
      button.textContent = 'Copied'
    })
    box.querySelector('pre')?.before(button)
  }
}

/** Adds the list of shortcuts, and a button that opens it. */
function addHelp() {
  const keys = [
    ['/', 'go to the search or filter field'],
    ['j', 'next row'],
    ['k', 'previous row'],
    ['Enter', 'open the row'],
    ['u', 'switch between local times and UTC'],
    ['?', 'show this list'],
  ]
  const rows = keys.flatMap(([key = '', what = '']) => [
    make('dt', {}, make('kbd', {}, key)),
    make('dd', {}, what),
  ])
  const on = make('input', { type: 'checkbox' })
  on.checked = !isSet(offKey)
  on.addEventListener('change', () => set(offKey, !on.checked))
  const dialog = make(
    'dialog',
    { 'aria-labelledby': 'shortcuts', class: 'help' },
    make('h2', { id: 'shortcuts' }, 'Shortcuts'),
    make('dl', {}, ...rows),
    make('p', {}, make('label', {}, on, ' Keys of one character are on')),
    make('form', { method: 'dialog' }, make('button', {}, 'Close')),
  )
  const button = make('button', { type: 'button', class: 'quiet' }, 'Shortcuts')
  button.addEventListener('click', () => dialog.showModal())
  document.querySelector('.foot')?.append(button)
  document.body.append(dialog)
  return dialog
}

/**
 * Runs the shortcut of a key, never while somebody types.
 * @param {KeyboardEvent} event
 */
function onKey(event) {
  const { target, key, ctrlKey, metaKey, altKey } = event
  const isTyping = target instanceof Element && target.closest('input, select, textarea, dialog')
  if (isTyping || ctrlKey || metaKey || altKey || isSet(offKey)) return
  const run = {
    '/': () =>
      /** @type {HTMLElement | null} */ (
        document.querySelector('main input[type=search]')
      )?.focus(),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    u: () => {
      set(utcKey, !isSet(utcKey))
      showTimes()
    },
    '?': () => help.showModal(),
  }[key]
  if (run === undefined) return
  event.preventDefault()
  run()
}

/**
 * Focuses the link of the next or previous row; at the ends it stays.
 * @param {1 | -1} step
 */
function moveRow(step) {
  const rows = [...document.querySelectorAll('table.data tbody tr:not([hidden])')]
  const links = rows.flatMap((row) => row.querySelector('a') ?? [])
  const now = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement))
  links[Math.min(Math.max(now + step, 0), links.length - 1)]?.focus()
}

/**
 * Marks a panel in both drawings and in the list of changes.
 * @param {Event} event
 */
function highlight({ target }) {
  if (!(target instanceof Element)) return
  const at = target.closest('[data-panel], [id^=change-]')
  const number = at?.getAttribute('data-panel') ?? at?.id.slice('change-'.length)
  for (const marked of document.querySelectorAll('.panel-highlighted')) {
    marked.classList.remove('panel-highlighted')
  }
  if (number === undefined) return
  const all = `[data-panel="${CSS.escape(number)}"], #change-${CSS.escape(number)}`
  for (const one of document.querySelectorAll(all)) one.classList.add('panel-highlighted')
}

/** Shows times in the time zone of the browser, with UTC on hover; or in UTC, if so chosen. */
function showTimes() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const isUtc = isSet(utcKey) || timeZone === 'UTC'
  const format = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'long',
  })
  for (const time of document.querySelectorAll('time')) {
    time.dataset.utc ??= time.textContent
    time.textContent = isUtc ? time.dataset.utc : format.format(new Date(time.dateTime))
    time.title = isUtc ? '' : time.dataset.utc
  }
  // Options and captions hold text alone.
  for (const text of document.querySelectorAll('main option, figcaption')) {
    if (!(text instanceof HTMLElement)) continue
    text.dataset.utc ??= text.textContent
    text.textContent = isUtc
      ? text.dataset.utc
      : text.dataset.utc.replace(/(\d{4}-\d\d-\d\d) ([\d:]{8}) UTC/, (_, day, time) =>
          format.format(new Date(`${day}T${time}Z`)),
        )
  }
  const note = document.querySelector('[data-zone]')
  if (note === null) return
  note.textContent = isUtc
    ? 'Times are in UTC.'
    : `Times are in your time zone, ${timeZone}. Point at one to see UTC. Days of calendars are in UTC.`
}

/**
 * Shows the progress of a run that goes on; loads the page anew when the run has ended. Says when the
 * server does not answer or does not know the run.
 */
function pollProgress() {
  const findProgress = (/** @type {Document} */ page) => page.querySelector('main [data-poll]')
  const element = findProgress(document)
  const seconds = Number(element?.getAttribute('data-poll'))
  if (!(element instanceof HTMLElement) || !(seconds > 0)) return
  const lost = element.dataset.lost ?? 'The server does not answer.'
  const note = make('p', { class: 'notice damaged', role: 'alert' }, lost)
  let shown = ''
  const request = new XMLHttpRequest()
  const ask = () => {
    request.open('GET', location.href)
    // The browser makes the document, and runs no script of it.
    request.responseType = 'document'
    request.send()
  }
  request.addEventListener('loadend', () => {
    const next = request.responseXML && findProgress(request.responseXML)
    if (request.status === 200 && !next) return location.reload()
    if (request.status === 200) note.remove()
    else if (!note.isConnected) element.after(note)
    if (next && next.textContent !== shown) {
      shown = next.textContent
      element.replaceChildren(...next.childNodes)
      showTimes()
    }
    setTimeout(ask, seconds * 1000)
  })
  setTimeout(ask, seconds * 1000)
}

/** @param {string} key */
function isSet(key) {
  return localStorage.getItem(key) !== null
}

/**
 * Remembers a choice for this browser.
 * @param {string} key
 * @param {boolean} isOn
 */
function set(key, isOn) {
  if (isOn) localStorage.setItem(key, '1')
  else localStorage.removeItem(key)
}
