import type { Plugin } from 'rolldown'

/** What a package asks for and dashkeep never lets it use. */
export interface Needless {
  readonly from: RegExp
  readonly what: RegExp
}

const nothing = '\0nothing'

/** Puts a function that does nothing where others would only be loaded and asked `instanceof`. */
export function leaveOut(needless: readonly Needless[]): Plugin {
  return {
    name: 'leave-out',
    resolveId(id, importer = '') {
      return needless.some(({ from, what }) => from.test(importer) && what.test(id))
        ? nothing
        : null
    },
    load: (id) => (id === nothing ? 'module.exports = function () {}' : null),
  }
}
