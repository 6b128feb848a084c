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
 * `dashkeep demo`: demonstrates backup, verification and restore against a sandbox, with the real
 * verbs. Returns the exit code of the first step that fails.
 */
export async function demo(
  terminal: Terminal,
  options: { folder?: string; web?: boolean },
): Promise<number> {
  const folder = options.folder ? resolve(options.folder) : await makeTemporaryFolder()
  await makeTarget(folder)
  if (options.web) {
    const { demoWeb } = await import('./demo-web.ts')
    return demoWeb(terminal, folder)
  }
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
  // No backup decides the exit code of the demo.
  const own: Terminal = { ...terminal, env, json: false, onExitCode() {} }
  for (const { command, explanation, run } of steps(own, sandbox)) {
    terminal.print(explanation)
    terminal.print(colors.cyan(`$ ${command}`))
    const exitCode = await run()
    terminal.progress.end()
    signal.throwIfAborted()
    if (exitCode !== exitCodes.done) return exitCode
    terminal.print()
  }
  terminal.print(`The archive is kept in ${colors.bold(folder)}. You can read it without dashkeep:`)
  terminal.print(
    colors.cyan(
      `$ zstd -dc ${folder}/*/*/dashboard.json.zst | jq '.hits[]._source.dashboard.title'`,
    ),
  )
  return exitCodes.done
}

/** A command line, and the function that does the same. */
interface Step {
  readonly command: string
  readonly explanation: string | string[]
  readonly run: () => Promise<number>
}

/** The steps, from the first backup to the restored object. */
function steps(own: Terminal, sandbox: Sandbox): Step[] {
  const lost = 'Failed orders'
  const restoring = { snapshot: 'latest~1', object: [lost], toService: true, yes: true }
  return [
    {
      command: 'dashkeep backup',
      explanation: [
        `A sandbox of the service runs at ${sandbox.url}, with the saved objects of a small web shop.`,
        'The first backup finds the account of the token, exports the three types and stores them.',
      ],
      run: () => backup(own, {}),
    },
    {
      command: 'dashkeep backup',
      explanation: 'Nothing has changed. A second backup stores only a manifest that records this.',
      run: () => backup(own, {}),
    },
    {
      command: 'dashkeep backup',
      explanation:
        'Somebody renames a dashboard and deletes a search. The next backup reports both.',
      run() {
        changeObjects(sandbox)
        return backup(own, {})
      },
    },
    {
      command: 'dashkeep list',
      explanation: 'List the snapshots in the archive:',
      run: () => list(own, {}),
    },
    {
      command: 'dashkeep verify',
      explanation: 'Read every file again and compare it with its manifest:',
      run: () => verify(own, { snapshots: [] }),
    },
    {
      command: `dashkeep history '${lost}'`,
      explanation: 'When was the search deleted, and which snapshot holds it?',
      run: () => history(own, { object: lost }),
    },
    {
      command: `dashkeep restore latest~1 --object '${lost}' --to-service --yes`,
      explanation:
        'The snapshot before the newest holds it. Restore sends it to the service and checks the result with a fresh export. Without --yes, restore asks first.',
      run: () => restore(own, restoring),
    },
    {
      command: 'dashkeep backup',
      explanation: 'The search is back, and the next backup includes it:',
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

/** Changes the account between two backups. */
function changeObjects(sandbox: Sandbox): void {
  const { dashboard, search } = sampleObjects()
  const renamed = dashboard.map((hit, index) => (index === 0 ? rename(hit) : hit))
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
