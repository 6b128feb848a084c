import { z } from 'zod'
import { DashkeepError } from '../errors.ts'
import { closest } from './closest.ts'
import { describeIssues, expectation } from './issues.ts'
import { readYamlFile } from './read-file.ts'
import { isSection, type Section, valueAt } from './section.ts'

/** How objects change when they are promoted into one account. */
interface AccountMap {
  readonly ids: 'keep' | 'derive'
  readonly titlePrefix: string
  /** From the id or the name of an index pattern of the source to those of the target. */
  readonly indexPatterns: ReadonlyMap<
    string,
    { readonly id?: string | undefined; readonly name?: string | undefined }
  >
  /** Whether index patterns that `indexPatterns` lacks stay as they are. */
  readonly keepsUnmapped: boolean
  /** The path of the file. */
  readonly label: string
}

/** Returns the map of a configured account, by its name. */
export type MapFile = (account: string) => AccountMap

const titlePrefix = z.string().max(200)
const text = z.string().min(1, 'expected the id or the name').optional()

/** An id and a name, or a text that is both. */
const indexPattern = z.preprocess(
  (value) => (typeof value === 'string' && value !== '' ? { id: value, name: value } : value),
  z.strictObject(
    { id: text, name: text },
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'expected text in quotes, or members id and name' : undefined,
    },
  ),
)
const indexPatterns = z.record(z.string(), indexPattern)

const mapSchema = z.strictObject({
  ids: z.enum(['derive', 'keep']).default('derive'),
  titlePrefix: titlePrefix.default(''),
  indexPatterns: indexPatterns.default({}),
  unmapped: z.enum(['refuse', 'keep']).default('refuse'),
  accounts: z
    .record(
      z.string(),
      z.strictObject({
        titlePrefix: titlePrefix.optional(),
        indexPatterns: indexPatterns.optional(),
      }),
    )
    .default({}),
})

/**
 * Reads the map of a promotion. `configured` are the names of the configured accounts. Throws one `usage`
 * error that names every problem.
 */
export async function readMapFile(path: string, configured: readonly string[]): Promise<MapFile> {
  const document = await readYamlFile(path, {
    members: 'indexPatterns and titlePrefix',
    refuse: (problem) => unusable(path, [problem]),
  })
  const { data, error } = mapSchema.safeParse(document, { error: expectation, reportInput: true })
  const problems = describeIssues(error?.issues ?? [], (place) => place)
  problems.push(...findUnknownAccounts(document, configured))
  if (problems.length > 0 || data === undefined) throw unusable(path, problems)
  const accounts = new Map(Object.entries(data.accounts))
  return (account) => {
    const own = accounts.get(account)
    return {
      ids: data.ids,
      titlePrefix: own?.titlePrefix ?? data.titlePrefix,
      indexPatterns: new Map(Object.entries({ ...data.indexPatterns, ...own?.indexPatterns })),
      keepsUnmapped: data.unmapped === 'keep',
      label: path,
    }
  }
}

function findUnknownAccounts(document: Section, configured: readonly string[]): string[] {
  const accounts = valueAt(document, 'accounts')
  const unknown = Object.keys(isSection(accounts) ? accounts : {}).filter(
    (name) => !configured.includes(name),
  )
  return unknown.map((name) => {
    const meant = closest(name, configured)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return `accounts.${name}: no configured account has this name${hint}`
  })
}

function unusable(path: string, problems: readonly string[]): DashkeepError {
  return new DashkeepError(`Cannot use the map ${path}`, {
    kind: 'usage',
    problems,
    hint: 'docs/promotion.md describes what a map contains',
  })
}
