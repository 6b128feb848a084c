import type { Plugin } from 'rolldown'

/** Takes the place of modules that are loaded and never used: they are empty in the bundle. */
export function leaveOut(paths: readonly RegExp[]): Plugin {
  return {
    name: 'leave-out',
    load: {
      filter: { id: [...paths] },
      handler: () => 'module.exports = {}',
    },
  }
}
