import { constants } from 'node:fs'
import { access, copyFile, lstat, rename, rm } from 'node:fs/promises'
import { parse } from 'yaml'
import { readAccountId } from '../../account-id.ts'
import { findProblems } from '../../config/load.ts'
import { toAbsolutePath, toStoreUrl } from '../../config/paths.ts'
import type { Section } from '../../config/section.ts'
import { DashkeepError } from '../../errors.ts'
import { openFresh } from '../../local-files.ts'
import { cannotWrite } from '../../restore/new-file.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { ask, type Terminal } from '../terminal.ts'
import { checkConfig } from './config.ts'
import { composeConfig, type InitAnswers } from './config-template.ts'

interface InitOptions {
  readonly baseUrl?: string
  readonly pathPrefix?: string
  readonly accountId?: string
  readonly store?: string
  readonly tokenEnv?: string
  readonly tokenFile?: string
  readonly schedule?: string
  readonly output: string
  readonly force?: boolean
}

/** The values given so far, by options or answers. */
type Given = Pick<InitOptions, (typeof questions)[number]['name'] | 'pathPrefix' | 'tokenFile'>

/** The questions on a terminal, in this order. Each value can also be given by its option. */
const questions = [
  {
    name: 'baseUrl',
    flag: '--base-url',
    text: 'Address of the service, such as https://api.example.com',
    isNeeded: true,
  },
  { name: 'accountId', flag: '--account-id', text: 'Account id (optional)' },
  {
    name: 'store',
    flag: '--store',
    text: 'Store: s3://bucket/prefix, or a folder such as ./backups',
    isNeeded: true,
  },
  {
    name: 'tokenEnv',
    flag: '--token-env',
    text: 'Environment variable with the API token (default: DASHKEEP_API_TOKEN)',
    fallback: 'DASHKEEP_API_TOKEN',
  },
  {
    name: 'schedule',
    flag: '--schedule',
    text: 'Schedule of the worker, such as 15 3 * * * (optional)',
  },
] as const satisfies readonly {
  name: keyof InitOptions
  flag: string
  text: string
  isNeeded?: boolean
  fallback?: string
}[]

/** The option that gives the value at a path of the file. */
const flagOf: Readonly<Record<string, string>> = {
  'service.baseUrl': '--base-url',
  'service.pathPrefix': '--path-prefix',
  'accounts.0.accountId': '--account-id',
  'store.url': '--store',
  'schedule.cron': '--schedule',
}

/** `dashkeep config init`: writes a configuration file from options and answers. */
export async function init(terminal: Terminal, options: InitOptions): Promise<number> {
  const { output, force } = options
  if (!force) await refuseToReplace(output)
  const asked = await askForRest(terminal, options)
  const missing = findMissing(asked)
  if (missing.length > 0) throw missingOptions(output, missing)
  const problems = await problemsOf(asked)
  if (problems.length > 0) throw invalidValues(output, problems)
  await write(terminal, output, { text: composeConfig(answersOf(asked)), force })
  report(terminal, asked, output)
  return exitCodes.done
}

async function refuseToReplace(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return
  throw new DashkeepError(`Cannot write ${path}: it is there already`, {
    kind: 'usage',
    hint: 'choose another file with --output, or add --force to replace it',
  })
}

/** The values of the options, and on a terminal the answers to questions about the others. */
async function askForRest(terminal: Terminal, flags: Given): Promise<Given> {
  let given = flags
  for (const question of questions) {
    const { name, flag } = question
    const isSaid = given[name] ?? (name === 'tokenEnv' ? given.tokenFile : undefined)
    while (isSaid === undefined) {
      const answer = await ask(terminal, `${question.text}: `)
      if (answer === undefined) return given
      const value = answer || ('fallback' in question ? question.fallback : undefined)
      if (value === undefined && 'isNeeded' in question) continue
      const changed = value === undefined ? given : { ...given, [name]: value }
      const problems = await problemsOf(changed)
      const own = problems.filter((problem) => problem.startsWith(`${flag}: `))
      terminal.print(own)
      if (own.length > 0) continue
      given = changed
      break
    }
  }
  return given
}

