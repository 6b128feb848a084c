/**
 * Makes archives of every kind: `node test/golden/make-kinds.ts <empty folder>`.
 *
 * `format-1-kinds` was made once by this script on top of commit 885cf6e. Every later dashkeep must
 * read these archives and continue them, so they are never made again.
 */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { exportBody, numbered } from '../archive/scripted-source.ts'
import type { Trial } from '../e2e/trial.ts'
import { finalObjects, type Kind, kinds, mainId, shopId, stagingId, startKind } from './kinds.ts'

const [root = ''] = process.argv.slice(2)

/** Runs a command line in the night of this day of January 2025. */
async function runOn(day: number, trial: Trial, args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await trial.runAt(new Date(Date.UTC(2025, 0, day, 3, 15)), args)
  if (exitCode !== 0 && exitCode !== 3) throw new Error(`${args.join(' ')}: ${stderr}`)
}

function setObjects({ sandbox }: Trial, id: number, objects: Record<string, string>): void {
  for (const [type, document] of Object.entries(objects)) sandbox.setObjects(id, type, document)
}

/** Objects, nothing changed, objects changed. */
async function makeShort(trial: Trial, id: typeof shopId | typeof stagingId): Promise<void> {
  setObjects(trial, id, { search: exportBody('search', numbered(4)) })
  await runOn(1, trial, ['backup'])
  await runOn(2, trial, ['backup'])
  setObjects(trial, id, finalObjects[id])
  await runOn(3, trial, ['backup'])
}

/** A pinned snapshot, suspect ones, a fall that was accepted, other settings of a sub account. */
async function makePlain(trial: Trial): Promise<void> {
  await makeShort(trial, shopId)
  await runOn(3, trial, ['pin', 'latest', '--account', `${shopId}`, '--note', 'before the move'])
  const few = exportBody('search', numbered(1))
  setObjects(trial, shopId, { search: few, dashboard: exportBody('dashboard', {}) })
  setObjects(trial, stagingId, { search: exportBody('search', numbered(9)) })
  await runOn(4, trial, ['backup'])
  await runOn(5, trial, ['backup'])
  setObjects(trial, shopId, finalObjects[shopId])
  setObjects(trial, stagingId, finalObjects[stagingId])
  const update = ['accounts', 'update', `${stagingId}`, '--account', 'main', '--yes']
  await runOn(6, trial, [...update, '--retention-days', '5'])
  await runOn(6, trial, ['backup', '--accept-fall'])
  await runOn(6, trial, [...update, '--retention-days', '3'])
  await runOn(7, trial, ['backup'])
}

async function make(kind: Kind): Promise<void> {
  await using trial = await startKind(kind)
  if (kind === 'plain') await makePlain(trial)
  else await makeShort(trial, kind === 'gzip' ? stagingId : shopId)
  await cp(trial.archive, join(root, kind), { recursive: true })
}

for (const kind of kinds) await make(kind)
process.stdout.write(`accounts ${mainId}, ${shopId} and ${stagingId} in ${root}\n`)
