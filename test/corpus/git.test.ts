import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTrial, type Trial } from '../e2e/trial.ts'
import { backUpEachDate, corpus, reportLeftOut } from './corpus.ts'

if (corpus === '') reportLeftOut('the history of real objects in git')

function git(folder: string, ...args: string[]): string {
  const options = { encoding: 'utf8', maxBuffer: 256 * 1024 ** 2 } as const
  return execFileSync('git', ['-C', folder, '-c', 'core.quotePath=false', ...args], options)
}

/** The tree that git makes of a folder, without anything of dashkeep. `objects` is its repository. */
function treeOf(folder: string, objects: string): string {
  const place = [`--git-dir=${objects}`, `--work-tree=${folder}`]
  git(folder, ...place, 'add', '--all')
  return git(folder, ...place, 'write-tree').trim()
}

/** Commits by the date of their snapshot, oldest first. */
function commitsOf(folder: string): { commit: string; tree: string; date: string }[] {
  const lines = git(folder, 'log', '--reverse', '--format=%H %T %aI').trim().split('\n')
  return lines.map((line) => {
    const [commit = '', tree = '', time = ''] = line.split(' ')
    return { commit, tree, date: time.slice(0, 10) }
  })
}

describe.skipIf(corpus === '')('five years of real changes in git', () => {
  it('are commits whose trees are those of restore --pretty, and whose log agrees with history', async () => {
    await using trial = await startTrial()
    const dates = await backUpEachDate(trial, trial)
    const folder = join(trial.folder, 'git')
    const { stdout, exitCode } = await trial.run(['restore', '--pretty', folder, '--git', '--all'])
    expect(exitCode, stdout).toBe(0)
    const commits = commitsOf(folder)
    expect(stdout).toContain(
      `${commits.length} commits; ${175 - commits.length} unchanged snapshot`,
    )
    const [plain, objects] = [join(trial.folder, 'plain'), join(trial.folder, 'objects')]
    git(trial.folder, 'init', '--quiet', '--bare', objects)
    for (const date of dates) {
      await trial.run(['restore', date, '--pretty', plain])
      const commit = commits.findLast((one) => one.date <= date)
      expect(treeOf(plain, objects), date).toBe(commit?.tree)
      await rm(plain, { recursive: true })
    }
    expect(git(folder, 'status', '--porcelain')).toBe('')
    const checked = await compareLogs(trial, folder)
    expect(checked).toBeGreaterThan(8)
  }, 1_200_000)
})

/** Compares the log of some files with the history of their objects. Returns how many. */
async function compareLogs(trial: Trial, folder: string): Promise<number> {
  const files = new Set(git(folder, 'log', '--name-only', '--format=').split('\n'))
  const names = [...files].filter((name) => /^[a-z]+\/[\w-]+\.json$/.test(name)).sort()
  const step = Math.ceil(names.length / 12)
  const chosen = names.filter((_, place) => place % step === 0)
  for (const name of chosen) {
    const id = name.replace('/', ':').replace(/\.json$/, '')
    const { stdout } = await trial.run(['history', id, '--json'])
    const { events } = JSON.parse(stdout) as { events: { takenAt: string }[] }
    const told = events.map(({ takenAt }) => takenAt.slice(0, 10))
    expect({ name, dates: datesOfChanges(folder, name) }).toEqual({ name, dates: told })
  }
  return chosen.length
}

/** The dates of a file's commits, without those that changed only times and versions. */
function datesOfChanges(folder: string, name: string): string[] {
  const format = ['--format=%H %aI', '--reverse', '--no-renames', '--']
  let before: string | undefined
  return git(folder, 'log', ...format, name)
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [commit = '', time = ''] = line.split(' ')
      const after = stableTextOf(folder, commit, name)
      const isSame = after === before
      before = after
      return isSame ? [] : [time.slice(0, 10)]
    })
}

/** What is stable of a committed object; empty when the commit removed it. */
function stableTextOf(folder: string, commit: string, name: string): string {
  if (git(folder, 'ls-tree', commit, '--', name) === '') return ''
  const { hit } = JSON.parse(git(folder, 'show', `${commit}:${name}`))
  const { updated_at, version, _updatedAt, ...source } = hit._source
  return JSON.stringify({ ...hit, _source: source })
}
