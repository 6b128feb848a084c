import { pathToFileURL } from 'node:url'
import { exitCodes } from '../../run/exit-codes.ts'
import { sampleApiToken, sampleObjects } from '../../sandbox/sample-account.ts'
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts'
import type { Terminal } from '../terminal.ts'
import { backup } from './backup.ts'
import { drill } from './restore-drill.ts'
import { verify } from './verify.ts'
import { web } from './web.ts'

/** Days of which the archive has a snapshot. */
const DAYS = 21
const dayMs = 24 * 3600_000

/**
 * `dashkeep demo --web`: fills `folder` with daily snapshots of three weeks of a sandbox, in which
 * objects change and a dashboard is deleted, and serves the pages until interrupted.
 */
export async function demoWeb(terminal: Terminal, folder: string): Promise<number> {
  let past: Date | undefined
  const now = () => past ?? terminal.now()
  await using sandbox = await startSandbox({ extraOperations: true, now })
  const env = {
    NO_COLOR: terminal.env.NO_COLOR,
    TERM: terminal.env.TERM,
    DASHKEEP_BASE_URL: sandbox.url,
    DASHKEEP_API_TOKEN: sampleApiToken,
    DASHKEEP_STORE: pathToFileURL(folder).href,
    DASHKEEP_LOG_LEVEL: 'warn',
  }
  // No backup decides the exit code of the demo.
  const own: Terminal = { ...terminal, env, now, onExitCode() {} }
  const silent: Terminal = { ...own, watched: false, print() {}, printJson() {} }
  terminal.print(
    `A sandbox of the service runs at ${sandbox.url}. Taking snapshots of ${DAYS} days.`,
  )
  const today = terminal.now().getTime()
  for (let day = 1; day <= DAYS; day += 1) {
    past = new Date(today - (DAYS - day) * dayMs)
    changes[day]?.(sandbox)
    const exitCode = await backup(silent, {})
    if (exitCode !== exitCodes.done) return exitCode
  }
  past = undefined
  await verify(silent, { snapshots: [], record: true })
  await drill(silent, { record: true })
  const [deleted] = sampleObjects().dashboard
  terminal.print([
    `The archive is in ${folder}. The dashboard ${titleOf(deleted)} was deleted a week ago.`,
    'Find it in an older snapshot of the account, look at what changed in it, and restore it.',
    '',
  ])
  // Awaited, so that the sandbox runs as long as the pages.
  return await web(own, { listen: '127.0.0.1:0', maxAge: '26h', allowRestore: true })
}

type Hit = ReturnType<typeof sampleObjects>['dashboard'][number]

function titleOf(hit: Hit | undefined): string {
  return (hit?._source.dashboard as { title: string } | undefined)?.title ?? ''
}

/** What happens in the account before the backup of a day. */
const changes: Readonly<Record<number, (sandbox: Sandbox) => void>> = {
  4: (sandbox) => setDashboards(sandbox, ([first, ...rest]) => [rearrange(first), ...rest]),
  9: (sandbox) =>
    setDashboards(sandbox, ([first, second, ...rest]) => [
      rearrange(first),
      withTitle(second, 'Payments and refunds'),
      ...rest,
    ]),
  15: (sandbox) =>
    setDashboards(sandbox, ([, second, ...rest]) => [
      withTitle(second, 'Payments and refunds'),
      ...rest,
    ]),
}

function setDashboards(
  sandbox: Sandbox,
  change: (hits: readonly [Hit, Hit, ...Hit[]]) => readonly Hit[],
): void {
  const [account] = sandbox.accounts()
  const dashboards = sampleObjects().dashboard as [Hit, Hit, ...Hit[]]
  if (account) sandbox.setObjects(account.accountId, 'dashboard', change(dashboards))
}

function withTitle(hit: Hit, title: string): Hit {
  return withMembers(hit, { title })
}

/** Moves the first panel below the others, and removes the second. */
function rearrange(hit: Hit): Hit {
  const { panelsJSON } = hit._source.dashboard as { panelsJSON: string }
  const [first, , ...rest] = JSON.parse(panelsJSON) as { row: number }[]
  return withMembers(hit, { panelsJSON: JSON.stringify([...rest, { ...first, row: 9 }]) })
}

function withMembers(hit: Hit, members: object): Hit {
  const dashboard = { ...(hit._source.dashboard as object), ...members }
  return { ...hit, _source: { ...hit._source, dashboard } }
}
