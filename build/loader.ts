import type { Script } from 'node:vm'

// Asked for like this, built-in modules cost nothing more; an import would bring their other half.
const { existsSync, readFileSync } = process.getBuiltinModule('node:fs')
const vm = process.getBuiltinModule('node:vm')

/** Loads the files of the bundled program. */
export interface Loader {
  /** Runs a file of the bundle, once, and returns what it exports. */
  load(name: string): unknown
  /** What has been loaded, by its path. */
  readonly scripts: ReadonlyMap<string, Script>
}

/**
 * Loads CommonJS files of one folder that require each other and what Node brings, nothing else.
 *
 * Beside each file may lie its compiled code, with the functions that a run calls; Node's own
 * compile cache knows only what runs while a module loads. V8 refuses code of another version of
 * itself, under other flags, or of a source of another length, and compiles as usual. So the two
 * are made together, and nobody may write there who may not write the program.
 */
export function createLoader(folder: string): Loader {
  const modules = new Map<string, { exports: unknown }>()
  const scripts = new Map<string, Script>()

  function load(name: string): unknown {
    const known = modules.get(name)
    if (known) return known.exports
    const module = { exports: {} }
    modules.set(name, module)
    const filename = `${folder}/${name}`
    const script = compile(filename)
    scripts.set(filename, script)
    script.runInThisContext()(module.exports, require, module, filename, folder)
    return module.exports
  }

  const require = (id: string): unknown =>
    id.startsWith('./') ? load(id.slice(2)) : process.getBuiltinModule(id)

  return { load, scripts }
}

/** Where the compiled code of a file is. */
export function cacheOf(filename: string): string {
  return `${filename}.cache`
}

function compile(filename: string): Script {
  const cache = cacheOf(filename)
  const body = readFileSync(filename, 'utf8')
  return new vm.Script(`(function (exports, require, module, __filename, __dirname) {${body}\n})`, {
    filename,
    cachedData: existsSync(cache) ? readFileSync(cache) : undefined,
  })
}
