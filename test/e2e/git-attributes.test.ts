import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changeObjects, git, startWithGit, subjectsOf } from './git-story.ts'
import { readTree, shopId } from './trial.ts'

const title = 'Price $Id: 5$'

it.each([
  ['ident', '.gitattributes', '* ident', ''],
  ['a filter', '.git/info/attributes', '*.json filter=strip', 'sed s/Price/Other/'],
])(
  'git after a run commits nothing while %s in %s changes the bytes',
  async (_of, file, line, clean) => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    await backUp(1)
    if (clean !== '') git(folder, 'config', 'filter.strip.clean', clean)
    await mkdir(join(folder, '.git', 'info'), { recursive: true })
    await writeFile(join(folder, file), `${line}\n`)
    changeObjects(trial, title)
    for (const number of [2, 3]) {
      const { exitCode, stdout } = await backUp(number)
      expect(exitCode).toBe(3)
      expect(stdout).toContain(
        `not committed to git: Cannot commit to ${join(folder, String(shopId))}: a git attribute changes what is committed of search/`,
      )
      expect(subjectsOf(folder)).toEqual(['Shop: 14 added'])
      expect(git(folder, 'diff', '--cached', '--name-only')).toBe('')
    }
    await rm(join(folder, file))
    const { exitCode, stdout } = await backUp(4)
    expect(exitCode, stdout).toBe(0)
    const plain = join(trial.folder, 'plain')
    await trial.run(['restore', '--pretty', plain])
    for (const [name, bytes] of await readTree(plain)) {
      expect(git(folder, 'cat-file', 'blob', `HEAD:${shopId}/${name}`)).toBe(String(bytes))
    }
  },
)

it('restore --pretty --git refuses a filter of the user, and the line in its hint helps', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  const other = join(trial.folder, 'other', 'objects')
  await mkdir(other, { recursive: true })
  git(trial.folder, 'init', '--quiet', 'other')
  await trial.write('attributes', '*.json filter=upper\n* ident\n')
  await trial.write(
    '.gitconfig',
    `[core]\nattributesFile = ${trial.folder}/attributes\n[filter "upper"]\nclean = tr a-z A-Z\n`,
  )
  const env = { HOME: trial.folder }
  const toGit = () => trial.run(['restore', '--pretty', other, '--git'], env)
  const { exitCode, stderr } = await toGit()
  expect(exitCode).toBe(2)
  expect(stderr).toContain(
    `Cannot commit to ${other}: a git attribute changes what is committed of `,
  )
  const [, line = ''] = /the line `(.*)` in /.exec(stderr) ?? []
  await writeFile(join(other, '.gitattributes'), `${line}\n`)
  expect((await toGit()).exitCode).toBe(0)
  const committed = git(
    join(trial.folder, 'other'),
    'show',
    'HEAD:objects/search/slow-requests.json',
  )
  expect(committed).toBe(git(folder, 'show', `HEAD:${shopId}/search/slow-requests.json`))
})
