import { type DamagedFile, planRepair, repairFiles } from '../../copy/repair.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { plural } from '../../wording.ts'
import { confirm, notConfirmed, type Terminal } from '../terminal.ts'

/** `dashkeep copy --repair`: shows what is damaged, asks, and replaces it from the copy. */
export async function repair(
  terminal: Terminal,
  { dryRun = false, yes }: { dryRun?: boolean; yes?: boolean },
  {
    archive,
    copy,
    accountId,
  }: { archive: ObjectStore; copy: ObjectStore; accountId: number | undefined },
): Promise<number> {
  const { signal, progress, now } = terminal
  const stores = { source: copy, target: archive }
  progress.begin('reading the archive', { unit: 'snapshot' })
  const onRead = (snapshot: string) => {
    progress.note(snapshot)
    progress.advance()
  }
  const damaged = await Array.fromAsync(planRepair(stores, { accountId, signal, onRead }))
  progress.end()
  const replaceable = damaged.filter(({ replacement }) => replacement !== undefined)
  if (!terminal.json) printPlan(terminal, damaged, copy.url)
  const question = `Replace ${plural(replaceable.length, 'file')} of ${archive.url}?`
  const answer =
    dryRun || replaceable.length === 0 ? 'no' : await confirm(terminal, question, { yes })
  if (answer === 'unasked') throw notConfirmed('repair the archive')
  const replaced: DamagedFile[] = []
  const failed: { key: string; problem: string }[] = []
  if (answer === 'yes') {
    progress.begin('replacing', { unit: 'file', total: replaceable.length })
    for await (const { file, defect } of repairFiles(stores, damaged, { now: now(), signal })) {
      if (defect) failed.push({ key: file.key, problem: defect.problem })
      else replaced.push(file)
      progress.advance()
    }
    progress.end()
  }
  if (terminal.json) {
    const files = damaged.map(({ replacement, ...file }) => file)
    const keys = replaced.map(({ key }) => key)
    terminal.printJson({
      archive: archive.url,
      copy: copy.url,
      dryRun,
      damaged: files,
      replaced: keys,
      failed,
    })
  } else printResult(terminal, replaced, failed)
  // A file whose snapshot was pruned meanwhile is neither replaced nor damaged any more.
  const isLeft = answer === 'yes' ? replaceable.length < damaged.length : damaged.length > 0
  return isLeft || failed.length > 0 ? exitCodes.unverified : exitCodes.done
}

function printPlan(terminal: Terminal, damaged: readonly DamagedFile[], copy: string): void {
  const { colors } = terminal
  for (const { key, problem, unfit } of damaged) {
    terminal.print(
      unfit === undefined
        ? `${colors.green('replace')} ${key}: ${problem}`
        : `${colors.red('damaged')} ${key}: ${problem}; the copy cannot replace it: ${unfit}`,
    )
  }
  if (damaged.length === 0)
    terminal.print('Nothing to replace: every stored file matches its manifest')
  else terminal.print(`${plural(damaged.length, 'damaged file')}, compared with ${copy}`)
}

function printResult(
  terminal: Terminal,
  replaced: readonly DamagedFile[],
  failed: readonly { key: string; problem: string }[],
): void {
  const { colors } = terminal
  for (const { key, problem } of failed) {
    terminal.print(`${colors.red('failed')} ${key}: ${problem}`)
  }
  if (replaced.length > 0) {
    terminal.print(`${colors.green('replaced')} ${plural(replaced.length, 'file')}, each read back`)
  }
}
