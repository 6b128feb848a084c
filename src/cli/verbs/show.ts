import { dataFileKey, readManifest } from '../../archive/archive.ts'
import type { Manifest } from '../../archive/manifest.ts'
import type { Config } from '../../config/config.ts'
import { openArchive } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { formatBytes, formatTime } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { formatTable } from '../print/table.ts'
import { configuredName } from '../select/choose-account.ts'
import { selectByOptions } from '../select/select-snapshots.ts'
import type { Terminal } from '../terminal.ts'

/** `dashkeep show`: prints the manifest of a snapshot, as tables or as JSON. */
export async function show(
  terminal: Terminal,
  options: CommonOptions & { snapshot?: string; account?: string },
): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  const { config, log } = context
  await using store = await openArchive(config, { env: terminal.env, log })
  const { signal } = terminal
  const folder = await selectByOptions(terminal, context, store, options)
  const { manifest } = await readManifest(store, folder.accountId, folder.snapshot, { signal })
  if (terminal.json) terminal.printJson(manifest)
  else printManifest(terminal, manifest, config)
  return exitCodes.done
}

function printManifest(terminal: Terminal, manifest: Manifest, config: Config): void {
  const { colors } = terminal
  const { account, sameAs, suspect, previous } = manifest
  const name = configuredName(config, account.id, account.configuredAs)
  const configured = name === undefined ? '' : `, configured as ${name}`
  const facts: [string, string | undefined][] = [
    ['Snapshot', colors.bold(manifest.snapshot)],
    ['Taken', `${formatTime(new Date(manifest.takenAt))} UTC`],
    ['Account', `${account.id} (${account.name})${configured}`],
    ['Service', manifest.service],
    ['Same as', sameAs && `${sameAs}, which holds the files`],
    ['Suspect', suspect && colors.yellow(suspect.reasons.join('; '))],
    ['Previous', previous?.snapshot],
    ['Made by', `dashkeep ${manifest.dashkeepVersion}, format ${manifest.formatVersion}`],
  ]
  for (const [name, value] of facts) if (value) terminal.print(`${name.padEnd(10)}${value}`)
  terminal.print()
  terminal.print(exportTable(terminal, manifest))
  terminal.print()
  terminal.print(manifest.exports.map(({ file }) => dataFileKey(manifest, file)))
}

function exportTable(terminal: Terminal, manifest: Manifest): string[] {
  const rows = manifest.exports.map(({ type, objects, kibanaVersion, file, remarks }) => {
    const change = manifest.changes?.[type]
    return [
      type,
      String(objects),
      kibanaVersion,
      formatBytes(file.content.bytes),
      formatBytes(file.stored.bytes),
      change ? `+${change.added} -${change.removed} ~${change.changed}` : '',
      Object.entries(remarks)
        .map(([kind, number]) => `${number} ${kind}`)
        .join(', '),
    ]
  })
  const header = ['TYPE', 'OBJECTS', 'KIBANA', 'SIZE', 'STORED', 'CHANGES', 'REMARKS']
  return formatTable(terminal, header, rows, { right: [1, 3, 4], flexible: ['REMARKS'] })
}
