import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectBidi } from './bidi.ts'
import { type Role, reportViolations, type Tab } from './tab.ts'

/** A tab of a Firefox of its own; disposing ends it. */
export interface FirefoxTab extends Tab, AsyncDisposable {}

/** No pages, updates or reports at the start. */
const preferences = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
}

/**
 * Starts a Firefox as it is released, without a window, and drives it with WebDriver BiDi.
 * `playwright-core` needs a command that Debian's Firefox does not have yet
 * (`emulation.setMediaFeaturesOverride`).
 */
export async function openFirefox(program: string): Promise<FirefoxTab> {
  const profile = await mkdtemp(join(tmpdir(), 'dashkeep-firefox-'))
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
  )
  await writeFile(join(profile, 'user.js'), lines.join(''))
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close')
  const dispose = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const tab = await openTab(await readEndpoint(child.stderr))
    return { ...tab, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function readEndpoint(stderr: AsyncIterable<Buffer>): Promise<string> {
  let said = ''
  for await (const chunk of stderr) {
    said += chunk
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? []
    if (address !== undefined) return `${address}/session`
  }
  throw new Error(`Firefox ended before it listened: ${said}`)
}

/** Keys that have no character of their own, as WebDriver writes them. */
const keys: Record<string, string> = { Enter: '\ue007', Tab: '\ue004', Escape: '\ue00c' }

async function openTab(endpoint: string): Promise<Tab> {
  const problems: string[] = []
  const { send } = await connectBidi(endpoint, (method, { level, text }) => {
    if (method === 'log.entryAdded' && level === 'error') problems.push(String(text))
  })
  await send('session.new', { capabilities: {} })
  await send('session.subscribe', { events: ['log.entryAdded'] })
  await send('script.addPreloadScript', { functionDeclaration: `() => { ${reportViolations} }` })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  const target = { context }
  const perform = (id: string, type: string, actions: object[]) =>
    send('input.performActions', { context, actions: [{ type, id, actions }] })
  const press = (text: string) =>
    perform(
      'keyboard',
      'key',
      [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]),
    )
  const click = async (role: Role, name: string) => {
    const element = await locate(role, name)
    await send('script.callFunction', {
      target,
      functionDeclaration: "(element) => element.scrollIntoView({ block: 'center' })",
      arguments: [element],
      awaitPromise: false,
    })
    await perform('mouse', 'pointer', [
      { type: 'pointerMove', x: 0, y: 0, origin: { type: 'element', element } },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ])
  }
  const locate = async (role: Role, name: string) => {
    const locator = { type: 'accessibility', value: { role, name } }
    const { nodes } = await send('browsingContext.locateNodes', { context, locator })
    const [node] = nodes as { sharedId: string }[]
    if (node === undefined) throw new Error(`there is no ${role} '${name}'`)
    return { sharedId: node.sharedId }
  }
  return {
    problems,
    click,
    open: async (url) =>
      void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async type(role, name, text) {
      await click(role, name)
      await press(text)
    },
    press: async (key) => void (await press(keys[key] ?? key)),
    async evaluate<Value>(expression: string) {
      const answer = await send('script.evaluate', {
        target,
        expression: `(async () => JSON.stringify(await (${expression})) ?? 'null')()`,
        awaitPromise: true,
      })
      const { result, exceptionDetails } = answer as {
        result?: { value: string }
        exceptionDetails?: { text: string }
      }
      if (result === undefined) throw new Error(exceptionDetails?.text)
      return JSON.parse(result.value) as Value
    },
  }
}
