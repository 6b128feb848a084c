import { until } from '../e2e/run-dashkeep.ts'

/** Kinds of elements that stories use, by their role. */
export type Role = 'button' | 'checkbox' | 'link' | 'radio' | 'searchbox' | 'textbox'

/** A tab of a browser, as somebody uses it. Names are those that a screen reader says. */
export interface Tab {
  open(address: string): Promise<void>
  /** Clicks the first element with this role and exact name. */
  click(role: Role, name: string): Promise<void>
  /** Types a text into the field. */
  type(role: Role, name: string, text: string): Promise<void>
  /** Presses a key, such as `j` or `Enter`. */
  press(key: string): Promise<void>
  /** The value of an expression in the page. */
  evaluate<Value>(expression: string): Promise<Value>
  /** Errors of the console and of scripts, and violations of the policy. */
  readonly problems: readonly string[]
}

/** Reports violations of the policy as errors on the console. */
export const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/** What is visible on the page. */
export async function textOf(tab: Tab): Promise<string> {
  return tab.evaluate<string>("document.querySelector('main').innerText")
}

/** Waits until the page shows a text. */
export async function see(tab: Tab, text: string): Promise<void> {
  let last = ''
  await until(`the page shows '${text}'`, async () => {
    // A page that is being left cannot be asked.
    last = await textOf(tab).catch(() => '')
    return last.includes(text)
  }).catch((error) => {
    throw new Error(`${(error as Error).message}; it shows:\n${last}`)
  })
}
