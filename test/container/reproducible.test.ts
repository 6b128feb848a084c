import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { leaveOut } from '../left-out.ts'
import { buildImage, docker, inspectImage, runScript } from './image.ts'
import { containersWanted, withContainers } from './places.ts'

if (!containersWanted) leaveOut('two builds of the image compared', withContainers)

const timeout = 600_000
const [first, second] = ['dashkeep-test-first', 'dashkeep-test-second']
const source = 'https://git.example.com/dashkeep'

/** Describes every file of an image: path, type, mode, owner, link target and SHA-256. */
async function readFiles(name: string): Promise<string[]> {
  const everything = "find / -xdev -printf '%p %y %m %U:%G %l\\n'"
  const contents = 'find / -xdev -type f -exec sha256sum {} +'
  return (await runScript(`${everything}; ${contents}`, name)).trim().split('\n').toSorted()
}

describe.skipIf(!containersWanted)('two builds of the image', { timeout }, () => {
  beforeAll(async () => {
    await buildImage({ name: first })
    const labels = ['--build-arg=REVISION=0123abc', `--build-arg=SOURCE=${source}`]
    await buildImage({ name: second, options: ['--no-cache', ...labels] })
  }, timeout)
  afterAll(async () => {
    if (containersWanted) await docker('rmi', '--force', first, second)
  })

  it('contain the same files', async () => {
    const files = await readFiles(first)
    expect(files.some((line) => line.endsWith(' /app/dist/main.cjs'))).toBe(true)
    expect(await readFiles(second)).toEqual(files)
  })

  it('state in labels what they were built from', async () => {
    const labelsOf = async (name: string) =>
      JSON.parse(await inspectImage('{{json .Config.Labels}}', name))
    const prefix = 'org.opencontainers.image'
    expect(await labelsOf(first)).toMatchObject({
      [`${prefix}.version`]: version,
      [`${prefix}.revision`]: 'unknown',
      [`${prefix}.source`]: 'unknown',
    })
    expect(await labelsOf(second)).toMatchObject({
      [`${prefix}.version`]: version,
      [`${prefix}.revision`]: '0123abc',
      [`${prefix}.source`]: source,
    })
  })
})
