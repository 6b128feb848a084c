import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cannotWrite } from '../restore/new-file.ts'
import { makeTarget } from '../restore/to-files.ts'
import { sampleApiToken, sampleObjects } from '../sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts'
import { backup } from './backup.ts'
import { exitCodes } from './exit-codes.ts'
import { list } from './list.ts'
import type { Terminal } from './terminal.ts'
import { verify } from './verify.ts'

/**
 * `dashkeep demo`: the main job on this machine, step by step, with the same verbs and the same
 * code as in earnest. Ends with the exit code of the first step that does not go as it should.
 */
export async function demo(terminal: Terminal, options: { folder?: string }): Promise<number> {
  const folder = options.folder ? resolve(options.folder) : await makeTemporaryFolder()
  await makeTarget(folder)
  await using sandbox = await startSandbox()
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
  const steps: [string, string | string[], () => Promise<number>][] = [
    [
      'dashkeep backup',
      [
        `A sandbox of the service runs at ${sandbox.url}, with the saved objects of a small web shop.`,
        'The first backup asks whom the token belongs to, exports the three types and stores them.',
      ],
      () => backup(own, {}),
    ],
    [
      'dashkeep backup',
      'Nothing has changed since. A second backup puts that on record with a manifest alone.',
      () => backup(own, {}),
    ],
    [
      'dashkeep backup',
      'Now somebody renames a dashboard and deletes a search. The next backup says so.',
      () => {
        changeObjects(sandbox)
        return backup(own, {})
      },
    ],
    ['dashkeep list', 'What the archive holds, from its keys alone:', () => list(own, {})],
    [
      'dashkeep verify',
      'And the proof: every file is read again and held against its manifest.',
      () => verify(own, { snapshots: [] }),
    ],
  ]
  for (const [command, explanation, step] of steps) {
    terminal.print(explanation)
    terminal.print(colors.cyan(`$ ${command}`))
    const exitCode = await step()
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
