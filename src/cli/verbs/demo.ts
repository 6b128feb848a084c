import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cannotWrite } from '../../restore/new-file.ts'
import { makeTarget } from '../../restore/to-files.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { sampleApiToken, sampleObjects } from '../../sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts'
import type { Terminal } from '../terminal.ts'
import { backup } from './backup.ts'
import { history } from './history.ts'
import { list } from './list.ts'
import { restore } from './restore.ts'
import { verify } from './verify.ts'

/**
 * `dashkeep demo`: the main job on this machine, step by step, with the same verbs and the same
 * code as in earnest. Ends with the exit code of the first step that does not go as it should.
 */
export async function demo(terminal: Terminal, options: { folder?: string }): Promise<number> {
  const folder = options.folder ? resolve(options.folder) : await makeTemporaryFolder()
  await makeTarget(folder)
  await using sandbox = await startSandbox({ extraOperations: true })
  const { colors, signal } = terminal
  const store = pathToFileURL(folder).href
  const env = {
    NO_COLOR: terminal.env.NO_COLOR,
    TERM: terminal.env.TERM,
    DASHKEEP_BASE_URL: sandbox.url,
    DASHKEEP_API_TOKEN: sampleApiToken,
    DASHKEEP_STORE: store,
    DASHKEEP_LOG_LEVEL: 'warn',
  }
  const own: Terminal = { ...terminal, env, json: false }
  for (const { command, explanation, run } of steps(own, sandbox)) {
    terminal.print(explanation)
    terminal.print(colors.cyan(`$ ${command}`))
    const exitCode = await run()
    terminal.progress.end()
    signal.throwIfAborted()
    if (exitCode !== exitCodes.done) return exitCode
    terminal.print()
  }
  terminal.print(`The archive stays in ${colors.bold(folder)}. It can be read without dashkeep:`)
  terminal.print(
    colors.cyan(
      `$ zstd -dc ${folder}/*/*/dashboard.json.zst | jq '.hits[]._source.dashboard.title'`,
    ),
  )
  return exitCodes.done
}

/** A command as somebody would type it, and what it does here. */
interface Step {
  readonly command: string
  readonly explanation: string | string[]
  readonly run: () => Promise<number>
}

/** From the first backup to the object that somebody deleted and that is back. */
function steps(own: Terminal, sandbox: Sandbox): Step[] {
  const lost = 'Failed orders'
  const restoring = { snapshot: 'latest~1', object: [lost], toService: true, yes: true }
  return [
    {
      command: 'dashkeep backup',
      explanation: [
        `A sandbox of the service runs at ${sandbox.url}, with the saved objects of a small web shop.`,
        'The first backup asks whom the token belongs to, exports the three types and stores them.',
      ],
      run: () => backup(own, {}),
    },
    {
      command: 'dashkeep backup',
      explanation:
        'Nothing has changed since. A second backup puts that on record with a manifest alone.',
      run: () => backup(own, {}),
    },
    {
      command: 'dashkeep backup',
      explanation:
        'Now somebody renames a dashboard and deletes a search. The next backup says so.',
      run() {
        changeObjects(sandbox)
        return backup(own, {})
      },
    },
    {
      command: 'dashkeep list',
      explanation: 'What the archive holds, from its keys alone:',
      run: () => list(own, {}),
    },
    {
      command: 'dashkeep verify',
      explanation: 'The proof: every file is read again and compared with its manifest.',
      run: () => verify(own, { snapshots: [] }),
    },
    {
      command: `dashkeep history '${lost}'`,
      explanation: 'Somebody misses the search. When was it deleted, and which snapshot has it?',
      run: () => history(own, { object: lost }),
    },
    {
      command: `dashkeep restore latest~1 --object '${lost}' --to-service --yes`,
      explanation:
        'The snapshot before the newest has it. Restore sends it back and asks the service for a fresh export. Without --yes it shows the plan and asks.',
      run: () => restore(own, restoring),
    },
    {
      command: 'dashkeep backup',
      explanation: 'The search is back: the next backup has it again.',
      run: () => backup(own, {}),
    },
  ]
}

function makeTemporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'dashkeep-')).catch((error) => {
    throw cannotWrite(tmpdir(), error, {
      whenAbsent: 'there is no such folder',
      hint: 'give a folder with --folder <folder>, or start the container with --tmpfs /tmp',
    })
  })
}

/** What somebody does to their account between two backups. */
function changeObjects(sandbox: Sandbox): void {
  const { dashboard, search } = sampleObjects()
  const renamed = dashboard.map((hit, place) => (place === 0 ? rename(hit) : hit))
  const [account] = sandbox.accounts()
  if (account === undefined) return
  sandbox.setObjects(account.accountId, 'dashboard', renamed)
  sandbox.setObjects(account.accountId, 'search', search.slice(1))
}

function rename<Hit extends { _source: Record<string, unknown> }>(hit: Hit): Hit {
  const object = hit._source.dashboard as { title: string }
  const dashboard = { ...object, title: `${object.title} (new)` }
  return { ...hit, _source: { ...hit._source, dashboard } }
}
