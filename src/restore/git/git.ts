// Tested by test/e2e/restore-git.test.ts

import { type ExecFileException, execFile } from 'node:child_process'
import { cleanLine } from '../../clean-text.ts'
import { DashkeepError } from '../../errors.ts'

/** The oldest git that can print the trailers of a commit. */
const oldest = { major: 2, minor: 22 }

/** Largest output of one call: room for half a million file names. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2

/**
 * Variables of the caller that stay. All other `GIT_*` variables are removed, because they could lead
 * git to another repository, index or date.
 */
const keptVariables =
  /^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL)|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES|EXEC_PATH|SSL_\w+)$/

/** Settings of the user that would change the output that is read here, or refuse or garble a commit. */
const settings = [
  'color.ui=false',
  'core.safecrlf=false',
  'diff.relative=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'log.follow=false',
  'log.showSignature=false',
  'trailer.separators=:',
].flatMap((setting) => ['-c', setting])

/** What a call of git returned. */
interface GitResult {
  /** 0 for success. */
  readonly exitCode: number
  readonly output: string
  /** The message of a failure. */
  readonly complaint: string
}

/** Options for starting git. */
export interface GitOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** Runs the program `git` in one folder. */
export interface Git {
  readonly folder: string
  /** Runs git with arguments and standard input. Returns its output. Throws when it fails. */
  run(args: readonly string[], input?: string): Promise<string>
  /** The same, but returns a failure instead of throwing. */
  attempt(args: readonly string[], input?: string): Promise<GitResult>
}

/**
 * Prepares to run git in a folder. Uses no shell, asks no questions, and ignores the caller's `GIT_*`
 * variables that redirect git. Throws a `usage` error when git is missing or too old.
 */
export async function createGit(folder: string, { env, signal }: GitOptions): Promise<Git> {
  const attempt: Git['attempt'] = (args, input = '') =>
    start(args, { folder, env: cleanEnvironment(env), signal, input })
  const git: Git = {
    folder,
    attempt,
    async run(args, input) {
      const result = await attempt(args, input)
      if (result.exitCode === 0) return result.output
      throw failed(
        `run git ${args.find((arg) => /^[a-z]/.test(arg) && !arg.includes('='))}`,
        folder,
        result,
      )
    },
  }
  await checkVersion(git)
  return git
}

/** The error for a failed call of git. Leaves out users, passwords and tokens of addresses. */
export function failed(action: string, folder: string, { complaint }: GitResult): DashkeepError {
  const [first = ''] = complaint.split('\n').filter((line) => /^(fatal|error): /.test(line))
  const said = cleanLine(
    first.replace(/^(fatal|error): /, '').replaceAll(/:\/\/[^/\s']*@/g, '://'),
    300,
  )
  return new DashkeepError(`Cannot ${action} in ${folder}: ${said || 'git fails'}`, {
    hint: `\`git -C ${folder} status\` shows the state of the repository`,
  })
}

function cleanEnvironment(env: GitOptions['env']): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('GIT_') || keptVariables.test(name),
  )
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
}

function start(
  args: readonly string[],
  {
    folder,
    env,
    signal,
    input,
  }: { folder: string; env: NodeJS.ProcessEnv; signal: AbortSignal; input: string },
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env, signal, maxBuffer: MAX_OUTPUT_BYTES }
    const child = execFile('git', [...settings, ...args], options, (error, output, complaint) => {
      if (signal.aborted) reject(signal.reason)
      else if (error === null) resolve({ exitCode: 0, output, complaint })
      else if (typeof error.code === 'number') resolve({ exitCode: error.code, output, complaint })
      else reject(cannotStart(error))
    })
    // Git may end before it has read everything. Its exit code then gives the reason.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function cannotStart(error: ExecFileException): DashkeepError {
  const isMissing = error.code === 'ENOENT'
  return new DashkeepError(
    `Cannot run git: ${isMissing ? 'the program is not installed' : `it ended without a result (${error.code ?? 'a signal'})`}`,
    {
      kind: isMissing ? 'usage' : 'failed',
      hint: isMissing
        ? `install git ${oldest.major}.${oldest.minor} or newer, or leave out --git and the setting git`
        : 'run the command again',
      cause: error,
    },
  )
}

async function checkVersion(git: Git): Promise<void> {
  const output = await git.run(['--version'])
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(output) ?? []).map(Number)
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return
  throw new DashkeepError(`Cannot use git: it has version ${major}.${minor}`, {
    kind: 'usage',
    hint: `install git ${oldest.major}.${oldest.minor} or newer`,
  })
}