function findMissing({ baseUrl, store, tokenEnv, tokenFile }: Given): string[] {
  const needed: [string, string | undefined][] = [
    ['--base-url', baseUrl],
    ['--store', store],
    ['--token-env or --token-file', tokenEnv ?? tokenFile],
  ]
  return needed.flatMap(([flag, value]) => (value === undefined ? `${flag}: missing` : []))
}

function missingOptions(output: string, problems: readonly string[]): DashkeepError {
  return new DashkeepError(`Cannot write ${output}: options are missing`, {
    kind: 'usage',
    problems,
    hint: 'run for example dashkeep config init --base-url https://api.example.com --store s3://bucket/prefix --token-env API_TOKEN',
  })
}

function invalidValues(output: string, problems: readonly string[]): DashkeepError {
  return new DashkeepError(`Cannot write ${output}: the configuration would be invalid`, {
    kind: 'usage',
    problems,
    hint: '`dashkeep help config init` explains the options',
  })
}

/** Every problem with the given values, each with its option. */
async function problemsOf(given: Given): Promise<string[]> {
  const document: Section = parse(composeConfig(answersOf(given)))
  const sourceOf = (place: string) => flagOf[place] ?? place
  const { problems } = await findProblems(document, sourceOf)
  const ofToken = await findTokenProblems(given)
  const isSaid = (problem: string) => ofToken.length > 0 && problem.startsWith('accounts.0.token')
  return [...ofToken, ...problems.filter((problem) => !isSaid(problem))]
}

/** Checks names of tokens. A token given by mistake must not get into the file or the message. */
async function findTokenProblems({ tokenEnv, tokenFile }: Given): Promise<string[]> {
  const problems: string[] = []
  const unshown = 'the value is not shown because it may be the token itself'
  if (tokenEnv !== undefined && !/^[A-Z_][A-Z0-9_]*$/.test(tokenEnv)) {
    problems.push(
      `--token-env: expected the name of an environment variable in capitals; ${unshown}`,
    )
  }
  const isThere = tokenFile === undefined || (await isReadable(tokenFile))
  if (!isThere) problems.push(`--token-file: expected an existing, readable file; ${unshown}`)
  return problems
}

function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}

/** The values as the file has them. Paths are absolute: a file resolves relative paths from its folder. */
function answersOf({ tokenEnv, tokenFile, ...given }: Given): InitAnswers {
  const { baseUrl, pathPrefix, accountId, store, schedule } = given
  const file = tokenFile && { file: toAbsolutePath(tokenFile, '.') }
  return {
    baseUrl,
    pathPrefix,
    accountId: accountId && (readAccountId(accountId) ?? accountId),
    store: toStoreUrl(store, '.'),
    token: file || { env: tokenEnv ?? 'DASHKEEP_API_TOKEN' },
    schedule,
  }
}

/** Writes the file completely or not at all, after the checks of `config check`. */
async function write(
  terminal: Terminal,
  output: string,
  { text, force }: { text: string; force: boolean | undefined },
): Promise<void> {
  const unfinished = `${output}.part`
  const explained = (error: unknown) => {
    throw cannotWrite(output, error)
  }
  const writeText = async () => {
    await using file = await openFresh(unfinished, 0o644)
    await file.writeFile(text)
  }
  try {
    await writeText().catch(explained)
    await checkConfig({ ...terminal, env: {} }, { config: unfinished })
    const name = () =>
      force ? rename(unfinished, output) : copyFile(unfinished, output, constants.COPYFILE_EXCL)
    await name().catch(explained)
  } finally {
    await rm(unfinished, { force: true })
  }
}

function report(terminal: Terminal, given: Given, path: string): void {
  const { token, store } = answersOf(given)
  if (terminal.json) {
    terminal.printJson({ path, store, token })
    return
  }
  const { green, cyan } = terminal.colors
  const variable = token && 'env' in token && !terminal.env[token.env] ? token.env : undefined
  const next = [
    ...(variable === undefined ? [] : [`export ${variable}=…`]),
    `dashkeep doctor --config ${path}`,
    `dashkeep backup --config ${path}`,
  ]
  terminal.print([`${green('wrote')} ${path}`, 'Next:', ...next.map((line) => `  ${cyan(line)}`)])
}
