import type { Document, YAMLError } from 'yaml'
import { DashkeepError } from '../errors.ts'
import { readSmallFile } from '../local-files.ts'
import { resolvePaths } from './paths.ts'
import { fileState } from './secrets.ts'
import { isSection, type Section } from './section.ts'

/** Room for 50,000 accounts. */
const MAX_CONFIG_BYTES = 16 * 1024 ** 2

/**
 * Reads a configuration file, with its paths resolved against its folder. Throws a `usage` error
 * with this problem only, because the settings of an unreadable file are unknown.
 */
export async function readConfigFile(path: string): Promise<Section> {
  const document = await readYamlFile(path, {
    members: 'accounts and store',
    refuse: (problem) => unreadable(path, problem),
  })
  return resolvePaths(document, path)
}

/** What a YAML file contains, and the error for one that cannot be read. */
interface YamlFile {
  /** Names of members, for the message about a document without any. */
  readonly members: string
  readonly refuse: (problem: string) => DashkeepError
}

/** Reads a YAML or JSON file whose document has members. */
export async function readYamlFile(path: string, { members, refuse }: YamlFile): Promise<Section> {
  const text = await readSmallFile(path, { maxBytes: MAX_CONFIG_BYTES }).catch((cause) => {
    throw refuse(fileState(path, cause))
  })
  // Imported here, because a configuration without a file needs no YAML parser.
  const yaml = await import('yaml')
  const lineCounter = new yaml.LineCounter()
  // The library searches for repeated keys in quadratic time, and prints warnings of its own.
  const parsed = yaml.parseDocument(text, { lineCounter, uniqueKeys: false, logLevel: 'error' })
  const [error] = [...parsed.errors, ...parsed.warnings]
  if (error !== undefined) throw refuse(`${path}: ${describeError(error)}`)
  const repeated = findRepeatedKey(parsed, yaml)
  if (repeated !== undefined) {
    throw refuse(`${path}: ${describePlace(lineCounter.linePos(repeated))}: the key appears twice`)
  }
  const document = toValue(
    () => parsed.toJS() as unknown,
    (state) => refuse(`${path}: ${state}`),
  )
  if (isSection(document)) return document
  throw refuse(`${path}: expected members such as ${members}`)
}

/** The offset of the first key that its map already has. */
function findRepeatedKey(
  document: Document,
  { isScalar, visit }: typeof import('yaml'),
): number | undefined {
  let offset: number | undefined
  visit(document, {
    Map(_at, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0
          return visit.BREAK
        }
        seen.add(key.value)
      }
      return undefined
    },
  })
  return offset
}

function toValue(read: () => unknown, refuse: (state: string) => DashkeepError): unknown {
  try {
    return read()
  } catch {
    throw refuse('an alias such as *name has no anchor before it, or is used too often')
  }
}

/** Describes the place and the problem without the text of the file, which may contain a secret. */
function describeError({ code, linePos }: YAMLError): string {
  return `${describePlace(linePos?.[0])}: ${states[code] ?? 'not valid YAML'}`
}

function describePlace({ line, col } = { line: 1, col: 1 }): string {
  return `line ${line}, column ${col}`
}

const states: Readonly<Record<string, string>> = {
  BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
  BLOCK_AS_IMPLICIT_KEY: 'two keys on one line',
  MISSING_CHAR: 'a quote or bracket is not closed',
  MULTILINE_IMPLICIT_KEY: 'a key without a colon',
  MULTIPLE_DOCS: 'a second document begins',
  TAB_AS_INDENT: 'a tab indents; use spaces',
  TAG_RESOLVE_FAILED: 'a tag such as !name is not known here',
}

function unreadable(path: string, problem: string): DashkeepError {
  return new DashkeepError(`Cannot use the configuration ${path}`, {
    kind: 'usage',
    problems: [problem],
    hint: 'give the path of a YAML file with --config or DASHKEEP_CONFIG; config/dashkeep.example.yaml is an example',
  })
}
