import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

/** The time of a run in November 2026. */
export const day = (number: number) => new Date(`2026-11-0${number}T03:15:00Z`)

/** Runs the real git in a folder, and returns its output. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
}

/** The subjects of all commits, oldest first. */
export function subjectsOf(folder: string): string[] {
  return git(folder, 'log', '--reverse', '--format=%s').trim().split('\n')
}

/** A trial whose configuration commits to the folder `objects`. */
export async function startWithGit(section: object = {}) {
  const trial = await startTrial()
  const folder = join(trial.folder, 'objects')
  const config = await trial.write('git.yaml', { git: { folder: './objects', ...section } })
  const backUp = (number: number, changes = {}) =>
    trial.runAt(day(number), ['backup', '--config', config], changes)
  return { trial, folder, config, backUp }
}

/** Gives the first search of the sample account another title. */
export function changeObjects({ sandbox }: Trial, title: string): void {
  const text = JSON.stringify(sampleObjects().search)
  sandbox.setObjects(
    shopId,
    'search',
    JSON.parse(text.replace(/"title":"[^"]*"/, `"title":"${title}"`)),
  )
}

/** Writes a program `git` in place of the real one. Returns its folder. */
export async function makeGit(trial: Trial, script: string): Promise<string> {
  const bin = join(trial.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return bin
}

/** Writes the note of a run that was killed in a folder of the repository, such as `502/`. */
export async function writeNote(repository: string, prefix: string, lines = ''): Promise<void> {
  const digest = createHash('sha256').update(prefix).digest('hex').slice(0, 12)
  await writeFile(join(repository, '.git', `dashkeep-${digest}`), lines)
}
