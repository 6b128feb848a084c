// Tested by test/e2e/restore-git.test.ts

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { cleanLine } from '../../clean-text.ts'
import { DashkeepError } from '../../errors.ts'

/** The oldest git that can print the trailers of a commit. */
const oldest = { major: 2, minor: 22 }

/** Largest output of one call: room for half a million file names. */
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2

/** How long the pipes of a finished push may stay open. */
const CLOSE_MS = 1000

/** How often, and after what pause, a stopped git is asked whether it has ended, before it is killed. */
const [END_TURNS, END_TURN_MS] = [50, 20]

/**
 * Variables of the caller that stay. All other `GIT_*` variables are removed, because they could lead
 * git to another repository, index or date.
 */
const keptVariables =
  /^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL)|SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES|EXEC_PATH|SSL_\w+)$/

/** Settings of the user that would change the output that is read here, or refuse or garble a commit. */
const settings = [
  'color.ui=false',
  'core.commentChar=#',
  'core.fsmonitor=false',
  'core.ignoreStat=false',
  'core.safecrlf=false',
  'diff.relative=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'log.follow=false',
  'log.showSignature=false',
  'trailer.separators=:',
].flatMap((setting) => ['-c', setting])

/** Switches hooks off, because they could change files and messages. A push keeps them. */
const withoutHooks = ['-c', 'core.hooksPath=/dev/null']

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
        `run git ${args.find((arg) => /^(--version|[a-z])/.test(arg) && !arg.includes('='))}`,
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
  const lines = complaint.split('\n').filter((line) => line !== '')
  const first = lines.find((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? ''
  const said = cleanLine(
    first.replace(/^(fatal|error): /, '').replaceAll(/:\/\/[^/\s']*@/g, '://'),
    300,
  )
  // Why a remote rejected a push, such as `fetch first`.
  const [, reason] = /^ ! \[.*\] .* \((.+)\)$/m.exec(complaint) ?? []
  const state = `${said || 'git fails'}${reason ? ` (${cleanLine(reason, 100)})` : ''}`
  return new DashkeepError(`Cannot ${action} in ${folder}: ${state}`, {
    hint: hintOf(complaint) ?? `\`git -C ${folder} status\` shows the state of the repository`,
  })
}

/** What to do about a lock file of git. */
export const lockHint = 'remove this lock file if no git runs: a git that was killed has left it'

function hintOf(complaint: string): string | undefined {
  if (/Unable to create '.*': File exists/.test(complaint)) {
    return lockHint
  }
  const [, root] = /detected dubious ownership in repository at '(.*)'/.exec(complaint) ?? []
  return (
    root &&
    `if you trust the repository, run \`git config --global --add safe.directory ${root}\` as the user of dashkeep`
  )
}

function cleanEnvironment(env: GitOptions['env']): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name, value]) => !name.startsWith('GIT_') || (value && keptVariables.test(name)),
  )
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
}

interface StartOptions extends Omit<GitOptions, 'env'> {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly input: string
}

/**
 * Starts git in a session of its own. There, git and what it starts, such as ssh and hooks, find no
 * terminal to ask for a password. All of them end when the signal aborts.
 */
async function start(
  args: readonly string[],
  { folder, env, signal, input }: StartOptions,
): Promise<GitResult> {
  signal.throwIfAborted()
  const isPush = args.includes('push')
  const hooks = isPush ? [] : withoutHooks
  const child = spawn('git', [...settings, ...hooks, ...args], { cwd: folder, env, detached: true })
  const [, results, messages] = child.stdio
  const [output, complaint] = [collect(results), collect(messages)]
  const closed = new Promise((resolve) => child.once('close', resolve))
  // Git may end before it has read everything. Its exit code then gives the reason.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  try {
    // A process that a hook has left in the background can keep the pipes open.
    const [exitCode] = await once(child, isPush ? 'exit' : 'close', { signal })
    if (isPush) await Promise.race([closed, wait(CLOSE_MS, undefined, { ref: false })])
    if (exitCode === null) throw cannotStart({ code: 'a signal' })
    if (!output.isWhole()) throw cannotStart({ code: 'it printed too much' })
    return { exitCode, output: output.text(), complaint: complaint.text() }
  } catch (error) {
    if (child.pid === undefined) throw cannotStart(error as NodeJS.ErrnoException)
    await endGroup(child.pid)
    signal.throwIfAborted()
    throw error
  } finally {
    results.destroy()
    messages.destroy()
  }
}

/** Collects the first `MAX_OUTPUT_BYTES` of a text. */
function collect(stream: Readable): { text(): string; isWhole(): boolean } {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk)
  })
  return {
    text: () => Buffer.concat(chunks).toString(),
    isWhole: () => bytes <= MAX_OUTPUT_BYTES,
  }
}

/** Ends a process and all that it has started. Waits a moment first, in which git removes its locks. */
async function endGroup(pid: number): Promise<void> {
  const send = (signal: NodeJS.Signals | 0) => {
    try {
      return process.kill(-pid, signal)
    } catch {
      return false
    }
  }
  let isRunning = send('SIGTERM')
  for (let turn = 0; isRunning && turn < END_TURNS; turn += 1) {
    await wait(END_TURN_MS)
    isRunning = send(0)
  }
  if (isRunning) send('SIGKILL')
}

function cannotStart(error: Pick<NodeJS.ErrnoException, 'code'>): DashkeepError {
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
