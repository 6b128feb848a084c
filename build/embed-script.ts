import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { script } from '../src/web/script.ts'

const file = fileURLToPath(new URL('../src/web/script.ts', import.meta.url))

/** Puts the text of the pages' script into the bundle, so that no file has to lie beside it. */
export function embedScript(): Plugin {
  return {
    name: 'embed-script',
    load: (id) => (id === file ? `export const script = ${JSON.stringify(script)}` : undefined),
  }
}
